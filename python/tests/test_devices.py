# SPDX-License-Identifier: Apache-2.0
"""One system on several devices: `Solver(A, devices=[0, 1])`. A device that is named twice serves two ranks."""

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import convection, laplacian, residual

import newel

A = laplacian(12)
N = A.shape[0]
B = np.sin(np.arange(N)) + 1.5
TWO = [0, 1] if len(newel.devices()) > 1 else [0, 0]


def wrong(error, words, **keywords):
    with pytest.raises(error, match=words):
        newel.Solver(keywords.pop("A", A), **keywords)


def test_numbers_of_devices_are_checked():
    wrong(TypeError, "devices: expected numbers", devices=2)
    wrong(TypeError, "devices: expected numbers", devices=["cuda:0"])
    wrong(ValueError, "devices: expected a whole number from 0", devices=[0, -1])
    wrong(ValueError, "devices: expected at least one", devices=[])
    if not newel._core.has_cuda:
        wrong(RuntimeError, "no CUDA", devices=[0, 1])
    elif not newel.devices():
        wrong(RuntimeError, "CUDA device", devices=[0, 1])


def refused(error, words, **keywords):
    if newel._core.has_cuda:
        wrong(error, words, devices=[0, 1], **keywords)


def test_what_belongs_to_the_whole_matrix_is_refused():
    refused(ValueError, "plan_cache: not possible with devices", plan_cache="somewhere")
    refused(ValueError, "preconditioner: expected a name", preconditioner=lambda x: x)
    refused(ValueError, "device: not possible with devices", device="host")
    refused(ValueError, "threads: not possible with devices", threads=2)
    refused(ValueError, "stream: not possible with devices", stream=1)
    refused(TypeError, "A: devices share the rows of a matrix", A=sp.linalg.aslinearoperator(A))


@pytest.mark.device
@pytest.mark.parametrize("devices", [[0, 0], [0, 0, 0], TWO])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_every_form_is_solved(form, devices):
    a = convection(N)
    x, report = newel.solve(a.asformat(form), B, devices=devices)
    assert report.converged and report.device == ",".join(f"cuda:{d}" for d in devices)
    assert residual(a, x, B) < 2e-8


@pytest.mark.device
def test_multigrid_of_a_small_system_is_that_of_one_device():
    x, report = newel.solve(A, B, solver="cg", preconditioner="amg", devices=TWO, rtol=1e-10)
    assert residual(A, x, B) < 2e-10
    _, of_one = newel.solve(A, B, solver="cg", preconditioner="amg", devices=TWO[:1], rtol=1e-10)
    assert report.iterations == of_one.iterations


@pytest.mark.device
@pytest.mark.parametrize("preconditioner", ["jacobi", "fsai", "spai", "spai0", None, "auto"])
def test_iterations_are_those_of_the_host(preconditioner):
    solver = newel.Solver(A, "cg", preconditioner, devices=TWO)
    x, report = solver.solve(B, rtol=1e-10)
    assert residual(A, x, B) < 2e-10
    assert "cuda:0" in repr(solver) and solver.device.startswith("cuda:0,cuda:")
    _, on_host = newel.solve(A, B, solver="cg", preconditioner=report.preconditioner, format="csr", rtol=1e-10)
    assert abs(report.iterations - on_host.iterations) <= 1 + on_host.iterations // 50
    info = solver.info()
    assert sum(info["rank_rows"]) == N and len(info["rank_rows"]) == 2 and info["link"]


@pytest.mark.device
def test_columns_guesses_and_single_precision():
    b = np.stack([B, B[::-1], 0 * B], axis=1)
    solver = newel.Solver(A, devices=TWO)
    x, reports = solver.solve(b)
    assert x.shape == b.shape and all(report.converged for report in reports)
    assert max(residual(A, x[:, c], b[:, c]) for c in range(2)) < 2e-8 and not x[:, 2].any()
    _, reports = solver.solve(b, x0=x)
    assert all(report.iterations == 0 for report in reports)
    x, report = newel.solve(A.astype(np.float32), B.astype(np.float32), devices=TWO)
    assert x.dtype == np.float32 and report.precision == "single" and residual(A, x, B) < 2e-5


@pytest.mark.device
def test_new_values_and_products():
    shuffled = A.tocoo()
    order = np.random.default_rng(3).permutation(shuffled.nnz)
    shuffled = sp.coo_array((shuffled.data[order], (shuffled.row[order], shuffled.col[order])), shape=A.shape)
    solver = newel.Solver(shuffled, preconditioner="fsai", devices=TWO)
    first, _ = solver.solve(B)
    assert np.allclose(solver @ B, A @ B, rtol=1e-14, atol=1e-13)
    assert np.allclose(solver.rmatvec(B), A.T @ B, rtol=1e-14, atol=1e-13)
    m = solver.as_preconditioner()
    before = m @ B
    solver.refresh(4 * shuffled)
    assert np.array_equal(4 * (m @ B), before)  # a power of two
    x, _ = solver.solve(B)
    assert np.array_equal(4 * x, first)
    solver.refresh(shuffled.data)
    assert np.array_equal(solver.solve(B)[0], first)
    solver.refresh(2 * A)
    solver.refresh(A)  # the same entries in another form and order
    assert np.array_equal(solver.solve(B)[0], first)
    with pytest.raises(ValueError, match="pattern"):
        solver.refresh(A + sp.eye_array(N, k=7))
    with pytest.raises(ValueError, match="keep_preconditioner"):
        solver.refresh(shuffled.data, keep_preconditioner=True)
    assert np.array_equal(solver.solve(B)[0], first)  # nothing was changed


@pytest.mark.device
def test_endings_are_reported():
    solver = newel.Solver(A, "cg", "jacobi", devices=TWO)
    with pytest.warns(newel.ConvergenceWarning):
        _, report = solver.solve(B, max_iterations=2)
    assert report.status == "max_iterations" and report.advice
    seen, large = [], newel.Solver(laplacian(200), "cg", "jacobi", devices=TWO)  # one kernel may solve a small one at once
    with pytest.warns(newel.ConvergenceWarning):
        _, report = large.solve(np.ones(200 * 200), callback=lambda progress: seen.append(progress.iteration) or len(seen) < 2)
    assert report.status == "stopped_by_caller" and len(seen) == 2
    with pytest.raises(ZeroDivisionError):
        solver.solve(B, callback=lambda progress: 1 / 0)
    assert residual(A, solver.solve(B)[0], B) < 2e-8  # an exception of a callback ends its solve alone


@pytest.mark.device
def test_what_ranks_do_not_have_is_refused():
    wrong(ValueError, "needs the whole matrix", format="ehyb", devices=TWO)
    wrong(ValueError, "needs the whole matrix", precision="mixed", devices=TWO)
    zero = A.tolil()
    zero[5, 5] = 0
    wrong(ValueError, "row 5", A=zero.tocsr(), preconditioner="jacobi", devices=TWO)
    wrong(RuntimeError, "device", devices=[0, 4711])


@pytest.mark.device
def test_one_device_is_the_solver_there():
    solver = newel.Solver(A, devices=[0])
    assert solver.device == "cuda:0" and "link" not in solver.info()
    assert residual(A, solver.solve(B)[0], B) < 2e-8
    wrong(ValueError, "device: expected none other", devices=[0], device="host")
