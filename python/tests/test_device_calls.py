# SPDX-License-Identifier: Apache-2.0
"""Functions like SciPy's, mistakes, callbacks, threads and memory on a CUDA device."""

import gc
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import laplacian, residual
from device_kinds import Foreign, every_kind

import newel
from newel._matrices import given_matrix

pytestmark = pytest.mark.device

A = laplacian(12)
N = A.shape[0]
B = np.sin(np.arange(N)) + 1.5



@every_kind
@pytest.mark.parametrize("method", ["cg", "bicgstab", "gmres"])
def test_functions_like_those_of_scipy_solve_on_the_device(kind, method):
    solve = getattr(newel, method)
    matrix = kind.sparse(A)
    for b in (kind.array(B), kind.array(B[:, None])):
        x, info = solve(matrix, b, rtol=1e-9)
        assert info == 0
        x = kind.host(x)
        assert x.shape == (N,) and residual(A, x, B) < 2e-9
    again, info = solve(matrix, kind.array(B), x0=x, rtol=1e-8, M="jacobi")
    assert info == 0 and np.array_equal(kind.host(again), x)
    with pytest.raises(ValueError, match="expected shape"):
        solve(matrix, kind.array(B[1:]))


@every_kind
@pytest.mark.parametrize("method", ["cg", "bicgstab"])
def test_callbacks_get_the_iterates_of_the_device(kind, method):
    iterates = []
    x, info = getattr(newel, method)(kind.sparse(A), kind.array(B), rtol=1e-10, callback=iterates.append)
    assert info == 0 and len(iterates) > 5
    assert len({kind.address(one) for one in iterates}) == len(iterates)
    residuals = [residual(A, kind.host(one), B) for one in iterates]
    assert residuals[-1] < 2e-10 and min(residuals) == residuals[-1]
    on_host = []
    getattr(newel, method)(A, B, rtol=1e-10, callback=on_host.append)
    assert np.allclose(kind.host(iterates[2]), on_host[2], rtol=1e-8, atol=1e-8)


@every_kind
def test_gmres_reports_every_residual_of_the_device(kind):
    seen = []
    _, info = newel.gmres(kind.sparse(A), kind.array(B), rtol=1e-8, callback=seen.append)
    assert info == 0 and len(seen) > 5 and seen[-1] <= 1e-8


# Errors, threads, ends


@every_kind
def test_mistakes_are_named_as_on_the_host(kind):
    matrix, b = kind.sparse(A), kind.array(B)
    with pytest.raises(ValueError, match=r"b: expected shape \(144,\) or \(144, k\), found \(143,\)"):
        newel.solve(matrix, kind.array(B[1:]))
    with pytest.raises(TypeError, match="b is complex|convert"):
        newel.Solver(matrix).solve(kind.array(1j * B))
    with pytest.raises(TypeError, match="this Solver on the host"):
        newel.Solver(A).solve(b)
    with pytest.raises(TypeError, match="this Solver on the host"):
        newel.Solver(A).refresh(kind.array(A.data))
    with pytest.raises(TypeError, match="A is on a device"):
        newel.Solver(matrix, device="host")
    with pytest.raises(ValueError, match="A is on device 0"):
        newel.Solver(matrix, device="cuda:1")
    with pytest.raises(RuntimeError, match="there is no CUDA device 99"):
        newel.Solver(A, device="cuda:99")
    with pytest.raises(ValueError, match="threads"):
        newel.Solver(matrix, threads=2)
    with pytest.raises(TypeError, match="stream"):
        newel.Solver(matrix, stream="fast")
    with pytest.raises(TypeError, match="on one device"):
        newel.Solver((kind.array(A.data), A.indices, A.indptr))
    wrong = A.indices.copy()
    wrong[A.indptr[5]] = N
    with pytest.raises(ValueError, match=f"row 5, column {N}"):
        newel.solve((kind.array(A.data), kind.array(wrong), kind.array(A.indptr)), b)
    zero = A.copy()
    zero.setdiag(np.where(np.arange(N) == 9, 0.0, 4.0))
    with pytest.raises(ValueError, match="row 9"):
        newel.solve(kind.sparse(zero), b, preconditioner="jacobi")
    dense = kind.array(A.toarray())
    with pytest.raises(TypeError, match="expected a sparse matrix"):
        newel.Solver(dense)


def test_memory_of_the_host_behind_a_device_interface_is_refused():
    class Pretender:
        def __init__(self, array):
            self.held = array
            self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "version": 3,
                                             "data": (array.ctypes.data, False)}

    with pytest.raises(ValueError, match="memory of no device"):
        newel.Solver(A, device="cuda").solve(Pretender(B))


def test_memory_that_there_is_not_is_memory_error():
    with pytest.raises(MemoryError, match="device"):
        newel.Solver(sp.eye_array(2_000_000, format="csr"), solver="gmres", restart=1 << 20, device="cuda")


@every_kind
def test_a_callback_may_end_a_solve_and_its_errors_come_out(kind):
    a = laplacian(60)
    b = kind.array(np.ones(3600))
    solver = newel.Solver(kind.sparse(a), solver="cg", preconditioner=None)
    with pytest.warns(newel.ConvergenceWarning, match="stopped_by_caller"):
        x, report = solver.solve(b, callback=lambda progress: False)
    assert report.status == "stopped_by_caller"

    def fail(progress):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        solver.solve(b, callback=fail)
    x, report = solver.solve(b)
    assert report.converged and residual(a, kind.host(x), np.ones(3600)) < 2e-8


def test_a_solve_leaves_the_lock_of_python_to_others():
    n = 300_000
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
    solver = newel.Solver(line, solver="cg", preconditioner=None, device="cuda")
    turns, over = [0], threading.Event()

    def count():
        while not over.is_set():
            turns[0] += 1
            over.wait(1e-4)

    counter = threading.Thread(target=count)
    counter.start()
    with pytest.warns(newel.ConvergenceWarning):
        solver.solve(np.ones(n), max_iterations=3000)
    over.set()
    counter.join()
    assert turns[0] > 10


@every_kind
def test_two_threads_solve_at_once(kind):
    results = {}

    def work(which):
        a = laplacian(12 + which)
        b = np.ones(a.shape[0])
        solver = newel.Solver(kind.sparse(a))
        results[which] = max(residual(a, kind.host(solver.solve(kind.array(b))[0]), b) for _ in range(5))

    threads = [threading.Thread(target=work, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 2 and max(results.values()) < 2e-8


@every_kind
def test_facts_of_a_matrix_on_the_device_are_those_on_the_host(kind):
    assert dict(newel.info(kind.sparse(A))) == dict(newel.info(A))


def test_the_python_for_a_device_in_the_document_runs():
    cupy = pytest.importorskip("cupy")
    here = Path(__file__).parent
    document = next(path for path in (here / "python.md", here.parents[1] / "docs/python.md") if path.exists())
    blocks = re.findall(r"^```py\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)
    blocks = [block for block in blocks if "cupy" in block]
    assert len(blocks) == 1
    names = {"A": A, "b": B, "newel": newel}
    exec(compile(blocks[0], "python.md", "exec"), names)
    assert type(names["x"]) is cupy.ndarray and residual(A, names["x"].get(), B) < 2e-8


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr and "terminate" not in done.stderr, done.stderr  # libraries may warn
    return done.stdout


def test_import_and_a_solve_load_no_more_of_cuda_than_they_need():
    libraries = run("""
import numpy as np, scipy.sparse as sp
import newel
maps = lambda: "".join(name + " " for name in ("libcuda.so", "libcusparse", "libcublas", "libcudart")
                       if name in open("/proc/self/maps").read())
print(maps())
A = sp.eye_array(100, format="csr") * 2.0
x, report = newel.solve(A, np.ones(100), device="cuda")
assert report.converged
print(maps())
""").splitlines()
    assert libraries[0].strip() == ""
    assert "libcusparse" not in libraries[1] and "libcublas" not in libraries[1] and "libcudart" not in libraries[1]


@every_kind
def test_a_solver_may_live_until_the_program_ends(kind):
    assert run(f"""
import sys
sys.path.insert(0, {str(__file__.rpartition("/")[0])!r})
import numpy as np, newel
from conftest import laplacian
from device_kinds import kinds
kind = next(kind for kind in kinds()[0] if kind.name == {kind.name!r})
solver = newel.Solver(kind.sparse(laplacian(8)))
x, report = solver.solve(kind.array(np.ones(64)))
print(report.converged)
""").strip() == "True"


def test_foreign_memory_outlives_the_array_that_it_came_from():
    solver = newel.Solver(A, device="cuda")
    x, _ = solver.solve(Foreign(B))
    address, taken = x.__cuda_array_interface__["data"][0], given_matrix((x, Foreign(np.arange(N, dtype=np.int32)),
                                                                         Foreign(np.arange(N + 1, dtype=np.int32))))
    del x
    gc.collect()
    assert taken.arrays.addresses()[2] == address
    assert newel._core.device_of(address) == 0
