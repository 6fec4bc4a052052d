# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch on the host."""

import warnings

import numpy as np
import pytest
from conftest import convection, laplacian, residual

import newel
from newel._matrices import given_matrix

torch = pytest.importorskip("torch")

A = convection(48)
B = np.ones(48)


def tensor(a, form):
    with warnings.catch_warnings():  # that such tensors are new
        warnings.simplefilter("ignore")
        dense = torch.from_numpy(a.toarray())
        if form == "bsr":
            return dense.to_sparse_bsr((2, 2))
        return dense.to_sparse() if form == "coo" else getattr(dense, f"to_sparse_{form}")()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_sparse_tensors_are_solved_and_refreshed(form):
    a = tensor(A, form)
    solver = newel.Solver(a)
    x, report = solver.solve(torch.from_numpy(B))
    assert isinstance(x, torch.Tensor) and report.converged
    assert residual(A, x.numpy(), B) < 2e-8
    for values in (2 * (a._values() if form == "coo" else a.values()), tensor(2 * A, form)):
        solver.refresh(values)
        assert residual(2 * A, solver.solve(B)[0], B) < 2e-8
    with pytest.raises(ValueError, match="shape"):
        solver.refresh(tensor(laplacian(4), form))


def test_the_arrays_of_a_tensor_are_read_where_they_are():
    a = tensor(A, "csr")
    assert given_matrix(a).arrays.addresses() == (a.crow_indices().data_ptr(), a.col_indices().data_ptr(),
                                                  a.values().data_ptr())


def test_results_are_of_the_kind_of_b():
    solver = newel.Solver(A)
    b = torch.from_numpy(np.stack([B, 2 * B], axis=1))
    x, reports = solver.solve(b)
    assert isinstance(x, torch.Tensor) and tuple(x.shape) == (48, 2) and len(reports) == 2
    assert isinstance(solver @ torch.from_numpy(B), torch.Tensor)
    assert np.allclose(solver @ B, (solver @ torch.from_numpy(B)).numpy())
    x, info = newel.gmres(A, torch.from_numpy(B))
    assert isinstance(x, torch.Tensor) and info == 0


def test_other_tensors_are_refused():
    with pytest.raises(TypeError, match="to_sparse_csr"):
        newel.Solver(torch.from_numpy(A.toarray()))
    with pytest.raises(TypeError, match="is complex"):
        newel.Solver(A).solve(torch.from_numpy(1j * B))
