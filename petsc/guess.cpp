// SPDX-License-Identifier: Apache-2.0
// The initial guess "newel": the best combination of past solutions, for a KSP of any type.
#include "guess.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include <petsc/private/kspimpl.h>

#include <newel/core/communicator.hpp>
#include <newel/mpi/mpi_ranks.hpp>
#include <newel/solver/past_guess.hpp>

#include "petsc_calls.hpp"
#include "vectors.hpp"
#include "view.hpp"

namespace newel::petsc {
namespace {

constexpr Space host = Space::host;

/// y = alpha A x + beta y with a Mat of PETSc, by Vecs of the Mat's own.
class MatOperator final : public LinearOperator<double, host> {
 public:
  explicit MatOperator(Mat a) : mat_(a) {
    check(MatGetLocalSize(a, &rows_, &cols_));
    check(MatCreateVecs(a, &right_, &left_));
  }
  ~MatOperator() override {
    VecDestroy(&right_);
    VecDestroy(&left_);
  }
  MatOperator(const MatOperator&) = delete;
  MatOperator& operator=(const MatOperator&) = delete;

  Index rows() const override { return static_cast<Index>(rows_); }
  Index cols() const override { return static_cast<Index>(cols_); }
  void apply(const Context<host>&, double alpha, ConstHostSpan x, double beta, HostSpan y) const override {
    {
      const WrittenVec to(right_);
      std::copy(x.data, x.data + x.size, to.span().data);
    }
    check(MatMult(mat_, right_, left_));
    const ReadVec image(left_);
    const double* const Ax = image.span().data;
    for (std::int64_t i = 0; i < y.size; ++i) y.data[i] = alpha * Ax[i] + (beta == 0 ? 0 : beta * y.data[i]);
  }

 private:
  Mat mat_;
  PetscInt rows_ = 0, cols_ = 0;
  Vec right_ = nullptr, left_ = nullptr;
};

/// What a KSPGuess of type "newel" holds.
struct GuessNewel {
  std::string rule = "project";
  std::optional<PastGuess<double, host>> past;
  std::optional<Context<host>> ctx;
  std::unique_ptr<MatOperator> A;
  PetscObjectId mat = 0;
  PetscObjectState values = 0;
  GuessReport report;  ///< of the last guess
};

GuessNewel& data_of(KSPGuess guess) { return *static_cast<GuessNewel*>(guess->data); }

// Sums over all processes, each with the rows that it has.
Context<host> context_of(Mat a) {
  PetscMPIInt processes = 1;
  check(MPI_Comm_size(comm_of(a), &processes));
  const Context<host> ctx(processes == 1 ? 0 : 1);
  if (processes == 1) return ctx;
  PetscInt first = 0, end = 0, all = 0;
  check(MatGetOwnershipRange(a, &first, &end));
  check(MatGetSize(a, &all, nullptr));
  return ctx.with_ranks({mpi_ranks(comm_of(a)), first, all});
}

// Another Mat has other solutions; new values of the same need new products.
void follow(KSPGuess guess) {
  GuessNewel& g = data_of(guess);
  Mat a = nullptr;
  check(KSPGetOperators(guess->ksp, &a, nullptr));
  PetscObjectId mat = 0;
  PetscObjectState values = 0;
  check(PetscObjectGetId(reinterpret_cast<PetscObject>(a), &mat));
  check(PetscObjectStateGet(reinterpret_cast<PetscObject>(a), &values));
  int changed[] = {g.past && mat == g.mat ? 0 : 1, values == g.values ? 0 : 1};  // which the processes agree on
  check(MPI_Allreduce(MPI_IN_PLACE, changed, 2, MPI_INT, MPI_MAX, comm_of(a)));
  if (changed[0] == 1) {
    g.past.emplace(g.rule);
    g.ctx.emplace(context_of(a));
    g.A = std::make_unique<MatOperator>(a);
  } else if (changed[1] == 1) {
    g.past->values_changed();
  }
  g.mat = mat;
  g.values = values;
}

// Whether the energy norm is one: by what the Mat says of itself, or because the solver needs it.
bool is_definite(KSPGuess guess) {
  PetscBool known = PETSC_FALSE, definite = PETSC_FALSE, cg = PETSC_FALSE;
  Mat a = nullptr;
  check(KSPGetOperators(guess->ksp, &a, nullptr));
  check(MatIsSPDKnown(a, &known, &definite));
  check(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(guess->ksp), &cg, KSPCG, KSPGROPPCG, KSPPIPECG,
                                  KSPPIPECGRR, KSPFCG, KSPPIPEFCG, ""));
  return (known == PETSC_TRUE && definite == PETSC_TRUE) || cg == PETSC_TRUE;
}

// Without past solutions x stays untouched, by which PETSc sees that it begins at zero.
PetscErrorCode form_guess(KSPGuess guess, Vec rhs, Vec solution) {
  return guarded(guess, "KSPGuessFormGuess_Newel", [&] {
    follow(guess);
    GuessNewel& g = data_of(guess);
    const bool zero = guess->ksp->guess_zero == PETSC_TRUE;
    if (zero && g.past->vectors() == 0) return;
    const ReadVec b(rhs);
    const WrittenVec x(solution);
    g.report = g.past->prepare(*g.ctx, *g.A, is_definite(guess), b.span(), x.span(),
                               zero ? InitialGuess::zero : InitialGuess::in_x);
  });
}

PetscErrorCode update(KSPGuess guess, Vec, Vec solution) {
  return guarded(guess, "KSPGuessUpdate_Newel", [&] {
    follow(guess);
    if (guess->ksp->reason < 0) return;
    GuessNewel& g = data_of(guess);
    const ReadVec x(solution);
    g.past->keep(*g.ctx, *g.A, is_definite(guess), x.span());
  });
}

PetscErrorCode read_rule(KSPGuess guess, char (&rule)[64]) {
  PetscFunctionBegin;
  PetscOptionsBegin(comm_of(guess), reinterpret_cast<PetscObject>(guess->ksp)->prefix, "Guesses from past solutions",
                    "KSPGuess");
  PetscCall(PetscOptionsString("-ksp_guess_newel", "extrapolate, project or project:M, the last M solutions", "newel",
                               rule, rule, sizeof rule, nullptr));
  PetscOptionsEnd();
  PetscFunctionReturn(success);
}

PetscErrorCode set_from_options(KSPGuess guess) {
  return guarded(guess, "KSPGuessSetFromOptions_Newel", [&] {
    GuessNewel& g = data_of(guess);
    char rule[64] = "";
    std::copy(g.rule.begin(), g.rule.end(), rule);
    check(read_rule(guess, rule));
    if (g.rule == rule && g.past) return;
    try {
      static_cast<void>(PastGuess<double, host>(rule));
    } catch (const InputError& e) {
      throw InputError(std::string("-ksp_guess_newel: ") + e.what());
    }
    g.rule = rule;
    g.past.reset();
  });
}

PetscErrorCode view(KSPGuess guess, PetscViewer viewer) {
  return guarded(guess, "KSPGuessView_Newel", [&] {
    const GuessNewel& g = data_of(guess);
    view_guess(viewer, g.rule, g.past ? g.past->vectors() : 0, g.report);
  });
}

// PETSc calls this also if the Mat has new values, whose past solutions are what is wanted. `follow` finds out.
PetscErrorCode reset(KSPGuess guess) {
  return guarded(guess, "KSPGuessReset_Newel", [&] { data_of(guess).values = -1; });
}

PetscErrorCode destroy(KSPGuess guess) {
  return guarded(guess, "KSPGuessDestroy_Newel", [&] {
    delete static_cast<GuessNewel*>(guess->data);
    guess->data = nullptr;
  });
}

}  // namespace

PetscErrorCode create_guess(KSPGuess guess) {
  return guarded(guess, "KSPGuessCreate_Newel", [&] {
    guess->data = new GuessNewel;
    guess->ops->formguess = form_guess;
    guess->ops->update = update;
    guess->ops->setfromoptions = set_from_options;
    guess->ops->view = view;
    guess->ops->reset = reset;
    guess->ops->destroy = destroy;
  });
}

}  // namespace newel::petsc
