# SPDX-License-Identifier: Apache-2.0
"""newel.jax.lineax: a sparse operator against its dense matrix, and solves by lineax against dense ones."""

import numpy as np
import pytest
from conftest import convection, laplacian

pytest.importorskip("lineax")
test_jax = pytest.importorskip("test_jax", reason="the package newel-jax is not installed")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import lineax  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

from newel.jax.lineax import Newel, SparseOperator  # noqa: E402

place, close, sparse, vector, with_values = (
    getattr(test_jax, name) for name in ("place", "close", "sparse", "vector", "with_values"))


@pytest.mark.parametrize("form", ["csr", "coo"])
def test_an_operator_is_its_matrix(form):
    a = convection(12)
    dense, x = a.toarray(), vector(12)
    operator = SparseOperator(sparse(a, form), lineax.lower_triangular_tag)
    assert np.array_equal(operator.as_matrix(), dense) and np.array_equal(operator.T.as_matrix(), dense.T)
    assert close(operator.mv(x), dense @ x, 1e-14) and close(operator.T.mv(x), dense.T @ x, 1e-14)
    assert np.array_equal(lineax.diagonal(operator), np.diag(dense))
    for found, offset in zip(lineax.tridiagonal(operator.T), (0, -1, 1)):
        assert np.array_equal(found, np.diag(dense.T, offset))
    assert lineax.is_lower_triangular(operator) and lineax.is_upper_triangular(operator.T)
    assert not lineax.is_symmetric(operator)
    assert operator.in_structure() == operator.out_structure() == jax.ShapeDtypeStruct((12,), np.float64)


@pytest.mark.parametrize("a, form", [(laplacian(4), "csr"), (convection(16), "coo")])
def test_solves_and_their_derivatives_are_those_of_a_dense_matrix(a, form):
    A, b, solver = sparse(a, form), vector(16), Newel(rtol=1e-13)

    def solve(values, b):
        return lineax.linear_solve(SparseOperator(with_values(A, values)), b, solver).value

    assert close(jax.jit(solve)(A.data, b), np.linalg.solve(a.toarray(), b), 1e-11)
    check_grads(jax.jit(solve), (A.data, b), order=2, modes=("fwd", "rev"))
    mapped = jax.vmap(solve, (0, None))(jnp.stack([A.data, 2 * A.data]), b)
    assert close(mapped[0], 2 * mapped[1], 1e-10)


def test_a_state_and_its_transpose_solve():
    a = convection(16)
    operator, b, solver = SparseOperator(sparse(a)), vector(16), Newel(rtol=1e-13)
    state = solver.init(lineax.TaggedLinearOperator(operator, lineax.tridiagonal_tag), {})
    assert close(lineax.linear_solve(operator, b, solver, state=state).value, np.linalg.solve(a.toarray(), b), 1e-11)
    transposed, options = solver.transpose(*solver.conj(state, {}))
    x, result, statistics = solver.compute(transposed, b, options)
    assert close(x, np.linalg.solve(a.toarray().T, b), 1e-11)
    assert result == lineax.RESULTS.successful and statistics["num_steps"] > 0


def test_results_say_how_a_solve_ended():
    operator = SparseOperator(sparse(laplacian(8)))
    few = Newel(max_iterations=2, solver="cg", preconditioner=None)
    solution = lineax.linear_solve(operator, vector(64), few, throw=False)
    assert solution.result == lineax.RESULTS.max_steps_reached and solution.stats["num_steps"] == 2
    with pytest.raises(Exception, match="maximum number of solver steps"):
        lineax.linear_solve(operator, vector(64), few).value.block_until_ready()
    with pytest.raises(TypeError, match="SparseOperator, found MatrixLinearOperator"):
        lineax.linear_solve(lineax.MatrixLinearOperator(jnp.eye(3)), jnp.ones(3), few)
    with pytest.raises(ValueError, match="pass options to Newel"):
        few.init(operator, {"preconditioner": None})
