# SPDX-License-Identifier: Apache-2.0
"""Callbacks, Ctrl-C, threads and forks."""

import io
import os
import signal
import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, residual

import newel

A = laplacian(20)
B = np.ones(400)


def slow_system():
    """A line of many points, for which CG without preconditioner takes as many iterations: minutes."""
    n = 300_000
    return sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr"), np.ones(n)


@pytest.fixture
def interrupts():
    """SIGINT as a terminal finds it: a process that was started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_callback_sees_every_iteration():
    seen = []
    _, report = newel.solve(A, B, callback=seen.append)
    assert [progress.iteration for progress in seen] == list(range(1, report.iterations + 1))
    assert np.allclose([progress.residual for progress in seen], report.history[1:])
    assert seen[-1].relative_residual == pytest.approx(seen[-1].residual / 20)
    assert seen[0].solver == "cg" and seen[0].columns == 1 and "iteration=1" in repr(seen[0])


def test_a_callback_may_end_a_solve():
    with pytest.warns(newel.ConvergenceWarning, match="stopped_by_caller"):
        x, report = newel.solve(A, B, callback=lambda progress: progress.iteration < 4)
    assert report.status == "stopped_by_caller" and report.iterations == 4
    y, _ = newel.solve(A, B, x)
    assert residual(A, y, B) < 2e-8


@pytest.mark.parametrize("make", [np.bool_, np.array, lambda truth: np.array(float(truth)) > 0.5])
def test_a_false_of_numpy_ends_a_solve(make):
    for method, count in (("cg", 4), ("gmres", 4), ("bicgstab", 4)):
        with pytest.warns(newel.ConvergenceWarning, match="stopped_by_caller"):
            _, report = newel.solve(A, B, solver=method, callback=lambda p: make(p.iteration < 4))
        assert report.iterations == count


@pytest.mark.parametrize("answer", [None, True, np.True_, np.array(True), 0, 0.0, "", [], np.array(0), np.float64(0)])
def test_what_is_no_false_ends_no_solve(answer):
    assert newel.solve(A, B, callback=lambda p: answer)[1].converged


def test_an_array_of_several_truths_is_an_error():
    with pytest.raises(ValueError, match="ambiguous"):
        newel.solve(A, B, callback=lambda p: np.array([False, True]))


def test_an_error_in_a_callback_comes_out_and_the_solver_goes_on():
    def fail(progress):
        raise KeyError("mine")

    solver = newel.Solver(A)
    for columns in (B, np.stack([B, B], axis=1)):
        with pytest.raises(KeyError, match="mine"):
            solver.solve(columns, callback=fail)
    x, report = solver.solve(B)
    assert report.converged and residual(A, x, B) < 2e-8


def test_a_callback_may_not_use_the_solver_that_calls_it():
    solver = newel.Solver(A)
    with pytest.raises(RuntimeError, match="in use"):
        solver.solve(B, callback=lambda progress: solver.solve(B))
    other = newel.Solver(A)
    assert solver.solve(B, callback=lambda progress: other.solve(B))[1].converged


@pytest.mark.parametrize("as_columns", [False, True])
def test_ctrl_c_ends_a_solve(as_columns, interrupts):
    a, b = slow_system()
    if as_columns:
        b = np.stack([b, b], axis=1)
    solver = newel.Solver(a, solver="cg", preconditioner=None, format="csr")

    refused = []

    def interrupt():
        while not solver._system.busy:
            time.sleep(0.001)
        try:
            solver.info()
        except RuntimeError as error:
            refused.append(str(error))
        os.kill(os.getpid(), signal.SIGINT)

    # That this thread runs at all, while the solve does, shows that the solve holds no lock of Python's.
    thread = threading.Thread(target=interrupt)
    with pytest.raises(KeyboardInterrupt):
        thread.start()
        solver.solve(b, max_iterations=10**9)
    thread.join()
    assert "in use" in refused[0]
    solver.refresh(a.data)
    assert np.allclose(solver @ a.diagonal(), a @ a.diagonal())


def test_solvers_in_threads_do_not_disturb_each_other():
    solutions = {}

    def work(name):
        solutions[name] = newel.Solver(A * (1 + name), threads=2).solve(B)[0]

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in range(4):
        assert residual(A * (1 + name), solutions[name], B) < 2e-8


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_number_of_threads_may_be_chosen(threads):
    a, b = laplacian(100), np.ones(10000)
    x, report = newel.solve(a, b, threads=threads)
    assert report.converged and residual(a, x, b) < 2e-8


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_solver_may_be_used_in_a_child_made_by_fork():
    a, b = laplacian(100), np.ones(10000)
    # A system that chooses for itself may move in its next solve, and its bits with it.
    fixed = {"format": "csr", "preconditioner": "jacobi", "threads": 2}
    solver = newel.Solver(a, **fixed)
    x, _ = solver.solve(b)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            y, report = solver.solve(b)
            fresh, _ = newel.solve(a, b, **fixed)
            status = 0 if report.converged and np.array_equal(x, y) and np.array_equal(x, fresh) else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(solver.solve(b)[0], x)


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self):
        return True


def iterations_shown(lines):
    return [int(line.split()[1].replace(",", "")) for line in lines]


def test_a_terminal_shows_how_a_solve_goes():
    a, b = laplacian(30), np.ones(900)
    terminal = Terminal()
    progress = newel.TerminalProgress(terminal, every=1e9)
    _, report = newel.solve(a, b, solver="cg", preconditioner=None, callback=progress)
    lines = terminal.getvalue().splitlines()
    assert iterations_shown(lines) == [k for k in (1, 2, 5, 10, 20, 50, 100) if k <= report.iterations]
    assert f"{report.history[10] / np.linalg.norm(b):.2e}" in lines[3]
    newel.solve(a, b, solver="cg", preconditioner=None, callback=progress)  # begins anew
    assert iterations_shown(terminal.getvalue().splitlines()) == 2 * iterations_shown(lines)


def test_every_column_is_shown_and_files_stay_empty():
    a, b = laplacian(12), np.random.default_rng(1).standard_normal((144, 3))
    terminal, file = Terminal(), io.StringIO()
    newel.solve(a, b, preconditioner=None, callback=newel.TerminalProgress(terminal, every=1e9))
    for column in (1, 2, 3):
        shown = iterations_shown([line for line in terminal.getvalue().splitlines() if f"column {column} of 3" in line])
        assert shown[:4] == [1, 2, 5, 10]
    newel.solve(a, b, callback=newel.TerminalProgress(file, every=0))
    assert file.getvalue() == ""
    newel.solve(a, b[:, 0], preconditioner=None, callback=newel.TerminalProgress(terminal := Terminal(), every=0))
    assert iterations_shown(terminal.getvalue().splitlines())[:4] == [1, 2, 3, 4]
