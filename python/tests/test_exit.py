# SPDX-License-Identifier: Apache-2.0
"""A program ends with status 0, whatever its daemon threads do with the package at that moment."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

# What a thread does for ever. `a` has 40,000 rows, and `small` 100.
WORK = {
    "a long solve": "newel.solve(a, b, rtol=1e-14, preconditioner=None)",
    "short solves": "solver.solve(small_b)",
    "setups": "newel.Solver(a, preconditioner='fsai')",
    "refreshes": "solver.refresh(small.data)",
    "products": "solver @ small_b",
    "a callback in Python": "newel.solve(a, b, preconditioner=None, callback=lambda p: sum(range(200)) > 0)",
    "a callback that waits": "newel.solve(a, b, preconditioner=None, callback=lambda p: time.sleep(0.001))",
    "an operator": "newel.solve(lambda x: sum(range(200)) + a @ x - sum(range(200)), b)",
    "an operator and a preconditioner": "newel.solve(aslinearoperator(a), b, M=lambda x: 0.25 * x)",
    "iterates of SciPy's kind": "newel.cg(a, b, callback=lambda xk: sum(range(200)))",
    "columns": "newel.solve(a, np.ones((40000, 3)), rtol=1e-14, preconditioner=None)",
    "an operator that raises": "solve_and_fail(lambda x: 1 / 0)",
}

PROGRAM = """
import threading, time
import numpy as np, scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator
import newel

def laplacian(n):
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n), format="csr")
    return (sp.kron(sp.eye_array(n), line) + sp.kron(line, sp.eye_array(n))).tocsr()

def solve_and_fail(product):
    try:
        newel.solve(product, b)
    except ZeroDivisionError:
        pass

a, small = laplacian(200), laplacian(10)
b, small_b = np.ones(40000), np.ones(100)
solver = newel.Solver(small)

def work():
    while True:
        WORK

for _ in range(THREADS):
    threading.Thread(target=work, daemon=True).start()
time.sleep(SECONDS)
END
"""


def ended(work, threads=2, seconds=0.2, end=""):
    program = PROGRAM
    for name, text in (("WORK", work), ("THREADS", threads), ("SECONDS", seconds), ("END", end)):
        program = re.sub(rf"\b{name}\b", lambda _: str(text), program)
    if work.startswith("solver"):  # which one thread uses at a time
        program = program.replace("def work():\n", "def work():\n    solver = newel.Solver(small)\n")
    return subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("name", WORK)
def test_daemon_threads_do_not_disturb_the_end(name):
    for seconds in (0.1, 0.25):
        result = ended(WORK[name], seconds=seconds)
        assert (result.returncode, result.stderr) == (0, ""), f"{result.returncode}: {result.stderr[-2000:]}"


def test_a_status_is_that_of_the_program():
    assert ended(WORK["a callback in Python"], end="raise SystemExit(3)").returncode == 3


def test_the_interpreter_may_solve_while_it_ends():
    # The main thread has the lock of an interpreter that has begun to end, and gives it back during a solve.
    end = """
class AtTheEnd:
    def __del__(self):
        x, report = solver.solve(small_b)
        print("solved", report.converged, newel.solve(lambda x: small @ x, small_b)[1].converged)
import sys
sys.modules["at_the_end"] = AtTheEnd()
"""
    result = ended(WORK["a long solve"], end=end)
    assert result.returncode == 0 and "solved True True" in result.stdout, result.stderr[-2000:]


def test_threads_that_are_no_daemons_finish_their_work():
    end = """
def last():
    time.sleep(0.2)
    print("solved", newel.solve(a, b)[1].converged)
threading.Thread(target=last).start()
"""
    result = ended(WORK["an operator"], threads=1, end=end)
    assert result.returncode == 0 and "solved True" in result.stdout


def test_a_daemon_thread_may_be_joined_by_an_exit_handler():
    end = """
import atexit
done = threading.Event()
def last():
    time.sleep(0.1)
    print("solved", newel.solve(lambda x: a @ x, b)[1].converged)
    done.set()
threading.Thread(target=last, daemon=True).start()
atexit.register(done.wait)
"""
    result = ended(WORK["a callback in Python"], threads=1, end=end)
    assert result.returncode == 0 and "solved True" in result.stdout


def test_the_lock_is_taken_only_by_what_survives_the_end():
    sources = Path(__file__).parents[1] / "src"
    for path in sources.iterdir():
        if path.name != "gil.hpp":
            assert "gil_scoped" not in path.read_text(), path.name
