# SPDX-License-Identifier: Apache-2.0
"""A program with types that uses newel.jax, which test_typing.py gives to mypy."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental.sparse import BCSR
from typing_extensions import assert_type

import newel
import newel.jax

A = BCSR((jnp.ones(3), jnp.arange(3), jnp.arange(4)), shape=(3, 3))
b = jnp.ones(3)

assert_type(newel.jax.solve(A, b, rtol=1e-6, preconditioner="amg", options={"amg_degree": 3}), jax.Array)
solver = newel.jax.Solver(symmetric=True, max_iterations=100)
assert_type(solver.solve(A, b, transpose=True), jax.Array)
reports: list[newel.Report | newel.BatchedResult] = solver.reports + solver.transpose_reports
solver.clear()
newel.jax.clear()
