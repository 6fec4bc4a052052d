# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that puts newel.read instead of SciPy's mmread, and writes how each test ended."""

import json
import os

import pytest
import scipy.io
import scipy.io._fast_matrix_market
import scipy.io._mmio
import scipy.sparse as sp

import newel


def mmread(source, *, spmatrix=True):
    """What SciPy's reader is called like."""
    result = newel.read(source)
    return sp.csr_matrix(result) if sp.issparse(result) and spmatrix else result


for module in (scipy.io, scipy.io._mmio, scipy.io._fast_matrix_market):
    module.mmread = mmread

ends = {}


@pytest.hookimpl
def pytest_runtest_logreport(report):
    """Keeps how a test ended, and of a failed one the last line of its error."""
    if report.when != "call" and not report.failed:
        return
    name = report.nodeid.split("::", 1)[1]
    ends[name] = str(report.longrepr).strip().splitlines()[-1] if report.failed else ""


@pytest.hookimpl
def pytest_sessionfinish():
    """Writes them to the file that the environment names."""
    with open(os.environ["NEWEL_MMIO_ENDS"], "w") as file:
        json.dump(ends, file)
