# SPDX-License-Identifier: Apache-2.0
"""What XLA's calls do with memory of a device, without a JAX that has CUDA: the calls are made here."""

import numpy as np
import pytest
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
