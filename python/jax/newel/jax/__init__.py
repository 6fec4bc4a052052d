# SPDX-License-Identifier: Apache-2.0
"""Solves that JAX compiles, maps and differentiates: `newel.jax.solve` under jit, grad, jvp and vmap.

>>> import jax.numpy as jnp, newel.jax
>>> from jax.experimental.sparse import BCSR
>>> A = BCSR.fromdense(2 * jnp.eye(3))
>>> newel.jax.solve(A, jnp.ones(3)).tolist()
[0.5, 0.5, 0.5]

XLA calls the library where the arrays are, on the host or on a CUDA device, without a copy. `newel.jax.lineax` has a
solver for lineax.
"""

from ._solver import Solver, clear, solve

__all__ = ["Solver", "clear", "solve"]
