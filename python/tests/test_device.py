# SPDX-License-Identifier: Apache-2.0
"""Systems on a CUDA device, with arrays of CuPy, of PyTorch, and of a library that Newel does not know."""

import gc

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import convection, laplacian, residual
from device_kinds import KINDS, every_kind

import newel
from newel._matrices import given_matrix

pytestmark = pytest.mark.device

A = laplacian(12)
N = A.shape[0]
B = np.sin(np.arange(N)) + 1.5



def test_devices_have_names():
    assert all(isinstance(name, str) and name for name in newel.devices())


@every_kind
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_form_is_solved_where_it_lies(kind, dtype):
    a = convection(N).astype(dtype)
    if kind.name == "foreign" and dtype == np.float32:
        with pytest.raises(TypeError, match="convert it"):
            newel.Solver(kind.sparse(a))
        return
    for form in kind.forms:
        matrix = kind.sparse(a, form)
        x, report = newel.solve(matrix, kind.array(B))
        assert report.converged and report.device == "cuda:0"
        assert kind.host(x).dtype == np.float64
        assert residual(a, kind.host(x), B) < 2e-8


@every_kind
@pytest.mark.parametrize("precision, rtol", [("single", 1e-4), ("mixed", 1e-8), ("double", 1e-10)])
def test_every_precision_is_solved(kind, precision, rtol):
    dtype = np.float32 if precision == "single" else np.float64
    x, report = newel.solve(kind.sparse(A.astype(dtype)), kind.array(B.astype(dtype)), precision=precision, rtol=rtol)
    assert report.converged and report.precision == precision
    assert kind.host(x).dtype == dtype
    assert residual(A, kind.host(x), B) < 2 * rtol


@every_kind
def test_arrays_are_read_where_they_are(kind):
    for form in kind.forms:
        matrix = kind.sparse(A, form)
        assert given_matrix(matrix).arrays.addresses() == tuple(kind.address(part) for part in kind.arrays_of(matrix))
    solver = newel.Solver(kind.sparse(A))
    for b in (kind.array(B), kind.array(B[:, None]), kind.array(np.stack([B, 2 * B], axis=1), order="F")):
        _, x, given, taken = solver._vectors.pair(b, None)
        assert given.address == kind.address(b)
        assert taken.address == kind.address(x) and taken.address != given.address
        assert given.size == taken.size == np.prod(tuple(b.shape) if hasattr(b, "shape") else b._values.shape)
    values = kind.array(A.data)
    assert solver._value_map.of_array(values).address == kind.address(values)


def test_a_solve_allocates_the_solution_alone():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no CUDA device")
    n = 100_000
    a = convection(n)
    b = torch.ones(n, dtype=torch.float64, device="cuda")
    parts = (torch.from_numpy(part).cuda() for part in (a.indptr, a.indices, a.data))
    matrix = torch.sparse_csr_tensor(*parts, size=a.shape)
    solver = newel.Solver(matrix, solver="bicgstab")
    solver.solve(b)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    x, _ = solver.solve(b)
    solver.refresh(matrix.values())
    assert 8 * n <= torch.cuda.max_memory_allocated() - before < 8 * n + 1024
    assert x.device == b.device


@every_kind
def test_a_solver_does_not_use_the_arrays_afterwards(kind):
    matrix = kind.sparse(A)
    solver = newel.Solver(matrix)
    if kind.name == "foreign":
        for part in matrix:
            part._memory.clear(0)
    else:
        for part in kind.arrays_of(matrix):
            part[...] = 0
    del matrix
    gc.collect()
    x, report = solver.solve(kind.array(B))
    assert report.converged and residual(A, kind.host(x), B) < 2e-8


@every_kind
@pytest.mark.parametrize("columns", [1, 3, 9])
@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_in_either_order_are_solved(kind, columns, order):
    b = np.outer(B, 1 + np.arange(columns)) + np.eye(N)[:, :columns]
    if kind.name == "foreign" and order == "C" and columns > 1:
        with pytest.raises(TypeError, match="contiguous columns"):
            newel.solve(kind.sparse(A), kind.array(b, order))
        return
    given = kind.array(b, order)
    x, reports = newel.solve(kind.sparse(A), given)
    assert len(reports) == columns and all(report.converged for report in reports)
    x = kind.host(x)
    assert x.shape == b.shape
    for column in range(columns):
        assert residual(A, x[:, column], b[:, column]) < 2e-8
    x, reports = newel.Solver(kind.sparse(A)).solve(kind.array(np.zeros((N, 0)), order="F"))
    assert reports == [] and tuple(x.shape) == (N, 0)


@every_kind
def test_other_types_are_converted_by_their_library(kind):
    whole = np.arange(N) % 5 + 1
    if kind.name == "foreign":
        with pytest.raises(TypeError, match="convert it"):
            newel.solve(kind.sparse(A), kind.array(whole))
        return
    x, report = newel.solve(kind.sparse(A), kind.array(whole))
    assert report.converged and residual(A, kind.host(x), whole) < 2e-8
    strided = kind.array(np.repeat(B, 2))[::2]
    x, report = newel.solve(kind.sparse(A), strided)
    assert report.converged and residual(A, kind.host(x), B) < 2e-8


@every_kind
def test_a_guess_may_lie_anywhere_and_is_left_alone(kind):
    solver = newel.Solver(kind.sparse(A))
    exact = np.arange(N, dtype=float)
    b = kind.array(A @ exact)
    for other in KINDS:
        guess = other.array(exact)
        x, report = solver.solve(b, guess)
        assert report.iterations == 0
        assert np.array_equal(kind.host(x), exact)
        assert kind.address(x) != other.address(guess)
    x, report = solver.solve(b, exact)
    assert report.iterations == 0 and np.array_equal(kind.host(x), exact)
    with pytest.raises(ValueError, match="expected the shape of b"):
        solver.solve(b, exact[1:])


@every_kind
def test_dlpack_alone_suffices(kind):
    class Dlpack:
        def __init__(self, array):
            self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__

    if not hasattr(kind.array(B), "__dlpack__"):
        pytest.skip("arrays without DLPack")
    parts = tuple(Dlpack(kind.array(part)) for part in (A.data, A.indices, A.indptr))
    solver = newel.Solver(parts)
    assert solver.device == "cuda:0"
    x, report = solver.solve(Dlpack(kind.array(B)))
    assert report.converged and type(x) is newel.DeviceArray
    assert residual(A, x.get(), B) < 2e-8
    if KINDS[-1].name != "foreign":  # a DeviceArray goes into other libraries as it is
        lib = KINDS[-1].lib
        taken = lib.as_tensor(x, device="cuda") if KINDS[-1].name == "torch" else lib.asarray(x)
        assert KINDS[-1].address(taken) == x.__cuda_array_interface__["data"][0]
        assert residual(A, KINDS[-1].host(taken), B) < 2e-8


@every_kind
def test_new_values_come_from_the_device_or_the_host(kind):
    solver = newel.Solver(kind.sparse(A))
    b = kind.array(B)
    for factor, values in ((2.0, kind.array(2 * A.data)), (3.0, 3 * A.data), (4.0, kind.sparse(4 * A)), (5.0, 5 * A)):
        solver.refresh(values)
        x, report = solver.solve(b)
        assert report.converged and residual(factor * A, kind.host(x), B) < 2e-8
    solver.refresh(kind.array(A.data), keep_preconditioner=True)
    assert residual(A, kind.host(solver.solve(b)[0]), B) < 2e-8


@every_kind
def test_another_pattern_is_refused(kind):
    solver = newel.Solver(kind.sparse(A))
    other = A.copy()
    other.indices[[0, 1]] = other.indices[[1, 0]]
    for matrix in (kind.sparse(other), other):
        with pytest.raises(ValueError, match="another pattern"):
            solver.refresh(matrix)
    with pytest.raises(ValueError, match="expected 672, as the matrix has, found 671"):
        solver.refresh(kind.array(A.data[1:]))
    with pytest.raises(ValueError, match="expected a matrix of shape"):
        solver.refresh(kind.sparse(laplacian(11)))


@every_kind
def test_the_hash_of_a_pattern_does_not_depend_on_where_it_lies(kind):
    on_device = newel.Solver(kind.sparse(A))
    on_host = newel.Solver(A)
    expected = on_host._system.pattern_hash(given_matrix(A).arrays)
    assert on_device._system.pattern_hash(given_matrix(kind.sparse(A)).arrays) == expected
    assert on_device._system.pattern_hash(given_matrix(A).arrays) == expected


@every_kind
def test_products_are_those_of_scipy(kind):
    solver = newel.Solver(kind.sparse(A))
    rng = np.random.default_rng(5)
    for shape in ((N,), (N, 1), (N, 3)):
        x = rng.standard_normal(shape)
        y = kind.host(solver @ kind.array(x, order="F"))
        assert y.shape == shape
        assert np.allclose(y, A @ x, rtol=1e-14, atol=1e-14)
    assert np.allclose(solver @ B, A @ B, rtol=1e-14, atol=1e-14)


@every_kind
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_a_matrix_of_the_host_is_copied_to_the_device(kind, form):
    a = A.asformat(form)
    solver = newel.Solver(a, device="cuda")
    assert solver.device == "cuda:0" and "on cuda:0" in repr(solver)
    x, report = solver.solve(B)
    assert type(x) is np.ndarray and report.device == "cuda:0"
    assert residual(A, x, B) < 2e-8
    x, _ = solver.solve(kind.array(B))
    assert residual(A, kind.host(x), B) < 2e-8
    columns = np.stack([B, 2 * B], axis=1)
    x, reports = solver.solve(columns)
    assert type(x) is np.ndarray and residual(A, x[:, 1], columns[:, 1]) < 2e-8
    solver.refresh(2 * a.data)
    assert residual(2 * A, solver.solve(B)[0], B) < 2e-8
    if form == "dia":
        with pytest.raises(TypeError, match="on the host"):
            solver.refresh(kind.array(a.data.reshape(-1)))


@every_kind
def test_vectors_of_the_host_are_copied_to_the_device(kind):
    x, report = newel.solve(kind.sparse(A), B)
    assert type(x) is np.ndarray and report.device == "cuda:0"
    assert residual(A, x, B) < 2e-8


@every_kind
def test_b_decides_where_a_matrix_of_the_host_is_solved(kind):
    x, report = newel.solve(A, kind.array(B))
    assert report.device == "cuda:0" and residual(A, kind.host(x), B) < 2e-8
    assert newel.solve(A, B)[1].device == "host"


def test_single_systems_and_empty_ones_are_solved():
    for kind in KINDS:
        x, report = newel.solve(kind.sparse(sp.csr_array([[4.0]])), kind.array(np.array([2.0])))
        assert report.converged and kind.host(x)[0] == 0.5
    x, report = newel.solve(sp.csr_array((0, 0)), np.zeros(0), device="cuda")
    assert report.converged and x.shape == (0,)


# Operators


@every_kind
@pytest.mark.parametrize("solver", ["auto", "cg", "bicgstab", "gmres"])
def test_a_function_on_arrays_of_the_device_is_solved(kind, solver):
    if kind.name == "foreign":
        pytest.skip("Newel knows no products of such arrays")
    matrix, seen = kind.sparse(A), []

    def product(x):
        seen.append(x)
        return matrix @ x

    x, report = newel.solve(product, kind.array(B), solver=solver)
    assert report.converged and report.format == "operator" and report.device == "cuda:0"
    assert residual(A, kind.host(x), B) < 2e-8
    assert len({kind.address(one) for one in seen}) == len(seen)  # kept ones are not written to again


@every_kind
def test_a_function_is_a_preconditioner_on_the_device(kind):
    if kind.name == "foreign":
        pytest.skip("Newel knows no products of such arrays")
    x, report = newel.solve(kind.sparse(A), kind.array(B), solver="cg", preconditioner=lambda r: r * 0.25)
    assert report.converged and residual(A, kind.host(x), B) < 2e-8


def test_a_function_may_take_the_arrays_of_no_library():
    matrix, addresses = newel.Solver(A, device="cuda"), set()

    def product(x):
        assert type(x) is newel.DeviceArray and x.shape == (N,)
        addresses.add(x.__cuda_array_interface__["data"][0])
        return matrix @ x

    class Operator:
        shape, matvec = (N, N), staticmethod(product)

    x, report = newel.Solver(Operator(), device="cuda").solve(B)
    assert report.converged and residual(A, x, B) < 2e-8
    assert len(addresses) == 1  # what nobody keeps is used again


@every_kind
@pytest.mark.parametrize("result, error, words", [
    (lambda x: x[:-1], ValueError, r"expected shape \(144,\), found \(143,\)"),
    (lambda x: 1j * x, TypeError, "is complex"),
    (lambda x: np.zeros(N), TypeError, "expected an array on the device"),
    (lambda x: None, TypeError, "expected an array on the device"),
    (lambda x: 1 / 0, ZeroDivisionError, "division"),
])
def test_what_a_function_returns_is_judged(kind, result, error, words):
    if kind.name == "foreign":
        pytest.skip("Newel knows no products of such arrays")
    for solver in ("auto", "cg"):
        with pytest.raises(error, match=words):
            newel.solve(result, kind.array(B), solver=solver)


def test_operators_and_solvers_of_cupy():
    pytest.importorskip("cupy")
    linalg = pytest.importorskip("cupyx.scipy.sparse.linalg")
    kind = next(kind for kind in KINDS if kind.name == "cupy")
    matrix, b = kind.sparse(A), kind.array(B)
    operator = linalg.aslinearoperator(matrix)
    solver = newel.Solver(operator)
    assert solver.device == "cuda:0"
    assert residual(A, kind.host(solver.solve(b)[0]), B) < 2e-8
    M = newel.Solver(matrix, preconditioner="amg").as_preconditioner()
    assert M.shape == (N, N) and M.dtype == np.float64
    x, info = linalg.cg(matrix, b, M=M, rtol=1e-9)
    assert info == 0 and residual(A, kind.host(x), B) < 1e-8
    assert np.allclose(kind.host(M @ b), M.matvec(B))
