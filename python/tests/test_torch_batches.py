# SPDX-License-Identifier: Apache-2.0
"""Batches in PyTorch: gradients against finite differences and against dense solves of PyTorch."""

import numpy as np
import pytest
from conftest import convection, laplacian

torch = pytest.importorskip("torch", minversion="2.5")

import newel  # noqa: E402
import newel.torch  # noqa: E402

K = 5


def systems(pattern, seed=3):
    generator = torch.Generator().manual_seed(seed)
    values = torch.as_tensor(pattern.data) * (1 + 0.1 * torch.rand(K, pattern.nnz, generator=generator, dtype=torch.float64))
    b = torch.rand(K, pattern.shape[0], generator=generator, dtype=torch.float64) + 0.5
    return values.requires_grad_(), b.requires_grad_()


def dense(pattern, values):
    n = pattern.shape[0]
    rows = np.repeat(np.arange(n), np.diff(pattern.indptr))
    matrix = torch.zeros(K, n, n, dtype=torch.float64)
    return matrix.index_put((torch.arange(K)[:, None], torch.as_tensor(rows)[None], torch.as_tensor(pattern.indices)[None]
                             .long()), values)


@pytest.mark.parametrize("pattern", [convection(7), laplacian(3)], ids=["unsymmetric", "laplacian"])
def test_gradients_are_those_of_dense_solves(pattern):
    values, b = systems(pattern)
    weight = torch.linspace(-1, 2, K * pattern.shape[0], dtype=torch.float64).reshape(K, -1)
    x = newel.torch.solve_batch(pattern, values, b, rtol=1e-13)
    found = torch.autograd.grad((weight * x**2).sum(), (values, b))
    expected_x = torch.linalg.solve(dense(pattern, values), b)
    expected = torch.autograd.grad((weight * expected_x**2).sum(), (values, b))
    torch.testing.assert_close(x, expected_x, rtol=1e-9, atol=1e-10)
    for one, other in zip(found, expected):
        torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-9)


def test_gradients_pass_gradcheck_twice():
    pattern = convection(4)
    system = newel.torch.BatchedSystem(pattern, rtol=1e-13)
    values, b = systems(pattern)
    assert torch.autograd.gradcheck(system.solve, (values, b))
    assert torch.autograd.gradgradcheck(system.solve, (values, b))
    assert system.report and len(system.report) == K


def test_mistakes_and_failures_are_raised():
    pattern = convection(6)
    values, b = systems(pattern)
    with pytest.raises(TypeError, match="expected torch.float64, found torch.float32"):
        newel.torch.BatchedSystem(pattern).solve(values.float(), b)
    with pytest.raises(TypeError, match="dtype"):
        newel.torch.BatchedSystem(pattern, dtype=torch.int32)
    with pytest.raises(newel.ConvergenceError):
        newel.torch.solve_batch(pattern, values, b, max_iterations=1)
    single = newel.torch.solve_batch(pattern, values.float(), b.float(), rtol=1e-4)
    assert single.dtype is torch.float32 and torch.isfinite(single).all()
