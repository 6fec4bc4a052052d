# SPDX-License-Identifier: Apache-2.0
"""newel.jax: derivatives of solves against those of a dense solver, and what JAX's transformations make of a solve."""

import gc
import os

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DEVICES, convection, laplacian

import newel

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # other tests need memory of the device too
jax = pytest.importorskip("jax")
pytest.importorskip("newel.jax", reason="the package newel-jax is not installed")

import jax.numpy as jnp  # noqa: E402
from jax.experimental.sparse import BCOO, BCSR  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import newel.jax  # noqa: E402
from newel.jax import _call, _setups  # noqa: E402

TIGHT = {"rtol": 1e-13}
FAILURE = (jax.errors.JaxRuntimeError, ValueError)  # as JAX passes the error of a call on


def cuda_devices():
    try:
        return jax.devices("cuda")
    except RuntimeError:
        return []


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.device)], autouse=True)
def place(request):
    """Everything is made on the host, then everything on a device; in double precision unless a test says otherwise."""
    if request.param == "cuda" and not (DEVICES and cuda_devices()):
        pytest.skip("JAX finds no CUDA device")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    with jax.default_device(jax.devices(request.param)[0]):
        yield request.param
    jax.config.update("jax_enable_x64", before)
    newel.jax.clear()


def random_matrix(n, seed=3, symmetric=False):
    a = sp.random_array((n, n), density=0.3, rng=np.random.default_rng(seed)).toarray()
    a = a + a.T if symmetric else a
    return sp.csr_array(a + 4 * np.eye(n))


def sparse(a, form="csr", dtype=None):
    dtype = dtype or np.float64
    if form == "coo":
        a = a.tocoo()
        return BCOO((jnp.asarray(a.data, dtype), jnp.asarray(np.stack(a.coords, axis=1))), shape=a.shape)
    return BCSR(tuple(jnp.asarray(part) for part in (a.data.astype(dtype), a.indices, a.indptr)), shape=a.shape)


def with_values(A, values):
    if isinstance(A, BCOO):
        return BCOO((values, A.indices), shape=A.shape)
    return BCSR((values, A.indices, A.indptr), shape=A.shape)


def vector(n, columns=None, seed=5, dtype=np.float64):
    shape = (n,) if columns is None else (n, columns)
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def close(found, expected, bound):
    return np.abs(np.asarray(found) - np.asarray(expected)).max() <= bound * np.abs(np.asarray(expected)).max()


def gradients_of_dense_solve(a, b, weights):
    """Those of sum(weights * A^-1 b), and x, by NumPy: A^-T weights and -A^-T weights x^T."""
    dense, b, weights = a.toarray(), np.asarray(b, np.float64), np.asarray(weights, np.float64)
    x, y = np.linalg.solve(dense, b), np.linalg.solve(dense.T, weights)
    return -(y.reshape(b.shape[0], -1) @ x.reshape(b.shape[0], -1).T), y, x


MATRICES = {
    "random": (random_matrix(30), {}),
    "random symmetric": (random_matrix(30, symmetric=True), {}),
    "laplacian": (laplacian(12), {}),
    "convection": (convection(60), {}),
    "laplacian with multigrid": (laplacian(24), {"preconditioner": "amg", "options": {"amg_degree": 2}}),
    "convection with multigrid": (convection(300), {"preconditioner": "amg", "solver": "bicgstab"}),
}


# Compiling takes longer than all else here, so that not each goes with each.
@pytest.mark.parametrize("name, form, columns", [
    ("random", "csr", None), ("random", "coo", 3), ("random symmetric", "coo", None), ("laplacian", "csr", 3),
    ("convection", "csr", 3), ("convection", "coo", None), ("laplacian with multigrid", "csr", None),
    ("laplacian with multigrid", "coo", 3), ("convection with multigrid", "csr", 3),
])
def test_gradients_are_those_of_a_dense_solve(name, form, columns):
    a, options = MATRICES[name]
    n = a.shape[0]
    A, b, weights = sparse(a, form), vector(n, columns), vector(n, columns, seed=6)

    def loss(values, b):
        x = newel.jax.solve(with_values(A, values), b, rtol=1e-13, **options)
        return (weights * x).sum(), x

    (of_values, of_b), x = jax.jit(jax.grad(loss, (0, 1), has_aux=True))(A.data, b)
    of_a, expected_of_b, expected_x = gradients_of_dense_solve(a, b, weights)
    bound = 1e-12 * np.linalg.cond(a.toarray())
    rows, cols = a.tocoo().coords
    assert close(x, expected_x, bound) and close(of_b, expected_of_b, bound)
    assert close(of_values, of_a[rows, cols], bound)


@pytest.mark.parametrize("a, form, columns, transpose", [
    (random_matrix(7), "csr", None, False), (random_matrix(7), "coo", 2, True), (laplacian(3), "csr", 2, True)])
def test_derivatives_are_those_of_differences(a, form, columns, transpose):
    A = sparse(a, form)
    solver = newel.jax.Solver(**TIGHT)

    def solve(values, b):
        return solver.solve(with_values(A, values), b, transpose=transpose)

    check_grads(jax.jit(solve), (A.data, vector(a.shape[0], columns)), order=2, modes=("fwd", "rev"))


def test_a_compiled_function_takes_matrices_of_any_values_and_pattern():
    solve = jax.jit(lambda A, b: newel.jax.solve(A, b, **TIGHT))
    b = vector(36)
    for a in (laplacian(6), 2 * laplacian(6), laplacian(6).T * 3):
        assert close(solve(sparse(a), b), np.linalg.solve(a.toarray(), b), 1e-11)
    for a in (convection(36), laplacian(6), convection(36).T.tocsr(), laplacian(6), convection(36)):
        assert close(solve(sparse(a), b), np.linalg.solve(a.toarray(), b), 1e-11)


def test_vectors_and_values_are_mapped():
    a = random_matrix(20)
    A, B = sparse(a), vector(20, 3).T
    V = jnp.stack([A.data, 2 * A.data, 3 * A.data, 4 * A.data])
    solver = newel.jax.Solver(**TIGHT)

    def solve(values, b):
        return solver.solve(with_values(A, values), b)

    x = np.linalg.solve(a.toarray(), np.asarray(B).T).T
    scaled = np.stack([x / scale for scale in (1, 2, 3, 4)])
    assert close(jax.vmap(solve, (None, 0))(A.data, B), x, 1e-11)
    assert len(solver.reports) == 3
    assert close(jax.vmap(solve, (0, None))(V, B[0]), scaled[:, 0], 1e-11)
    assert close(jax.vmap(solve, (0, 0))(V[:3], B), np.stack([x[i] / (i + 1) for i in range(3)]), 1e-11)
    assert close(jax.vmap(jax.vmap(solve, (None, 0)), (0, None))(V, B), scaled, 1e-11)
    both = jax.jit(jax.vmap(jax.vmap(solve, (0, None)), (None, 0)))(V, B)
    assert close(both, scaled.transpose(1, 0, 2), 1e-11)
    with pytest.raises(FAILURE, match="one pattern"):
        indptr = jnp.stack([A.indptr, A.indptr])
        jax.vmap(lambda p: newel.jax.solve((A.data, A.indices, p), B[0]))(indptr).block_until_ready()


def test_gradients_of_mapped_solves_are_the_sums_of_single_ones():
    a = random_matrix(12)
    A, B = sparse(a), vector(12, 3).T

    def loss(values):
        return sum((newel.jax.solve(with_values(A, values), b, **TIGHT) ** 2).sum() for b in B)

    def mapped(values):
        return (jax.vmap(lambda b: newel.jax.solve(with_values(A, values), b, **TIGHT))(B) ** 2).sum()

    assert close(jax.jit(jax.grad(mapped))(A.data), jax.jit(jax.grad(loss))(A.data), 1e-10)
    jacobians = [jax.jit(jacobian(lambda v: newel.jax.solve(with_values(A, v), B[0], **TIGHT)))(A.data)
                 for jacobian in (jax.jacfwd, jax.jacrev)]
    assert close(*jacobians, 1e-10)


def of_dense(a):
    """A solve by JAX's dense solver, with the values of a matrix of this pattern."""
    rows, columns = (jnp.asarray(part) for part in a.tocoo().coords)
    return lambda values, b: jnp.linalg.solve(jnp.zeros(a.shape).at[rows, columns].set(values), b)


@pytest.mark.parametrize("a, form", [(laplacian(3), "csr"), (convection(9), "csr"), (convection(9), "coo")])
def test_derivatives_of_maps_over_values_are_those_of_dense_solves(a, form):
    A, B = sparse(a, form), vector(9, 4).T
    scales = jnp.ones((4, 1)) if form == "coo" else 1 + jnp.arange(4.0)[:, None]
    V = scales * A.data
    solver = newel.jax.Solver(**TIGHT)

    def solve(values, b):
        return solver.solve(with_values(A, values), b)

    def losses(solve):
        return lambda V, B: (jax.vmap(solve)(V, B) ** 3).sum()

    def loss(solve):
        return lambda values, b: (solve(values, b) ** 3).sum()

    for make in (lambda solve: jax.vmap(solve), lambda solve: jax.grad(losses(solve), (0, 1)),
                 lambda solve: jax.vmap(jax.grad(loss(solve), (0, 1))),
                 lambda solve: lambda V, B: jax.jvp(jax.vmap(solve), (V, B), (V ** 2, B ** 2))):
        found, expected = (jax.tree.leaves(jax.jit(make(one))(V, B)) for one in (solve, of_dense(a)))
        assert all(close(one, other, 1e-9) for one, other in zip(found, expected))
        assert type(solver._setups.reports[False]) is newel.BatchedReport
        assert len(solver.reports) == 4 and all(solver.reports)
    assert type(solver._setups.reports[True]) is newel.BatchedReport


def test_maps_that_are_no_batch_are_solved_one_after_the_other(monkeypatch):
    a = convection(9)
    A, b = sparse(a), vector(9)
    V = jnp.stack([A.data, 2 * A.data])
    x = np.linalg.solve(a.toarray(), b)

    def together(repeated=False, **options):
        solver = newel.jax.Solver(**TIGHT, **options)
        indices = np.stack(a.tocoo().coords, axis=1)
        first = jnp.asarray(indices if not repeated else np.concatenate([indices, indices]))
        values = V if not repeated else jnp.concatenate([V / 2, V / 2], axis=1)
        found = jax.vmap(lambda values: solver.solve(BCOO((values, first), shape=a.shape), b))(values)
        assert close(found, np.stack([x, x / 2]), 1e-10) and all(solver.reports)
        return type(solver._setups.reports[False]) is newel.BatchedReport

    assert together() and together(solver="gmres", preconditioner="block-jacobi")
    assert not together(preconditioner="spai") and not together(solver="idrs") and not together(repeated=True)
    monkeypatch.setattr(_setups, "MOST_ROWS", 8)
    assert not together()


def test_systems_of_a_batch_may_share_vectors():
    a = convection(9)
    A, B = sparse(a), vector(9, 3).T
    V = jnp.arange(1.0, 7.0).reshape(2, 3, 1) * A.data
    solver = newel.jax.Solver(**TIGHT)

    def call(transposed):
        return lambda values, b: newel.jax._solver.call_of_xla(
            solver._handle, newel.jax._solver.matrix_of(with_values(A, values)), b, transposed, True)[0]

    for transposed, dense in ((False, a.toarray()), (True, a.toarray().T)):
        expected = np.linalg.solve(dense, B.T).T
        scales = np.arange(1.0, 7.0).reshape(2, 3, 1)
        x = jax.jit(jax.vmap(jax.vmap(call(transposed)), (0, None)))(V, B)
        assert close(x, expected / scales, 1e-10)
        x = jax.jit(jax.vmap(call(transposed), (0, None)))(V[1], B[2])
        assert close(x, expected[2] / scales[1], 1e-10)
        assert type(solver._setups.reports[transposed]) is newel.BatchedReport


class WatchedBatch:
    """A batch that notes the arrays which it gets."""

    def __init__(self, batch, seen):
        self._batch, self._compiled, self._seen = self, batch._batch, seen
        self.set_limits = self._compiled.set_limits

    def solve(self, count, values, b, x, *others):
        self._seen.append([part.address if hasattr(part, "address") else part.ctypes.data for part in (values, b, x)])
        return self._compiled.solve(count, values, b, x, *others)


def test_a_batch_uses_the_arrays_where_they_are(monkeypatch):
    seen = []
    plain = _setups.Setup.batch
    monkeypatch.setattr(_setups.Setup, "batch", lambda *arguments: WatchedBatch(plain(*arguments), seen))
    A, B = sparse(convection(9)), vector(9, 4).T + 0
    V = jnp.arange(1.0, 5.0)[:, None] * A.data
    solver = newel.jax.Solver()
    for transpose in (False, True):
        x = jax.block_until_ready(jax.vmap(
            lambda values, b: solver.solve(with_values(A, values), b, transpose=transpose))(V, B))
        assert seen.pop() == [array.unsafe_buffer_pointer() for array in (V, B, x)]


def test_a_system_that_fails_in_a_batch_is_solved_alone():
    """The second is far from diagonally dominant: the methods of a batch stagnate, an ordinary solve factorises it."""
    matrices = [sp.csr_array(sp.diags_array([1.0, d, -1.5], offsets=[-1, 0, 1], shape=(60, 60))) for d in (4.0, 0.3)]
    A, b = sparse(matrices[0]), vector(60)
    solver = newel.jax.Solver(**TIGHT)
    x = jax.vmap(lambda values: solver.solve(with_values(A, values), b))(jnp.stack([m.data for m in matrices]))
    for one, matrix in zip(x, matrices):
        assert close(one, np.linalg.solve(matrix.toarray(), b), 1e-9)
    assert all(solver.reports) and solver.reports[1].solver not in ("cg", "bicgstab", "gmres")
    one = newel.jax.Solver(solver="cg", max_iterations=2)
    with pytest.raises(FAILURE, match="A x = b, 2 of 2: max_iterations"):
        jax.block_until_ready(jax.vmap(lambda values: one.solve(with_values(A, values), b))(
            jnp.stack([matrices[0].data] * 2)))


def test_single_precision_stays_single():
    a = random_matrix(30)
    A, b = sparse(a, dtype=np.float32), vector(30, dtype=np.float32)
    x, of_b = jax.value_and_grad(lambda b: newel.jax.solve(A, b, rtol=1e-6).sum())(b)
    assert x.dtype == of_b.dtype == np.float32
    assert close(of_b, np.linalg.solve(a.toarray().T, np.ones(30)), 1e-5 * np.linalg.cond(a.toarray()))
    # The same pattern in both precisions.
    assert newel.jax.solve(sparse(a), b.astype(np.float64), rtol=1e-6).dtype == np.float64


@pytest.fixture
def counted(count_solvers):
    return count_solvers(_setups)


@pytest.mark.parametrize("a, setups", [(laplacian(6), 1), (convection(36), 2)], ids=["symmetric", "not symmetric"])
def test_the_transpose_is_set_up_once_and_only_if_it_differs(counted, a, setups):
    A, b = sparse(a), vector(36)
    solver = newel.jax.Solver()
    gradient = jax.jit(jax.grad(lambda values: solver.solve(with_values(A, values), b).sum()))
    for scale in (1.0, 2.0, 3.0):
        gradient(scale * A.data).block_until_ready()
        gradient(scale * A.data).block_until_ready()
    assert (counted.made, counted.refreshed) == (setups, 2 * setups)
    solver.clear()
    gradient(A.data).block_until_ready()
    assert counted.made == 2 * setups


def test_symmetry_may_be_stated(counted, monkeypatch):
    monkeypatch.setattr(_setups, "partners", None)  # not asked
    A, b = sparse(laplacian(6)), vector(36)
    for symmetric, made in ((True, 1), (False, 3)):
        jax.grad(lambda b: newel.jax.solve(A, b, symmetric=symmetric).sum())(b).block_until_ready()
        assert counted.made == made


def test_calls_with_the_same_options_share_a_setup(counted):
    A, b = sparse(laplacian(6)), vector(36)

    def solve(**options):
        jax.block_until_ready(newel.jax.solve(A, b, **options))

    for _ in range(2):
        solve(options={"amg_degree": 3}, preconditioner="amg", near_null_space=np.ones((36, 1)))
    assert counted.made == 1
    solve(options={"amg_degree": 2}, preconditioner="amg", near_null_space=np.ones((36, 1)))
    solve(preconditioner="jacobi")
    assert counted.made == 3


def test_matrix_and_vectors_are_used_where_they_are(monkeypatch, place):
    seen = []

    def watch(setups, form, transposed, raises, *arrays):
        parts = [array.part() for array in arrays]
        seen.append([part.ctypes.data if place == "cpu" else part.address for part in parts])
        plain(setups, form, transposed, raises, *arrays)

    plain = _call._solve
    monkeypatch.setattr(_call, "_solve", watch)
    A, b = sparse(convection(500)), vector(500)
    x = jax.block_until_ready(newel.jax.solve(A, b))
    given = [array.unsafe_buffer_pointer() for array in (A.indptr, A.indices, A.data, b, x)]
    assert seen[0][:5] == given


def test_a_solve_that_does_not_converge_raises():
    a = laplacian(8)
    A, b = sparse(a), jnp.ones(64)  # few eigenvectors by its symmetry, unlike the gradient
    options = {"solver": "cg", "preconditioner": None, "rtol": 1e-10, "max_iterations": 14}
    weights = vector(64)
    jax.block_until_ready(newel.jax.solve(A, b, **options))
    with pytest.raises(FAILURE, match="ConvergenceError: A x = b, 1 of 1: max_iterations"):
        jax.block_until_ready(newel.jax.solve(A, weights, **options))
    with pytest.raises(FAILURE, match="the system with the transpose of A"):
        jax.block_until_ready(jax.grad(lambda b: (weights * newel.jax.solve(A, b, **options)).sum())(b))


def test_reports_are_of_the_latest_calls():
    A, b = sparse(convection(20)), vector(20)
    solver = newel.jax.Solver()
    jax.grad(lambda b: solver.solve(A, b).sum())(b).block_until_ready()
    assert solver.reports[0].converged and solver.transpose_reports[0].converged
    jax.block_until_ready(solver.solve(A, vector(20, 4)))
    assert len(solver.reports) == 4


def test_a_solver_has_to_outlive_what_uses_it():
    A, b = sparse(convection(20)), vector(20)
    solver = newel.jax.Solver()
    compiled = jax.jit(lambda b: solver.solve(A, b)).lower(b).compile()
    compiled(b).block_until_ready()
    del solver
    gc.collect()
    if len(_call._setups) > len(newel.jax._solver._solvers):
        pytest.skip("JAX keeps the function that it has compiled")
    with pytest.raises(FAILURE, match="exists no longer"):
        compiled(b).block_until_ready()


@pytest.mark.parametrize("make, error, message", [
    (lambda A, b: newel.jax.solve(np.eye(6), b), TypeError, "found ndarray"),
    (lambda A, b: newel.jax.solve(A, b[:5]), ValueError, "b: expected shape"),
    (lambda A, b: newel.jax.solve(A, b.astype(np.float32)), TypeError, "b: expected float64"),
    (lambda A, b: newel.jax.solve(BCSR.fromdense(jnp.eye(6)[:5]), b), ValueError, "square"),
    (lambda A, b: newel.jax.solve(BCSR.fromdense(jnp.eye(6, dtype=int)), b), TypeError, "float64 or float32"),
    (lambda A, b: newel.jax.solve(BCOO.fromdense(jnp.ones((2, 6, 6)), n_batch=1), b), ValueError, "batched"),
    (lambda A, b: newel.jax.solve(A, b, device="host"), ValueError, "device"),
    (lambda A, b: newel.jax.solve(A, b, preconditioner=lambda r: r), TypeError, "a name or None"),
    (lambda A, b: newel.jax.solve(A, b, precision="single"), FAILURE, "expected that of the arrays, double"),
    (lambda A, b: newel.jax.solve(A, b, precond="amg"), FAILURE, "did you mean 'preconditioner'"),
    (lambda A, b: newel.jax.solve(with_values(A, A.data * np.nan), b), FAILURE, "finite"),
    (lambda A, b: newel.jax.solve((A.data, A.indices + 6, A.indptr), b), FAILURE, "ValueError"),
])
def test_what_cannot_be_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        jax.block_until_ready(make(sparse(convection(6)), vector(6)))


def test_a_refused_refresh_leaves_the_setup_usable():
    A, b = sparse(convection(6)), vector(6)
    x = newel.jax.solve(A, b)
    with pytest.raises(FAILURE):
        jax.block_until_ready(newel.jax.solve(with_values(A, A.data * 0), b))
    assert close(newel.jax.solve(A, b), x, 1e-7)


def test_a_plain_solve_waits_for_arrays_that_are_being_computed(rng):
    a = laplacian(8)
    work = jax.jit(lambda w: jax.lax.fori_loop(0, 100, lambda _, w: w @ w / 800, w))
    late = work(jnp.ones((800, 800)))[0, 0] * 0  # a zero that takes a while
    b = rng.standard_normal(64)
    parts = (jnp.asarray(a.data) + late, a.indices + late.astype(np.int32), a.indptr + late.astype(np.int32))
    x, _ = newel.solve(parts, jnp.asarray(b) + late, rtol=1e-12)
    x = x.get() if hasattr(x, "get") else np.asarray(x)
    assert close(x, np.linalg.solve(a.toarray(), b), 1e-9)
