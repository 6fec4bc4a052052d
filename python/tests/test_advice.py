# SPDX-License-Identifier: Apache-2.0
"""What a report advises, and what it says of the matrix itself."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian

import newel

LINE = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(200, 200), format="csr")
B = np.ones(200)


def failed(A, b, **keywords):
    with pytest.warns(newel.ConvergenceWarning):
        return newel.solve(A, b, **keywords)[1]


def without_row(stored_zeros: bool):
    A = LINE.copy()
    A.data[A.indptr[7]:A.indptr[8]] = 0
    A.data[A.indices == 7] = 0
    if not stored_zeros:
        A.eliminate_zeros()
    return A


@pytest.mark.parametrize("stored_zeros", [True, False])
def test_a_row_of_zeros_is_in_reason_and_advice(stored_zeros):
    A = without_row(stored_zeros)
    report = failed(A, B, max_iterations=200)
    assert "row 7 of A (counted from 0) holds no value other than 0, and b is not 0 there" in report.reason
    assert "row 7" in report.advice and "=" not in report.advice
    assert "row 7" in newel.info(A)["recommendation"]
    assert "amg" not in report.advice


@pytest.mark.parametrize("precision", ["double", "single"])
def test_a_column_without_entries_is_in_reason_and_advice(precision):
    A = LINE.copy()
    A.data[np.isin(A.indices, [7, 90])] = 0
    A.eliminate_zeros()
    report = failed(A, B, max_iterations=200, precision=precision)
    assert "column 7 of A (counted from 0, the first of 2) holds no value other than 0: A is singular" in report.reason
    assert "column 7" in report.advice and "=" not in report.advice
    assert newel.Solver(A).info()["zero_columns"] == {"count": 2, "first": 7}
    assert newel.Solver(LINE).info()["zero_columns"] == {"count": 0, "first": None}


def test_columns_of_zeros_are_facts_of_a_matrix_stored_or_not():
    A = LINE.copy()
    A.data[np.isin(A.indices, [7, 90])] = 0
    for a in (A, sp.csr_array(A.toarray()), A.tocsc(), A.tocoo()):
        facts = newel.info(a)
        assert facts["zero_columns"] == {"count": 2, "first": 7} and facts["zero_rows"]["count"] == 0
        assert facts["recommendation"] == "none: the matrix is singular, column 7 holds no value other than 0"
    assert newel.info(LINE)["zero_columns"] == {"count": 0, "first": None}
    assert newel.info(A[:, :50])["zero_columns"] == {"count": 1, "first": 7}


def test_a_zero_matrix_is_said_to_be_one():
    report = failed(0 * LINE, B)
    assert report.advice == "correct the matrix: A holds no value other than 0"
    assert "none: the matrix is singular" in newel.info(0 * LINE)["recommendation"]


def test_a_neumann_system_gets_the_hint_at_its_null_space():
    A = LINE.tolil()
    A[0, 0] = A[199, 199] = 1
    report = failed(A.tocsr(), B)
    assert report.advice.startswith('null_space="constant": ')
    report = failed(A.tocsr(), B, null_space="constant")
    assert "null_space" not in report.advice and "mean" in report.advice


@pytest.mark.parametrize("keywords", [
    {"rtol": 1e-17}, {"rtol": 1e-17, "solver": "bicgstab"}, {"rtol": 1e-17, "solver": "gmres", "restart": 5},
    {"rtol": 1e-17, "preconditioner": "spai"}, {"max_iterations": 20, "preconditioner": None}])
@pytest.mark.parametrize("seed", range(4))
def test_advice_names_nothing_that_was_tried(keywords, seed):
    random = np.random.default_rng(seed)
    A = sp.random_array((300, 300), density=0.02, rng=random, format="csr") + sp.eye_array(300)
    report = failed(A, np.ones(300), **{"max_iterations": 1000, **keywords})
    advised = report.advice.split(":")[0]
    assert advised
    for attempt in report.attempts:
        assert advised not in (f'preconditioner="{attempt["preconditioner"]}"', f'solver="{attempt["solver"]}"')


def test_the_words_are_those_of_keywords():
    report = failed(laplacian(12), np.ones(144), solver="cg", preconditioner="jacobi", max_iterations=3)
    assert report.advice == "max_iterations=10000: allows more (now 3)"
    report = failed(-laplacian(12), np.ones(144), solver="cg", preconditioner=None)
    assert report.advice.startswith('solver="gmres", restart=144: ')


def test_products_of_an_operator_are_not_spent_on_advice():
    from scipy.sparse.linalg import LinearOperator

    calls = []
    A = LinearOperator((200, 200), matvec=lambda x: calls.append(1) or LINE @ x, dtype=float)
    report = failed(A, B, solver="cg", preconditioner=None, max_iterations=5)
    # One for each iteration, two residuals, and one that shows that b is in the range of A.
    assert report.advice and len(calls) <= 8


def test_advice_survives_a_pickle():
    import pickle

    report = failed(LINE, B, max_iterations=2)
    assert pickle.loads(pickle.dumps(report)).advice == report.advice
