# SPDX-License-Identifier: Apache-2.0
"""A program with types that uses newel.torch, which test_typing.py gives to mypy."""

from __future__ import annotations

import torch
from typing_extensions import assert_type

import newel
import newel.torch

A = torch.eye(3).to_sparse_csr()
b = torch.ones(3)

assert_type(newel.torch.solve(A, b, rtol=1e-6, preconditioner="amg", options={"amg_degree": 3}), torch.Tensor)
solver = newel.torch.Solver(A, symmetric=True, max_iterations=100)
assert_type(solver.solve(None, b), torch.Tensor)
assert_type(solver.solve(torch.ones(3), b, transpose=True), torch.Tensor)
for report in (solver.report, solver.transpose_report):
    if isinstance(report, newel.BatchedReport):
        assert_type(report[0], newel.BatchedResult)
    elif isinstance(report, list):
        assert all(one.converged for one in report)
    else:
        assert report is None or report.converged

assert_type(newel.torch.solve_batch(A, torch.ones(2, 3), torch.ones(2, 3), rtol=1e-4, solver="cg"), torch.Tensor)
batch = newel.torch.BatchedSystem(A, dtype=torch.float32, max_iterations=100)
assert_type(batch.solve(torch.ones(2, 3), torch.ones(2, 3)), torch.Tensor)
assert batch.report is None or batch.report.together
