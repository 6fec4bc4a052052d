/* SPDX-License-Identifier: Apache-2.0 */
/* A membrane of n x n points, solved with the options of the command line and judged by a product of its own:
   solve -dll_append libnewel_petsc.so -ksp_type newel. Ends with 1 if the residual does not meet the tolerance. */
#include <petscksp.h>

static const PetscInt n = 20;

/* b - A x in one row; the matrix has 4 on the diagonal and -1 for each neighbour. */
static PetscReal residual_of(PetscInt row, PetscReal b, const PetscScalar* x) {
  const PetscInt i = row % n, j = row / n;
  PetscReal sum = 4 * x[row];
  if (i > 0) sum -= x[row - 1];
  if (i < n - 1) sum -= x[row + 1];
  if (j > 0) sum -= x[row - n];
  if (j < n - 1) sum -= x[row + n];
  return b - sum;
}

static PetscErrorCode assemble(Mat A) {
  PetscInt first, end;
  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &first, &end));
  for (PetscInt row = first; row < end; ++row) {
    const PetscInt i = row % n, j = row / n;
    PetscCall(MatSetValue(A, row, row, 4, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(A, row, row - 1, -1, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(A, row, row + 1, -1, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(A, row, row - n, -1, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(A, row, row + n, -1, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

/* |b - A x| / |b| with b = 1. */
static PetscErrorCode relative_residual(Vec x, PetscReal* result) {
  VecScatter scatter;
  Vec all;
  const PetscScalar* values;
  PetscReal square = 0;
  PetscFunctionBegin;
  PetscCall(VecScatterCreateToAll(x, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, x, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &values));
  for (PetscInt row = 0; row < n * n; ++row) square += PetscSqr(residual_of(row, 1, values));
  PetscCall(VecRestoreArrayRead(all, &values));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  *result = PetscSqrtReal(square) / n;
  PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
  Mat A;
  Vec b, x;
  KSP ksp;
  KSPConvergedReason reason;
  KSPType type;
  PetscInt iterations;
  PetscReal residual;
  PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 5, NULL, &A));
  PetscCall(assemble(A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-9, PETSC_DEFAULT, PETSC_DEFAULT, PETSC_DEFAULT));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &iterations));
  PetscCall(KSPGetType(ksp, &type));
  PetscCall(relative_residual(x, &residual));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "%s: %s after %" PetscInt_FMT " iterations, |b - A x| / |b| = %.2e, PetscInt of %d bytes\n",
                        type, KSPConvergedReasons[reason], iterations, (double)residual, (int)sizeof(PetscInt)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return reason > 0 && residual <= 1.000001e-9 ? 0 : 1;
}
