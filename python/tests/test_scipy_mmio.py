# SPDX-License-Identifier: Apache-2.0
"""SciPy's own tests of its reader of Matrix Market files, as installed, run through newel.read. What differs is listed here with
its reason; a difference that is new, and one that has gone, fails."""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

# Patterns of the tests' names, and why they end otherwise.
EXPECTED = {
    r"test_bad_number_of_(array|coordinate)_header_fields": "refused too, with file and line in words of our own",
    r"test_read_over64bit_integer": "integers beyond 64 bits are read as the nearest double; SciPy raises OverflowError",
    r"test_read_skew|test_read_64bit_integer_sparse_skew": "a diagonal that is not zero is refused in a skew-symmetric file",
    r"test_precision": "asks for a COO array, of up to 10^9 rows with one entry; read returns CSR, and refuses so many empty rows",
}


def _differences(tmp_path):
    """The tests of SciPy's file and the last lines of the errors of those that fail; None where it is not installed."""
    spec = importlib.util.find_spec("scipy.io")
    tests = pathlib.Path(spec.submodule_search_locations[0]) / "tests" / "test_mmio.py"
    if not tests.is_file():
        return None
    ends = tmp_path / "ends.json"
    here = pathlib.Path(__file__).parent
    environment = dict(os.environ, NEWEL_MMIO_ENDS=str(ends))
    environment["PYTHONPATH"] = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "mmio_through_read", "-p", "no:cacheprovider", "-c", os.devnull]
    subprocess.run([*command, str(tests)], env=environment, cwd=tmp_path, check=False, stdout=subprocess.DEVNULL)
    return json.loads(ends.read_text())


def test_scipys_tests_of_mmread_pass_but_for_what_is_listed(tmp_path):
    ends = _differences(tmp_path)
    if ends is None:
        pytest.skip("this SciPy was installed without its tests")
    assert len(ends) > 50
    failed = {name: end for name, end in ends.items() if end}
    unlisted = {name: end for name, end in failed.items() if not any(re.search(p, name) for p in EXPECTED)}
    assert not unlisted
    gone = [pattern for pattern in EXPECTED if not any(re.search(pattern, name) for name in failed)]
    assert not gone
    passes_now = [name for name in ends if name not in failed and any(re.search(p, name) for p in EXPECTED)]
    assert not passes_now
    print(f"{len(ends) - len(failed)} of {len(ends)} pass")
