# SPDX-License-Identifier: Apache-2.0
"""Beside the packages that users of finite elements come from: PyAMG, scikit-fem and meshio. Each test is skipped, and
counted, where its package is missing."""

import gzip
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from conftest import residual

import newel

DATA = os.environ.get("NEWEL_TEST_DATA")


def history_of(solve, *arguments, **keywords):
    """What PyAMG returns, and how many iterations it took."""
    residuals = []
    x = solve(*arguments, residuals=residuals, **keywords)
    return x, len(residuals) - 1


def csr(A):
    """CSR with 32-bit indices, sorted, as one matrix of SciPy."""
    A = sp.csr_array(A)
    A.sum_duplicates()
    return A


# PyAMG


def smoothed_aggregation(A, B=None):
    pyamg = pytest.importorskip("pyamg")
    return pyamg.smoothed_aggregation_solver(sp.csr_matrix(A), B=B)


@pytest.mark.parametrize("n", [40, 120])
def test_multigrid_of_diffusion_takes_about_as_many_iterations_as_that_of_pyamg(n, rng):
    pyamg = pytest.importorskip("pyamg")
    A = csr(pyamg.gallery.poisson((n, n)))
    b = rng.standard_normal(n * n)
    theirs, count = history_of(smoothed_aggregation(A).solve, b, tol=1e-10, accel="cg", maxiter=100)
    x, report = newel.solve(A, b, solver="cg", preconditioner="amg", rtol=1e-10)
    assert report.iterations <= 2 * count and count <= 2 * report.iterations  # its Gauss-Seidel smooths more, row by row
    assert residual(A, x, b) <= 1.01e-10
    # |x - y| <= |A^-1| (|b - A x| + |b - A y|), and the smallest eigenvalue of the five-point star is known.
    smallest = 8 * np.sin(np.pi / (2 * (n + 1))) ** 2
    bound = (residual(A, x, b) + residual(A, theirs, b)) * np.linalg.norm(b) / smallest
    assert 0 < np.linalg.norm(x - theirs) <= 1.01 * bound


def test_rigid_body_modes_of_pyamg_serve_as_near_null_space(rng):
    pyamg = pytest.importorskip("pyamg")
    K, modes = pyamg.gallery.linear_elasticity((60, 60), format="bsr")
    b = rng.standard_normal(K.shape[0])
    _, count = history_of(smoothed_aggregation(K, modes).solve, b, tol=1e-10, accel="cg", maxiter=200)
    x, report = newel.solve(csr(K), b, solver="cg", preconditioner="amg", near_null_space=modes, rtol=1e-10)
    _, without = newel.solve(csr(K), b, solver="cg", preconditioner="amg", rtol=1e-10)
    assert residual(csr(K), x, b) <= 1.01e-10
    assert report.iterations <= 2 * count and report.iterations < without.iterations


def test_the_matrix_of_pyamg_is_taken_as_it_is(rng):
    pyamg = pytest.importorskip("pyamg")
    K, _ = pyamg.gallery.linear_elasticity((20, 20), format="bsr")
    b = rng.standard_normal(K.shape[0])
    x, report = newel.solve(K, b, rtol=1e-10)
    assert report.converged
    exact = spla.spsolve(sp.csc_matrix(K), b)
    largest_inverse = 1 / spla.eigsh(sp.csc_matrix(K), k=1, sigma=0, return_eigenvectors=False)[0]
    assert np.linalg.norm(x - exact) <= 1.1 * largest_inverse * 1e-10 * np.linalg.norm(b) + 1e-12 * np.linalg.norm(exact)


@pytest.mark.parametrize("name", ["airfoil", "bar", "unit_square", "knot"])
def test_the_examples_of_pyamg_are_solved(name, rng):
    pyamg = pytest.importorskip("pyamg")
    A = csr(pyamg.gallery.load_example(name)["A"])
    b = A @ rng.standard_normal(A.shape[0])
    x, report = newel.solve(A, b, rtol=1e-9)
    assert report.converged and residual(A, x, b) <= 1.01e-9


def test_each_serves_as_preconditioner_of_the_other(rng):
    pyamg = pytest.importorskip("pyamg")
    A = csr(pyamg.gallery.poisson((50, 50)))
    b = rng.standard_normal(2500)
    _, alone = newel.solve(A, b, solver="cg", preconditioner=None, rtol=1e-10)
    x, report = newel.solve(A, b, solver="cg", preconditioner=smoothed_aggregation(A).aspreconditioner(), rtol=1e-10)
    assert residual(A, x, b) <= 1.01e-10 and 4 * report.iterations < alone.iterations
    M = newel.Solver(A, preconditioner="amg").as_preconditioner()
    residuals = []
    y, info = pyamg.krylov.cg(sp.csr_matrix(A), b, tol=1e-10, M=M, residuals=residuals)
    assert info == 0 and 4 * len(residuals) < alone.iterations
    assert residual(A, y, b) <= 1e-8  # by its own norm


# scikit-fem, from a mesh to a solution


def poisson_of(mesh):
    """The stiffness of a mesh of tetrahedra or triangles and a unit load, with u = 0 on the boundary."""
    skfem = pytest.importorskip("skfem")
    from skfem.models.poisson import laplace, unit_load

    element = skfem.ElementTetP1() if mesh.p.shape[0] == 3 else skfem.ElementTriP1()
    basis = skfem.Basis(mesh, element)
    return basis, skfem.condense(laplace.assemble(basis), unit_load.assemble(basis), D=mesh.boundary_nodes())


def test_a_problem_of_scikit_fem_is_solved_end_to_end():
    skfem = pytest.importorskip("skfem")
    mesh = skfem.MeshTri.init_sqsymmetric().refined(5)
    basis, condensed = poisson_of(mesh)
    exact = skfem.solve(*condensed)
    u = skfem.solve(*condensed, solver=skfem.solver_iter_krylov(newel.cg, rtol=1e-12, M="amg"))
    assert np.abs(u - exact).max() <= 1e-9 * np.abs(exact).max()
    # The torsion of a square: the largest value of -laplace u = 1 is 0.0736713... (Timoshenko and Goodier, section 109).
    assert u.max() == pytest.approx(0.0736713, rel=2e-3)


@pytest.mark.parametrize("keywords", [{}, {"M": "amg"}, {"rtol": 1e-11, "callback": None}])
def test_solve_serves_where_scikit_fem_takes_a_krylov_solver(keywords, caplog):
    skfem = pytest.importorskip("skfem")
    _, condensed = poisson_of(skfem.MeshTri.init_sqsymmetric().refined(4))
    exact = skfem.solve(*condensed)
    u = skfem.solve(*condensed, solver=skfem.solver_iter_krylov(newel.solve, **keywords))
    assert np.abs(u - exact).max() <= 1e-6 * np.abs(exact).max()
    assert not [record for record in caplog.records if "converge" in record.message]
    with pytest.warns(newel.ConvergenceWarning):
        skfem.solve(*condensed, solver=skfem.solver_iter_krylov(newel.solve, max_iterations=1))
    assert "did not converge" in caplog.text


def test_elasticity_of_scikit_fem_is_solved_with_its_coordinates():
    skfem = pytest.importorskip("skfem")
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, length, points) for length, points in ((4, 25), (1, 7), (1, 7))))
    basis = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTetP1()))
    K = skfem.asm(linear_elasticity(*lame_parameters(1e3, 0.3)), basis)

    @skfem.LinearForm
    def weight(v, _):
        return -v[2]

    clamped = basis.get_dofs(lambda x: np.isclose(x[0], 0))
    A, b, _, free = skfem.condense(K, weight.assemble(basis), D=clamped)  # three rows to each node that is left
    nodes = basis.doflocs[:, free[::3]].T
    x, report = newel.solve(A, b, solver="cg", preconditioner="amg", coordinates=nodes, rtol=1e-10)
    _, plain = newel.solve(A, b, solver="cg", preconditioner="jacobi", rtol=1e-10)
    assert residual(csr(A), x, b) <= 1.01e-10 and 5 * report.iterations < plain.iterations
    exact = spla.spsolve(sp.csc_matrix(A), b)
    assert np.abs(x - exact).max() <= 1e-6 * np.abs(exact).max()
    # Beam theory: q L^4 / (8 E I) with q = 1, L = 4, E I = 1000 / 12, to which linear tetrahedra are too stiff.
    tip = -x[2::3][np.isclose(nodes[:, 0], 4)].mean()
    assert 0.5 < tip / (4**4 / (8 * 1e3 / 12)) < 1.1


def test_convection_of_scikit_fem_is_solved_without_symmetry():
    skfem = pytest.importorskip("skfem")
    mesh = skfem.MeshTri.init_sqsymmetric().refined(4)
    basis = skfem.Basis(mesh, skfem.ElementTriP2())

    @skfem.BilinearForm
    def transport(u, v, w):
        return 0.05 * (u.grad[0] * v.grad[0] + u.grad[1] * v.grad[1]) + (1 - w.x[1]) * u.grad[0] * v

    @skfem.LinearForm
    def source(v, _):
        return 1.0 * v

    A, b, u, inside = skfem.condense(transport.assemble(basis), source.assemble(basis), D=basis.get_dofs())
    x, report = newel.solve(A, b, rtol=1e-12)
    assert report.converged and report.solver in ("bicgstab", "gmres")
    exact = spla.spsolve(sp.csc_matrix(A), b)
    assert np.abs(x - exact).max() <= 1e-8 * np.abs(exact).max()


# meshio, from a file to a file


def mesh_files():
    """A mesh written here, and a real one where the shared data is."""
    yield pytest.param(None, id="made here")
    part = Path(DATA or "/") / "meshes/part_winkel.mesh.gz"
    missing = pytest.mark.skipif(not part.exists(), reason="NEWEL_TEST_DATA has no meshes")
    yield pytest.param(part, id="part_winkel", marks=missing)


@pytest.mark.parametrize("file", list(mesh_files()))
def test_a_mesh_of_meshio_is_solved_and_written_back(file, tmp_path):
    meshio, skfem = pytest.importorskip("meshio"), pytest.importorskip("skfem")
    path = tmp_path / "part.mesh"
    if file is None:
        made = skfem.MeshTet().refined(3)
        meshio.Mesh(made.p.T, [("tetra", made.t.T)]).write(path)
    else:
        with gzip.open(file) as source, open(path, "wb") as target:
            shutil.copyfileobj(source, target)
    read = meshio.read(path)
    mesh = skfem.MeshTet(np.ascontiguousarray(read.points.T), np.ascontiguousarray(read.cells_dict["tetra"].T))
    _, (A, b, u, inside) = poisson_of(mesh)
    x, report = newel.solve(A, b, preconditioner="amg", rtol=1e-10)
    assert report.converged and residual(csr(A), x, b) <= 1.01e-10
    u[inside] = x
    assert u.min() >= -1e-6 * u.max()  # -laplace u = 1 with u = 0 on the boundary, but for obtuse angles
    result = tmp_path / "u.vtu"
    meshio.Mesh(mesh.p.T, [("tetra", mesh.t.T)], point_data={"u": u}).write(result)
    again = meshio.read(result)
    assert np.array_equal(again.point_data["u"], u) and np.array_equal(again.cells_dict["tetra"], mesh.t.T)
