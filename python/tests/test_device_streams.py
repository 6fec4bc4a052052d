# SPDX-License-Identifier: Apache-2.0
"""Whose work waits for whose: streams of CuPy and PyTorch."""

import gc

import numpy as np
import pytest
from conftest import laplacian, residual
from device_kinds import KINDS

import newel

pytestmark = pytest.mark.device

A = laplacian(12)
N = A.shape[0]
B = np.sin(np.arange(N)) + 1.5



@pytest.fixture(params=[kind for kind in KINDS if kind.name != "foreign"] or [None],
                ids=lambda kind: getattr(kind, "name", "none"))
def streams(request):
    """A kind with a stream on which something is produced, and one that is busy for as long as a test takes."""
    kind = request.param
    if kind is None:
        pytest.skip("neither CuPy nor PyTorch finds a device")
    kind.side, kind.busy = kind.new_stream(), kind.new_stream()
    for stream in (kind.side, kind.busy):  # whatever has to be compiled is compiled before
        with kind.on(stream):
            kind.wait(1e-6)
            kind.copy_into(kind.array(B), kind.array(B))
    kind.synchronize()
    yield kind
    kind.synchronize()


DELAY, LONG = 0.05, 5.0
# What starts while the busy stream is busy must have run before: the driver may wait for an idle device before it loads
# a kernel.
PLAIN = {"solver": "cg", "preconditioner": "jacobi", "format": "csr"}


def warm(kind, solver, stream):
    """Whatever the tests do, once, on that stream."""
    b, values = kind.array(B), kind.array(A.data)
    kind.synchronize()
    with kind.on(stream):
        for _ in range(2):
            x, _ = solver.solve(b)
            solver.refresh(values)
            kind.copy_into(b, solver @ x)
    kind.synchronize()


def test_a_producer_on_the_current_stream_is_waited_for_and_nothing_else(streams):
    kind = streams
    solver = newel.Solver(kind.sparse(A), **PLAIN)
    true_b, triple, doubled, nothing = (kind.array(v) for v in (B, 3 * B, 2 * A.data, np.full(A.nnz, np.nan)))
    b, values, y = kind.array(np.zeros(N)), kind.array(np.full(A.nnz, np.nan)), kind.array(np.zeros(N))
    warm(kind, solver, kind.side)
    with kind.on(kind.busy):
        kind.wait(LONG)
    with kind.on(kind.side):
        kind.wait(DELAY)
        kind.copy_into(b, true_b)
        x, report = solver.solve(b)
        assert report.converged and residual(A, kind.host(x), B) < 2e-8
        kind.wait(DELAY)
        kind.copy_into(values, doubled)
        solver.refresh(values)
        kind.copy_into(values, nothing)  # after the Solver has read them
        x, report = solver.solve(b)
        assert report.converged and residual(2 * A, kind.host(x), B) < 2e-8
        kind.wait(DELAY)
        kind.copy_into(b, triple)
        kind.copy_into(y, solver @ b)  # in the order of the side stream, with nobody waiting
        assert np.allclose(kind.host(y), 6 * (A @ B))
    assert not kind.is_done(kind.busy)


def test_a_matrix_on_the_current_stream_is_waited_for(streams):
    kind = streams
    true_values, b = kind.array(A.data), kind.array(B)
    matrix = (kind.array(np.zeros(A.nnz)), kind.array(A.indices), kind.array(A.indptr))
    kind.synchronize()
    with kind.on(kind.side):
        kind.wait(DELAY)
        kind.copy_into(matrix[0], true_values)
        x, report = newel.solve(matrix, b)
        assert report.converged and residual(A, kind.host(x), B) < 2e-8


def test_the_default_stream_is_waited_for(streams):
    kind = streams
    solver = newel.Solver(kind.sparse(A))
    b, true_b = kind.array(np.zeros(N)), kind.array(B)
    kind.wait(DELAY)
    kind.copy_into(b, true_b)
    x, report = solver.solve(b)
    assert report.converged and residual(A, kind.host(x), B) < 2e-8


def test_a_solver_works_on_the_stream_that_it_is_given(streams):
    kind = streams
    solver = newel.Solver(kind.sparse(A), stream=kind.side, **PLAIN)
    b, true_b = kind.array(np.zeros(N)), kind.array(B)
    warm(kind, solver, kind.side)
    with kind.on(kind.busy):
        kind.wait(LONG)
    with kind.on(kind.side):
        kind.wait(DELAY)
        kind.copy_into(b, true_b)
    x, report = solver.solve(b)  # the current stream is another one, and holds nothing
    assert report.converged and residual(A, kind.host(x), B) < 2e-8
    assert not kind.is_done(kind.busy)
    handle = getattr(kind.side, "ptr", None) or kind.side.cuda_stream
    x, report = newel.solve(A, B, device="cuda", stream=handle)
    assert report.converged and residual(A, x, B) < 2e-8


def test_a_stream_lives_as_long_as_its_solver(streams):
    kind = streams
    solver = newel.Solver(A, device="cuda", stream=kind.new_stream())
    gc.collect()
    assert residual(A, solver.solve(B)[0], B) < 2e-8
    del solver
    gc.collect()
    assert residual(A, newel.solve(A, B, device="cuda")[0], B) < 2e-8


def test_a_function_is_called_in_the_order_of_the_current_stream(streams):
    kind = streams
    matrix = kind.sparse(A)

    def product(x):
        kind.wait(1e-3)
        return matrix @ x

    with kind.on(kind.side):
        x, report = newel.solve(product, kind.array(B), solver="cg")
        assert report.converged and residual(A, kind.host(x), B) < 2e-8
