# SPDX-License-Identifier: Apache-2.0
"""Mistakes are ValueError or TypeError that say what came and what was expected."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian

import newel

A = laplacian(4)
B = np.ones(16)


class OnDevice:
    """An array of another library on a device that there is not."""

    def __init__(self, length=16, typestr="<f8"):
        self.__cuda_array_interface__ = {"shape": (length,), "typestr": typestr, "data": (4096, False), "version": 3}


@pytest.mark.parametrize("b, words", [
    (np.ones(15), r"expected shape \(16,\) or \(16, k\), found \(15,\)"),
    (np.ones((15, 2)), "found"),
    (np.ones((2, 16, 1)), "found"),
    (3.0, "found"),
])
def test_a_right_hand_side_of_the_wrong_shape_is_refused(b, words):
    with pytest.raises(ValueError, match=words):
        newel.solve(A, b)


@pytest.mark.parametrize("b, words", [
    (np.array(["a"] * 16), "expected an array of numbers"),
    (np.array([None] * 16), "expected an array of numbers"),
    (sp.csr_array(np.ones((16, 1))), "toarray"),
    (B.astype(np.longdouble), "expected float64"),
])
def test_a_right_hand_side_of_the_wrong_type_is_refused(b, words):
    with pytest.raises(TypeError, match=words):
        newel.solve(A, b)


@pytest.mark.parametrize("a, error, words", [
    (A.toarray(), TypeError, "csr_array"),
    (A.tolil(), TypeError, "tocsr"),
    ((A.data, OnDevice(), A.indptr), TypeError, "on a device"),
    ("bone.mtx", TypeError, "expected a sparse matrix of SciPy"),
    (None, TypeError, "expected a sparse matrix of SciPy"),
    (A[:, :9], ValueError, r"expected a square matrix, found the shape \(16, 9\)"),
    ((A.data, A.indices), ValueError, "tuple of 2"),
    ((A.data, A.indices.astype(float), A.indptr), TypeError, "expected integers, found float64"),
    ((A.data[:-1], A.indices, A.indptr), ValueError, "63 values"),
    ((A.data, A.indices, A.indptr[:0]), ValueError, "rows . 1"),
    ((A.data, A.indices, A.indptr[:, None]), ValueError, "one dimension"),
])
def test_a_matrix_that_is_none_is_refused(a, error, words):
    with pytest.raises(error, match=words):
        newel.solve(a, B)


def test_a_column_outside_the_matrix_is_named_with_its_row():
    indices = A.indices.copy()
    indices[A.indptr[5]] = 16
    with pytest.raises(ValueError, match="row 5, column 16"):
        newel.solve((A.data, indices, A.indptr), B)
    indices[A.indptr[5]] = -1
    with pytest.raises(ValueError, match="row 5, column -1"):
        newel.solve((A.data, indices, A.indptr), B)


def test_pointers_that_descend_are_named():
    indptr = A.indptr.copy()
    indptr[3], indptr[4] = indptr[4], indptr[3]
    with pytest.raises(ValueError, match="row 3"):
        newel.solve((A.data, A.indices, indptr), B)


def test_a_zero_on_the_diagonal_is_named():
    a = A.copy()
    a.setdiag(np.where(np.arange(16) == 9, 0.0, 4.0))
    with pytest.raises(ValueError, match="row 9"):
        newel.solve(a, B, preconditioner="jacobi")


def test_arguments_in_the_wrong_place_are_answered_with_the_right_one():
    with pytest.raises(TypeError, match=r"pass a right-hand side to solve\(b\)"):
        newel.Solver(A, B)
    with pytest.raises(TypeError, match="A comes first, then b"):
        newel.solve(B, A)
    with pytest.raises(TypeError, match=r"newel\.read reads a matrix from a file"):
        newel.solve("A.mtx", B)


@pytest.mark.parametrize("keywords, error, words", [
    ({"solver": "magic"}, ValueError, "cg"),
    ({"solver": 3}, TypeError, "expected a name"),
    ({"preconditioner": "magic"}, ValueError, "jacobi"),
    ({"preconditioner": 3}, TypeError, "expected a LinearOperator"),
    ({"preconditioner": np.eye(3)}, ValueError, r"expected the shape \(16, 16\), found \(3, 3\)"),
    ({"format": "magic"}, ValueError, "csr"),
    ({"precision": "half"}, ValueError, "mixed"),
    ({"device": "gpu"}, ValueError, '"cuda" or "cuda:N"'),
    ({"device": "cuda:"}, ValueError, '"cuda" or "cuda:N"'),
    ({"device": 0}, ValueError, '"cuda" or "cuda:N"'),
    ({"stream": 7}, ValueError, "on the host"),
    ({"threads": 0}, ValueError, "threads"),
    ({"threads": 1.5}, TypeError, "threads"),
    ({"threads": 100000}, ValueError, "threads"),
    ({"columns": 0}, ValueError, "columns"),
    ({"restart": 0}, ValueError, "restart"),
    ({"null_space": "rigid"}, ValueError, "constant"),
    ({"coordinates": np.ones((5, 3))}, ValueError, "divides the 16 rows"),
    ({"coordinates": np.ones((16, 4))}, ValueError, "points x 1, 2 or 3"),
    ({"near_null_space": np.ones((15, 2))}, ValueError, "expected 16 rows"),
    ({"options": {"magic": 1}}, ValueError, "there is no option magic"),
    ({"options": {"amg_degree": 99}}, ValueError, "from 1 to 8"),
    ({"options": {"amg_degree": True}}, ValueError, "whole number"),
    ({"options": {"amg_smoother": "magic"}}, ValueError, "chebyshev"),
    ({"options": {"drop": "much"}}, ValueError, "a number"),
    ({"expected_solves": -1}, ValueError, "expected_solves"),
    ({"rtol": -1}, ValueError, "negative"),
    ({"rtol": np.nan}, ValueError, "negative"),
    ({"max_iterations": -1}, ValueError, "max_iterations"),
    ({"time_limit": -1}, ValueError, "negative"),
    ({"x0": np.ones(3)}, ValueError, r"expected the shape of b, \(16,\), found \(3,\)"),
    ({"bogus": 1}, TypeError, "bogus"),
])
def test_choices_that_there_are_not_are_refused(keywords, error, words):
    with pytest.raises(error, match=words):
        newel.solve(A, B, **keywords)


@pytest.mark.skipif(bool(newel.devices()), reason="there is a device")
@pytest.mark.parametrize("call", [
    lambda: newel.Solver(A, device="cuda"),
    lambda: newel.Solver(A, device="cuda:1"),
    lambda: newel.solve(A, OnDevice()),
    lambda: newel.solve(OnDevice(), B),
    lambda: newel.solve((OnDevice(64), OnDevice(64, "<i4"), OnDevice(17, "<i4")), B),
    lambda: newel.cg(A, OnDevice()),
])
def test_a_device_that_is_not_there_is_named(call):
    with pytest.raises(RuntimeError, match="no CUDA"):
        call()


def test_arrays_on_a_device_are_not_for_the_host():
    with pytest.raises((TypeError, RuntimeError), match="on a device"):
        newel.Solver(A, device="host").solve(OnDevice())
    with pytest.raises(TypeError, match="on a device"):
        newel.Solver(A, coordinates=OnDevice())


def test_memory_that_there_is_not_is_memory_error():
    n = 2_000_000
    eye = sp.eye_array(n, format="csr")
    with pytest.raises(MemoryError, match="TB"):
        newel.Solver(eye, solver="gmres", restart=1 << 20)
