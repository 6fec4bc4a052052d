# SPDX-License-Identifier: Apache-2.0
"""newel.torch under torch.func: maps over values as batches, and derivatives in each order, against dense solves."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DEVICES, convection, laplacian

import newel
from newel import _mapped_values

torch = pytest.importorskip("torch", minversion="2.5")

import newel.torch  # noqa: E402

func = torch.func
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support", "ignore:Sparse invariant checks",
                                        "ignore:.*torch.jit.script.*")


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.device)])
def place(request):
    if request.param == "cuda" and not (DEVICES and torch.cuda.is_available()):
        pytest.skip("PyTorch finds no CUDA device")
    return request.param


class Case:
    """K systems of one pattern: values, right-hand sides, and what solves one of them with and without Newel."""

    K = 4

    def __init__(self, a, place, layout="csr", **options):
        coo = a.tocoo()
        self.n = a.shape[0]
        self.rows, self.columns = (torch.from_numpy(part.astype(np.int64)).to(place) for part in coo.coords)
        A = torch.sparse_coo_tensor(torch.stack([self.rows, self.columns]), torch.from_numpy(coo.data.copy()).to(place),
                                    a.shape).coalesce()
        A = A if layout == "coo" else A.to_sparse_csr()
        self.solver = newel.torch.Solver(A, rtol=1e-13, **options)
        rng = np.random.default_rng(4)
        scales = 1 + 0.1 * rng.random((self.K, coo.nnz))
        if abs(a - a.T).max() == 0:
            scales[:] = 1 + np.arange(self.K)[:, None]
        self.values = torch.from_numpy(scales * coo.data).to(place)
        self.b = torch.from_numpy(rng.standard_normal((self.K, self.n))).to(place)

    def solve(self, values, b):
        return self.solver.solve(values, b)

    def dense(self, values, b):
        # Not linalg.solve, which gives NaN under vmap of jacfwd in PyTorch 2.11.
        empty = torch.zeros(self.n, self.n, dtype=torch.float64, device=b.device)
        return torch.linalg.inv(empty.index_put((self.rows, self.columns), values)) @ b

    def same(self, make, *arguments):
        """Whether what `make` computes with the solve is what it computes with the dense solve."""
        found, expected = make(self.solve)(*arguments), make(self.dense)(*arguments)
        if not isinstance(found, tuple):
            found, expected = (found,), (expected,)
        for one, other in zip(found, expected):
            torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-9)
        return True


@pytest.fixture(params=["laplacian", "convection"])
def case(request, place):
    return Case(laplacian(3) if request.param == "laplacian" else convection(9), place)


def loss(solve):
    return lambda values, b: (solve(values, b) ** 3).sum()


def test_mapped_values_are_solved_as_a_batch(case):
    assert case.same(func.vmap, case.values, case.b)
    assert isinstance(case.solver.report, newel.BatchedReport) and len(case.solver.report) == case.K
    assert case.same(lambda solve: func.vmap(solve, (0, None)), case.values, case.b[0])
    assert case.same(lambda solve: func.vmap(solve, (1, 1), 1), case.values.t(), case.b.t())
    assert case.same(lambda solve: func.vmap(solve, (None, 0)), case.values[0], case.b)
    assert case.same(lambda solve: func.vmap(func.vmap(solve, (0, None)), (None, 0)), case.values, case.b)
    columns = torch.stack([case.b, 2 * case.b], -1)
    assert case.same(func.vmap, case.values, columns)
    assert case.same(lambda solve: func.vmap(solve, (None, 0)), case.values[0], columns)


def test_gradients_of_maps_are_maps_of_gradients(case):
    def of_map(solve):
        return func.grad(lambda values, b: func.vmap(loss(solve))(values, b).sum(), (0, 1))

    def mapped(solve):
        return func.vmap(func.grad(loss(solve), (0, 1)))

    assert case.same(of_map, case.values, case.b) and case.same(mapped, case.values, case.b)
    assert isinstance(case.solver.transpose_report, newel.BatchedReport)
    for one, other in zip(of_map(case.solve)(case.values, case.b), mapped(case.solve)(case.values, case.b)):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


def test_forward_and_second_derivatives_pass_through_maps(case):
    tangents = (case.values.cos(), case.b.sin())
    assert case.same(lambda solve: lambda v, b: func.jvp(solve, (v[0], b[0]), (tangents[0][0], tangents[1][0])),
                     case.values, case.b)
    assert case.same(lambda solve: lambda v, b: func.jvp(func.vmap(solve), (v, b), tangents), case.values, case.b)
    for derivative in (func.jacfwd, func.jacrev):
        assert case.same(lambda solve: derivative(solve, (0, 1)), case.values[0], case.b[0])
        assert case.same(lambda solve: func.vmap(derivative(solve)), case.values[:2], case.b[:2])
    assert case.same(lambda solve: func.hessian(loss(solve)), case.values[0], case.b[0])
    assert case.same(lambda solve: func.vmap(func.hessian(loss(solve), 1)), case.values[:2], case.b[:2])


def test_gradients_of_autograd_pass_through_maps_twice(case):
    given = (case.values.clone().requires_grad_(), case.b.clone().requires_grad_())
    assert torch.autograd.gradcheck(func.vmap(case.solve), given)
    assert torch.autograd.gradgradcheck(func.vmap(case.solve), given, nondet_tol=1e-12)


def test_batches_are_mapped_and_differentiated_forward(place):
    a = convection(6)
    system, k = newel.torch.BatchedSystem(a, rtol=1e-13), 3
    values = torch.from_numpy(a.data * (1 + 0.1 * np.random.default_rng(2).random((2, k, a.nnz)))).to(place)
    b = torch.ones(2, k, 6, dtype=torch.float64, device=place)
    case = Case(a, place)
    dense = func.vmap(case.dense)
    torch.testing.assert_close(func.vmap(system.solve)(values, b), func.vmap(dense)(values, b), rtol=1e-9, atol=1e-10)
    assert len(system.report) == 2 * k
    for found, expected in zip(*(func.jvp(solve, (values[0], b[0]), (values[1], b[1])) for solve in (system.solve, dense))):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-10)
    grads = [func.vmap(func.grad(lambda v, c: solve(v, c).square().sum()))(values, b) for solve in (system.solve, dense)]
    torch.testing.assert_close(*grads, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("options, batched", [
    ({}, True), ({"solver": "bicgstab"}, True), ({"solver": "gmres", "restart": 9}, True),
    ({"preconditioner": "block-jacobi"}, True), ({"preconditioner": None}, True), ({"preconditioner": "spai"}, False),
    ({"solver": "idrs"}, False), ({"precision": "mixed"}, False), ({"format": "csr"}, False),
])
def test_only_options_of_batches_make_a_batch(options, batched):
    case = Case(convection(9), "cpu", **options)
    assert case.same(func.vmap, case.values, case.b)
    assert isinstance(case.solver.report, newel.BatchedReport) == batched
    assert len(case.solver.report) == case.K and all(report.converged for report in case.solver.report)


def test_entries_in_any_order_and_large_systems_are_solved(monkeypatch):
    case = Case(convection(9), "cpu", "coo")
    assert case.same(func.vmap, case.values, case.b)
    assert isinstance(case.solver.report, newel.BatchedReport)
    monkeypatch.setattr(_mapped_values, "MOST_ROWS", 8)
    case = Case(convection(9), "cpu")
    assert case.same(func.vmap, case.values, case.b) and isinstance(case.solver.report, list)


def test_a_system_that_fails_in_the_batch_is_solved_alone():
    """The second is far from diagonally dominant: the methods of a batch stagnate, an ordinary solve factorises it."""
    n = 60
    a = sp.csr_array(sp.diags_array([1.0, 4.0, 1.5], offsets=[-1, 0, 1], shape=(n, n)))
    hard = sp.csr_array(sp.diags_array([1.0, 0.3, -1.5], offsets=[-1, 0, 1], shape=(n, n)))
    case = Case(a, "cpu", solver="auto", max_iterations=2000)
    values = torch.from_numpy(np.stack([a.data, hard.data]))
    b = torch.from_numpy(np.random.default_rng(1).standard_normal((2, n)))
    x = func.vmap(case.solve)(values, b)
    for one, matrix, of_b in zip(x.numpy(), (a, hard), b.numpy()):
        assert np.linalg.norm(of_b - matrix @ one) <= 1e-12 * np.linalg.norm(of_b)
    report = case.solver.report
    assert isinstance(report, list) and report[0].solver == "bicgstab" and all(report)
    assert report[1].solver not in ("cg", "bicgstab", "gmres")


def test_a_mapped_solve_that_does_not_converge_raises():
    case = Case(laplacian(8), "cpu", solver="cg", max_iterations=3)
    with pytest.raises(newel.ConvergenceError, match="A x = b: max_iterations"):
        func.vmap(case.solve)(case.values, case.b)
    with pytest.raises(ValueError, match="finite"):
        func.vmap(case.solve)(case.values * np.nan, case.b)


def test_a_map_over_values_in_a_compiled_function_is_one_graph():
    case = Case(convection(9), "cpu")
    torch._dynamo.reset()
    compiled = torch.compile(func.vmap(case.solve), backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(case.values, case.b), func.vmap(case.dense)(case.values, case.b), rtol=1e-9,
                               atol=1e-10)
