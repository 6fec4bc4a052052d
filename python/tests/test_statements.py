# SPDX-License-Identifier: Apache-2.0
"""Random small systems through the package, judged in exact arithmetic by scripts/check_statements.py."""

import pathlib
import subprocess
import sys

import pytest

OPEN = pathlib.Path(__file__).parents[2] / "tests" / "statements" / "open.txt"
SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "check_statements.py"


@pytest.mark.skipif(not SCRIPT.exists(), reason="without the sources there is no scripts folder")
def test_no_new_statement_of_a_thousand_random_systems_is_false():
    """Of the 5,000 systems of continuous integration those that go through the package; ctest has the others."""
    done = subprocess.run([sys.executable, SCRIPT, "--python", sys.executable, "--interfaces", "python",
                           "--systems", "5000", "--open", OPEN], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-20000:] + done.stderr[-2000:]
