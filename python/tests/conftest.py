# SPDX-License-Identifier: Apache-2.0
"""Matrices for the tests, made by SciPy, and the judgement of a solution, which asks nothing of Newel."""

import numpy as np
import pytest
import scipy.sparse as sp
from device_kinds import kinds

import newel

# Tests marked "device" need a GPU. Where none answers they are skipped and counted.
DEVICES = newel.devices()


def pytest_collection_modifyitems(items):
    if not DEVICES:
        for item in items:
            if item.get_closest_marker("device"):
                item.add_marker(pytest.mark.skip(reason="no CUDA device"))


def pytest_terminal_summary(terminalreporter):
    if DEVICES:
        terminalreporter.write_line(f"device: {DEVICES[0]}; kinds of arrays: {', '.join(k.name for k in kinds()[0])}")
        for missing in kinds()[1]:
            terminalreporter.write_line(f"not there: {missing}")
        return
    skipped = [r for r in terminalreporter.stats.get("skipped", []) if "device" in getattr(r, "keywords", ())]
    if skipped:
        why = "no GPU answers, or its driver is missing" if newel._core.has_cuda else "this build has no CUDA"
        terminalreporter.write_line(f"{len(skipped)} device tests were skipped: {why}")


def laplacian(n: int, dtype=np.float64) -> sp.csr_array:
    """Five points on n x n: symmetric, positive definite."""
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    eye = sp.eye_array(n)
    a = (sp.kron(eye, line) + sp.kron(line, eye)).tocsr().astype(dtype)
    a.eliminate_zeros()  # SciPy stores those of full blocks
    return a


def convection(n: int) -> sp.csr_array:
    """A line with a wind: not symmetric, diagonally dominant."""
    return sp.diags_array([-1.6, 2.5, -0.4], offsets=[-1, 0, 1], shape=(n, n), format="csr")


def residual(A, x, b) -> float:
    """|b - A x| / |b|, by SciPy's product in double."""
    b = np.asarray(b, dtype=np.float64)
    r = b - A.astype(np.float64) @ np.asarray(x, dtype=np.float64)
    return float(np.linalg.norm(r) / np.linalg.norm(b))


@pytest.fixture
def rng():
    return np.random.default_rng(20261123)


@pytest.fixture
def count_solvers(monkeypatch):
    """A function that has a module make Solvers of a class which counts those that are `made` and `refreshed`."""
    class Counted(newel.Solver):
        made = refreshed = 0

        def __init__(self, *arguments, **keywords):
            Counted.made += 1
            super().__init__(*arguments, **keywords)

        def refresh(self, *arguments, **keywords):
            Counted.refreshed += 1
            super().refresh(*arguments, **keywords)

    def count(module):
        monkeypatch.setattr(module, "Solver", Counted)
        return Counted

    return count
