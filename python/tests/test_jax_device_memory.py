# SPDX-License-Identifier: Apache-2.0
"""What XLA's calls do with memory of a device, without a JAX that has CUDA: the calls are made here."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import convection, laplacian
from device_kinds import Foreign

import newel

pytest.importorskip("jax")
pytest.importorskip("newel.jax", reason="the package newel-jax is not installed")

import newel.jax  # noqa: E402
from newel.jax import _call  # noqa: E402

pytestmark = pytest.mark.device


class Call:
    """The arrays of a call in the memory of a device: those of the matrix, b, and the results, which are poisoned."""

    def __init__(self, first, second, values, b, columns):
        outputs = [np.full((*columns, b.shape[-1]), np.nan, b.dtype), *(np.full(columns, 77, np.int32) for _ in "si")]
        self._arrays = [Foreign(np.ascontiguousarray(part)) for part in (first, second, values, b, *outputs)]
        self._shapes = [(part.shape, part.dtype) for part in (first, second, values, b, *outputs)]

    def answer(self, solver, form, transposed, raises=True):
        places = [(array.__cuda_array_interface__["data"][0], shape, dtype.str[1:])
                  for array, (shape, dtype) in zip(self._arrays, self._shapes)]
        return _call._answer(0, solver._handle, form, transposed, raises, places)

    def results(self):
        """x, status and iterations, on the host."""
        found = []
        for array, (shape, dtype) in zip(self._arrays[4:], self._shapes[4:]):
            host = np.empty(shape, dtype)
            newel._core.download(array.__cuda_array_interface__["data"][0], host.ctypes.data, host.nbytes, 0)
            found.append(host)
        return found


@pytest.mark.parametrize("a", [laplacian(4), convection(16)], ids=["symmetric", "not symmetric"])
@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_each_matrix_is_solved_with_its_vectors(a, form, dtype, rng):
    solver = newel.jax.Solver(rtol=1e-12 if dtype == np.float64 else 1e-6)
    first, second = (a.indptr, a.indices) if form == "csr" else (part.astype(np.int32) for part in a.tocoo().coords)
    b = rng.standard_normal((1, 3, 16)).astype(dtype)
    for scale in (1.0, 2.0):
        for transposed in (False, True):
            values = np.stack([scale * a.data, 3 * scale * a.data])[:, None].astype(dtype)
            call = Call(first.reshape(1, 1, -1), second.reshape(1, 1, -1), values, b, (2, 3))
            assert call.answer(solver, form, transposed) is None
            x, status, iterations = call.results()
            dense = a.toarray().T if transposed else a.toarray()
            expected = np.linalg.solve(scale * dense, b[0].T.astype(np.float64)).T
            bound = (1e-10 if dtype == np.float64 else 1e-4) * np.abs(expected).max()
            assert np.abs(x - np.stack([expected, expected / 3])).max() < bound
            assert not status.any() and (iterations > 0).all() and (iterations < 77).all()


def coordinates(a, seed):
    """The rows and the columns of the entries in any order, and the order."""
    order = np.random.default_rng(seed).permutation(a.nnz)
    return [part.astype(np.int32)[order] for part in a.tocoo().coords], order


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("form", ["csr", "coo"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("of_values, of_b, of_x", [((5,), (5,), (5,)), ((5,), (1,), (5,)), ((2, 3), (1, 3), (2, 3)),
                                                   ((2, 3), (2, 1), (2, 3)), ((3, 1), (3, 1), (3, 1))])
def test_matrices_with_a_vector_each_are_a_batch(form, transposed, dtype, of_values, of_b, of_x, rng):
    solver = newel.jax.Solver(rtol=1e-12 if dtype == np.float64 else 1e-6)
    a = convection(16)
    (first, second), order = ((a.indptr, a.indices), np.arange(a.nnz)) if form == "csr" else coordinates(a, 3)
    for _ in range(2):
        values = (a.data[order] * (1 + rng.random((*of_values, a.nnz)))).astype(dtype)
        b = rng.standard_normal((*of_b, 16)).astype(dtype)
        call = Call(first, second, values, b, of_x)
        assert call.answer(solver, form, transposed) is None
        assert type(solver._setups.reports[transposed]) is newel.BatchedReport
        x, status, iterations = call.results()
        each = np.broadcast_to(b, (*of_x, 16)).reshape(-1, 16).astype(np.float64)
        for system, found in enumerate(x.reshape(-1, 16)):
            matrix = np.zeros((16, 16))
            matrix[tuple(part[order] for part in a.tocoo().coords)] = values.reshape(-1, a.nnz)[system]
            expected = np.linalg.solve(matrix.T if transposed else matrix, each[system])
            assert np.abs(found - expected).max() < (1e-10 if dtype == np.float64 else 1e-4) * np.abs(expected).max()
        assert not status.any() and (iterations > 0).all() and (iterations < 77).all()


def test_a_system_that_fails_in_a_batch_is_solved_alone(rng):
    """The second is far from diagonally dominant: the methods of a batch stagnate, an ordinary solve factorises it."""
    matrices = [sp.csr_array(sp.diags_array([1.0, d, -1.5], offsets=[-1, 0, 1], shape=(60, 60))) for d in (4.0, 0.3)]
    values, b = np.stack([matrices[i].data for i in (0, 1, 0)]), rng.standard_normal((1, 60))
    solver = newel.jax.Solver(rtol=1e-12)
    call = Call(matrices[0].indptr, matrices[0].indices, values, b, (3,))
    assert call.answer(solver, "csr", False) is None
    x, status, _ = call.results()
    for found, i in zip(x, (0, 1, 0)):
        expected = np.linalg.solve(matrices[i].toarray(), b[0])
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    assert not status.any() and solver.reports[1].solver not in ("cg", "bicgstab", "gmres")
    assert [solver.reports[i].solver for i in (0, 2)] == ["bicgstab"] * 2


def test_failures_are_reported_or_returned(rng):
    a = laplacian(4)
    solver = newel.jax.Solver(max_iterations=1, preconditioner=None, solver="cg")
    call = Call(a.indptr, a.indices, a.data, rng.standard_normal(16), ())
    assert call.answer(solver, "csr", False, raises=False) is None
    assert call.results()[1] == 1 + _call.STATUSES.index("max_iterations") and call.results()[2] == 1
    assert "ConvergenceError: A x = b, 1 of 1: max_iterations" in call.answer(solver, "csr", False)
    wrong = Call(a.indptr, a.indices, np.nan * a.data, rng.standard_normal(16), ())
    other = newel.jax.Solver()
    assert "ValueError: A: expected finite values" in wrong.answer(other, "csr", False)
