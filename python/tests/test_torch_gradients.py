# SPDX-License-Identifier: Apache-2.0
"""newel.torch: derivatives of solves against those of PyTorch's dense solver, and against differences."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import DEVICES, convection, laplacian

import newel
from newel._matrices import given_matrix

torch = pytest.importorskip("torch")
if not hasattr(torch.library, "register_vmap"):
    pytest.skip("PyTorch is older than 2.5", allow_module_level=True)

import newel.torch  # noqa: E402
import newel._torch_pattern  # noqa: E402
import newel._torch_systems  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support", "ignore:Sparse invariant checks")

# Fixed, so that a second solve gives the same bits.
FIXED = {"solver": "gmres", "preconditioner": "jacobi", "format": "csr", "rtol": 1e-13}


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.device)])
def place(request):
    if request.param == "cuda" and not (DEVICES and torch.cuda.is_available()):
        pytest.skip("PyTorch finds no CUDA device")
    return request.param


def random_matrix(n, seed=3, symmetric=False):
    rng = np.random.default_rng(seed)
    a = sp.random_array((n, n), density=0.3, rng=rng).toarray()
    a = a + a.T if symmetric else a
    return sp.csr_array(a + 4 * np.eye(n))


def tensor(a, place="cpu", layout="csr", dtype=torch.float64):
    if layout == "coo":
        a = a.tocoo()
        places = torch.from_numpy(np.stack([a.coords[0], a.coords[1]]).astype(np.int64))
        return torch.sparse_coo_tensor(places, torch.from_numpy(a.data.copy()), a.shape).to(place, dtype).coalesce()
    parts = (torch.from_numpy(part.copy()) for part in (a.indptr, a.indices, a.data))
    return torch.sparse_csr_tensor(*parts, size=a.shape).to(place, dtype)


def vector(n, place="cpu", columns=None, seed=5, dtype=torch.float64):
    shape = (n,) if columns is None else (n, columns)
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape)).to(place, dtype)


def gradients_of_dense_solve(a, b, weights):
    """Those of sum(weights * A^-1 b), by PyTorch's dense solver on the host, and x."""
    dense = torch.from_numpy(a.toarray()).requires_grad_()
    b = b.detach().cpu().double().requires_grad_()
    x = torch.linalg.solve(dense, b)
    of_a, of_b = torch.autograd.grad((x * weights.cpu().double()).sum(), (dense, b))
    return of_a, of_b, x.detach()


def close(found, expected, bound):
    return float((found.cpu().double() - expected).abs().max()) <= bound * float(expected.abs().max())


MATRICES = {
    "random": (random_matrix(30), {}),
    "random symmetric": (random_matrix(30, symmetric=True), {}),
    "laplacian": (laplacian(12), {}),
    "convection": (convection(60), {}),
    "laplacian with multigrid": (laplacian(24), {"preconditioner": "amg", "solver": "cg"}),
    "convection with multigrid": (convection(300), {"preconditioner": "amg", "solver": "bicgstab"}),
}


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("layout", ["csr", "coo"])
@pytest.mark.parametrize("columns", [None, 3])
def test_gradients_are_those_of_a_dense_solve(place, name, layout, columns):
    a, options = MATRICES[name]
    n = a.shape[0]
    A, b = tensor(a, place, layout).requires_grad_(), vector(n, place, columns).requires_grad_()
    weights = vector(n, place, columns, seed=6)
    x = newel.torch.solve(A, b, rtol=1e-13, **options)
    (x * weights).sum().backward()
    of_a, of_b, dense_x = gradients_of_dense_solve(a, b, weights)
    bound = 1e-12 * np.linalg.cond(a.toarray())
    assert close(x.detach(), dense_x, bound)
    assert close(b.grad, of_b, bound)
    assert A.grad.layout is A.layout and A.grad.dtype is A.dtype
    assert close(A.grad.to_dense(), of_a * torch.from_numpy(a.toarray() != 0), bound)


@pytest.mark.parametrize("a", [random_matrix(7), laplacian(3), convection(8)])
@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("transpose", [False, True])
def test_first_and_second_derivatives_are_those_of_differences(place, a, columns, transpose):
    A = tensor(a, place)
    solver = newel.torch.Solver(A, **FIXED)
    given = (A.values().clone().requires_grad_(), vector(a.shape[0], place, columns).requires_grad_())

    def solve(values, b):
        return solver.solve(values, b, transpose=transpose)

    assert torch.autograd.gradcheck(solve, given)
    # On a device sums of second derivatives are added in any order.
    assert torch.autograd.gradgradcheck(solve, given, nondet_tol=0.0 if place == "cpu" else 1e-12)


@pytest.mark.parametrize("layout", ["csr", "coo", "uncoalesced"])
def test_derivatives_pass_through_the_making_of_a_tensor(place, layout):
    a = random_matrix(6)
    A = tensor(a, place, "csr" if layout == "csr" else "coo")
    values = A.values().clone()
    if layout == "csr":
        crow, col = A.crow_indices(), A.col_indices()
    else:
        places = A.indices()
        if layout == "uncoalesced":  # each of the first entries in two parts
            places = torch.cat([places, places[:, :3].flip(1)], 1)
            values = torch.cat([values, values[:3]])

    def solve(values, b):
        shape = (6, 6)
        made = torch.sparse_csr_tensor(crow, col, values, shape) if layout == "csr" else torch.sparse_coo_tensor(
            places, values, shape)
        return newel.torch.solve(made, b, **FIXED)

    given = (values.requires_grad_(), vector(6, place).requires_grad_())
    assert torch.autograd.gradcheck(solve, given)
    assert torch.autograd.gradgradcheck(solve, given, nondet_tol=1e-12)


def test_single_precision_stays_single(place):
    a = random_matrix(30)
    A = tensor(a, place, dtype=torch.float32).requires_grad_()
    b = vector(30, place, dtype=torch.float32).requires_grad_()
    weights = vector(30, place, seed=6, dtype=torch.float32)
    x = newel.torch.solve(A, b, rtol=1e-6)
    (x * weights).sum().backward()
    of_a, of_b, _ = gradients_of_dense_solve(a, b, weights)
    assert x.dtype is b.grad.dtype is A.grad.dtype is torch.float32
    bound = 1e-5 * np.linalg.cond(a.toarray())
    assert close(b.grad, of_b, bound) and close(A.grad.to_dense(), of_a * torch.from_numpy(a.toarray() != 0), bound)


@pytest.fixture
def counted(count_solvers):
    return count_solvers(newel._torch_systems)


@pytest.mark.parametrize("a, setups", [(laplacian(6), 1), (convection(36), 2)], ids=["symmetric", "not symmetric"])
def test_the_transpose_is_set_up_once_and_only_if_it_differs(place, counted, a, setups):
    A = tensor(a, place)
    solver = newel.torch.Solver(A)
    values, b = A.values().clone().requires_grad_(), vector(36, place).requires_grad_()
    assert counted.made == 1
    for scale in (1.0, 2.0, 3.0):
        solver.solve(scale * values, b).sum().backward()
        solver.solve(scale * values, b)  # the same values again: nothing to refresh
    assert (counted.made, counted.refreshed) == (setups, 2 * setups)


def test_a_symmetric_pattern_is_not_taken_for_a_symmetric_matrix(place):
    a = convection(20)
    A, b = tensor(a, place).requires_grad_(), vector(20, place)
    newel.torch.solve(A, b, rtol=1e-13).sum().backward()
    of_a, _, _ = gradients_of_dense_solve(a, b, torch.ones(20))
    assert close(A.grad.to_dense(), of_a * torch.from_numpy(a.toarray() != 0), 1e-10)


def test_asymmetry_of_a_rounding_error_needs_no_second_setup(place, counted):
    a = laplacian(6)
    a.data[1] *= 1 + 2.0**-52
    assert (a != a.T).nnz > 0
    newel.torch.solve(tensor(a, place).requires_grad_(), vector(36, place)).sum().backward()
    assert counted.made == 1


def test_symmetry_may_be_stated(place, counted, monkeypatch):
    monkeypatch.setattr(newel._torch_pattern.Pattern, "is_symmetric", None)  # not asked
    for symmetric, made in ((True, 1), (False, 3)):
        A = tensor(laplacian(6), place).requires_grad_()
        newel.torch.solve(A, vector(36, place), symmetric=symmetric).sum().backward()
        assert counted.made == made


def test_each_gradient_is_of_the_values_of_its_solve(place):
    A = tensor(convection(20), place)
    solver = newel.torch.Solver(A, rtol=1e-13)
    b, values = vector(20, place), [(scale * A.values()).requires_grad_() for scale in (1.0, 2.0)]
    losses = [solver.solve(v, b).sum() for v in values]
    for loss in losses:  # the Solver has the values of the second when the first gradient needs it
        loss.backward()
    # x is proportional to 1 / scale, so that its derivative by a value is to 1 / scale^2.
    assert torch.allclose(values[0].grad, 4 * values[1].grad, rtol=1e-10)


def test_new_values_in_the_same_memory_are_seen(place):
    A = tensor(laplacian(5), place)
    solver = newel.torch.Solver(A, rtol=1e-13)
    values, b = A.values().clone(), vector(25, place)
    x = solver.solve(values, b)
    values.data.mul_(2)  # which PyTorch does not count as a change
    assert torch.allclose(solver.solve(values, b), x / 2, rtol=1e-10)
    assert torch.allclose(solver.solve(None, b), x, rtol=1e-10)


@pytest.mark.parametrize("layout", ["csr", "coo"])
def test_matrix_and_vectors_are_used_where_they_are(place, layout):
    A, b = tensor(convection(20), place, layout), vector(20, place, columns=2).t().contiguous().t()
    solver = newel.torch.Solver(A)
    first, second = (A.crow_indices(), A.col_indices()) if layout == "csr" else A.indices().unbind(0)
    values = A.values()
    for transposed in (False, True):
        addresses = given_matrix(solver._systems.pattern.parts(values, transposed)).arrays.addresses()
        swapped = transposed and layout == "coo"
        expected = (second, first) if swapped else (first, second)
        assert addresses == (expected[0].data_ptr(), expected[1].data_ptr(), values.data_ptr())
    plain = solver._systems.load(values, False)
    x = plain.solve(b)[0]  # what is taken from b, and what x is
    taken, result, from_, to = plain._vectors.pair(b, None)
    if place == "cpu":
        assert from_.ctypes.data == b.data_ptr() and to.ctypes.data == result.data_ptr()
    else:
        assert from_.address == b.data_ptr() and to.address == result.data_ptr()
    assert isinstance(x, torch.Tensor) and x.device.type == place


def test_constants_cost_no_gradient(place, monkeypatch):
    solver = newel.torch.Solver(tensor(laplacian(5), place))
    monkeypatch.setattr(newel._torch_pattern.Pattern, "outer", None)  # not called
    b = vector(25, place).requires_grad_()
    solver.solve(None, b).sum().backward()
    assert b.grad is not None
    assert not solver.solve(None, vector(25, place)).requires_grad


def test_an_adjoint_that_does_not_converge_raises(place):
    a = laplacian(8)
    A = tensor(a, place)
    b = torch.ones(64, dtype=torch.float64, device=place)  # few eigenvectors by its symmetry, unlike the gradient
    options = {"solver": "cg", "preconditioner": None, "rtol": 1e-10, "max_iterations": 14}
    x = newel.torch.Solver(A, **options).solve(None, b.requires_grad_())
    with pytest.raises(newel.ConvergenceError, match="transpose of A, which gradients need"):
        (x * vector(64, place)).sum().backward()
    with pytest.raises(newel.ConvergenceError, match="^A x = b: max_iterations"):
        newel.torch.Solver(A, **options).solve(None, vector(64, place))


def test_reports_are_of_the_latest_solves(place):
    solver = newel.torch.Solver(tensor(convection(20), place))
    assert solver.report is None
    b = vector(20, place).requires_grad_()
    loss = solver.solve(None, b).sum()
    assert solver.report.converged and solver.transpose_report is None
    loss.backward()
    assert solver.transpose_report.converged
    solver.solve(None, vector(20, place, columns=3))
    assert len(solver.report) == 3


def test_a_compiled_function_has_one_graph(place):
    A = tensor(convection(20), place)
    solver = newel.torch.Solver(A, **FIXED)
    graphs = []

    def backend(graph, examples):
        graphs.append(graph)
        return torch._dynamo.lookup_backend("aot_eager")(graph, examples)

    def loss(values, b):
        return (solver.solve(2 * values, b.sin()) ** 2).sum()

    torch._dynamo.reset()
    compiled = torch.compile(loss, backend=backend, fullgraph=True)
    given = (A.values().clone().requires_grad_(), vector(20, place).requires_grad_())
    found, expected = (torch.autograd.grad(f(*given), given) for f in (compiled, loss))
    for one, other in zip(found, expected):
        assert torch.allclose(one, other, rtol=1e-10)
    assert len(graphs) == 1 and "newel.solve" in str(graphs[0].graph)
    columns = (given[0], vector(20, place, columns=2).requires_grad_())
    assert torch.allclose(compiled(*columns), loss(*columns), rtol=1e-10)


def test_vectors_and_values_are_mapped(place):
    a = random_matrix(12)
    A, B = tensor(a, place), vector(12, place, columns=3).t()
    solver = newel.torch.Solver(A, **FIXED)
    x = torch.linalg.solve(A.to_dense(), B.t()).t()
    scales = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, device=place)
    V = scales[:, None] * A.values()
    vmap = torch.func.vmap
    assert torch.allclose(vmap(lambda b: solver.solve(None, b))(B), x, rtol=1e-10)
    assert len(solver.report) == 3
    assert torch.allclose(vmap(lambda v: solver.solve(v, B[0]))(V), x[0] / scales[:, None], rtol=1e-10)
    assert torch.allclose(vmap(solver.solve)(V, B), x / scales[:, None], rtol=1e-10)


def test_jacobians_are_those_of_a_dense_solve(place):
    a = random_matrix(6)
    A, b = tensor(a, place), vector(6, place)
    solver = newel.torch.Solver(A, **FIXED)
    rows, columns = (torch.from_numpy(part.astype(np.int64)).to(place) for part in a.tocoo().coords)

    def dense(values, b):
        empty = torch.zeros(6, 6, dtype=torch.float64, device=place)
        return torch.linalg.solve(empty.index_put((rows, columns), values), b)

    given = (A.values(), b)
    for vectorize in (False, True):
        jacobians = [torch.autograd.functional.jacobian(f, given, vectorize=vectorize) for f in (solver.solve, dense)]
        for found, expected in zip(*jacobians):
            assert torch.allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("columns", [None, 2])
def test_pytorch_finds_no_fault_in_the_operators(place, columns):
    A = tensor(convection(6), place)
    solver = newel.torch.Solver(A, **FIXED)
    x, y, values = vector(6, place, columns), vector(6, place, columns, seed=8), A.values().clone()
    for one in (x, y, values):
        one.requires_grad_()
    from newel import _torch_operators as operators

    tests = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static")
    for operator, arguments in ((operators.solve, (values, x, solver._handle, True)),
                                (operators.outer, (x, y, values.shape[0], solver._handle)),
                                (operators.product, (values, x, solver._handle, True))):
        torch.library.opcheck(operator, arguments, test_utils=tests)


def test_a_solver_of_two_threads_serves_one_after_the_other():
    A = tensor(convection(400))
    solver = newel.torch.Solver(A, rtol=1e-12)
    b, found = vector(400), {}

    def work(scale):
        for _ in range(20):
            found[scale] = solver.solve(scale * A.values(), b)

    threads = [threading.Thread(target=work, args=(scale,)) for scale in (1.0, 2.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torch.allclose(found[1.0], 2 * found[2.0], rtol=1e-9)


@pytest.mark.device
def test_the_current_stream_is_respected():
    from device_kinds import PyTorchKind

    try:
        kind = PyTorchKind(torch)
    except ImportError as error:
        pytest.skip(str(error))
    a = convection(200)
    A = tensor(a, "cuda")
    solver, b = newel.torch.Solver(A, **FIXED), vector(200, "cuda")
    late, values = torch.zeros_like(b), torch.zeros_like(A.values())
    expected = solver.solve(None, b)
    torch.cuda.synchronize()
    stream = kind.new_stream()
    with kind.on(stream):
        kind.wait(0.2)
        late.copy_(b)
        values.copy_(A.values())
        values.requires_grad_(), late.requires_grad_()
        x = solver.solve(values, late)
        kind.wait(0.2)
        (x * b).sum().backward()
        found, of_b = x.detach().clone(), late.grad.clone()
    stream.synchronize()
    assert torch.allclose(found, expected, rtol=1e-10)
    assert torch.allclose(of_b, solver.solve(None, b, transpose=True), rtol=1e-10)


@pytest.mark.parametrize("make, error, message", [
    (lambda A: newel.torch.Solver(A.to_dense()), TypeError, "CSR or COO, found a dense tensor"),
    (lambda A: newel.torch.Solver("A"), TypeError, "found <class 'str'>"),
    (lambda A: newel.torch.Solver(A.to_dense().to_sparse_bsr((2, 2))), TypeError, "to_sparse_csr"),
    (lambda A: newel.torch.Solver(A.to_dense().to_sparse_csc()), TypeError, "to_sparse_csr"),
    (lambda A: newel.torch.Solver(A.to_dense()[:4].to_sparse_csr()), ValueError, "square"),
    (lambda A: newel.torch.Solver(torch.sparse_coo_tensor([[0, 0]] * 2, [1.0, 1.0], (1, 1))), ValueError, "coalesce"),
    (lambda A: newel.torch.Solver(A.to(torch.complex128)), TypeError, "complex"),
    (lambda A: newel.torch.Solver(A, preconditioner=lambda r: r), TypeError, "by name|a name"),
    (lambda A: newel.torch.Solver(A, devices=[0, 1]), ValueError, "devices"),
    (lambda A: newel.torch.Solver(A, precond="amg"), TypeError, "preconditioner"),
    (lambda A: newel.torch.Solver(A).solve(A.values()[1:], vector(6)), ValueError, "the values: expected shape"),
    (lambda A: newel.torch.Solver(A).solve(None, vector(5)), ValueError, "b: expected shape"),
    (lambda A: newel.torch.Solver(A).solve(None, vector(6).float()), TypeError, "b: expected torch.float64"),
    (lambda A: newel.torch.Solver(A).solve(None, A), TypeError, "b: expected a dense"),
    (lambda A: newel.torch.Solver(A).solve(A.values() * np.nan, vector(6)), ValueError, "finite"),
    (lambda A: newel.torch.Solver(A).solve(tensor(random_matrix(6)), vector(6)), ValueError, "pattern"),
    (lambda A: newel.torch.Solver(A).solve(None, vector(6).to("meta")), TypeError, "expected a tensor on cpu"),
])
def test_what_cannot_be_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make(tensor(convection(6)))


def test_a_refused_refresh_leaves_the_solver_usable():
    A = tensor(convection(6))
    solver, b = newel.torch.Solver(A), vector(6)
    x = solver.solve(None, b)
    with pytest.raises(ValueError, match="finite"):
        solver.solve(A.values() * np.inf, b)
    assert torch.allclose(solver.solve(None, b), x, rtol=1e-7)


def test_a_matrix_of_the_same_pattern_gives_its_values(place):
    for layout in ("csr", "coo"):
        A = tensor(convection(6), place, layout)
        solver, b = newel.torch.Solver(A, rtol=1e-13), vector(6, place)
        other = tensor(2 * convection(6), place, layout).requires_grad_()
        x = solver.solve(other, b)
        x.sum().backward()
        assert torch.allclose(2 * x, solver.solve(None, b), rtol=1e-10)
        assert other.grad.layout is other.layout


def test_importing_newel_does_not_import_pytorch():
    program = "import sys, newel; assert 'torch' not in sys.modules and 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
