# SPDX-License-Identifier: Apache-2.0
"""What the scripts that measure share: the modules and folders around them, and what a result says of its run."""
import datetime
import os
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
RESULTS = ROOT / "docs" / "results"
sys.path += [str(ROOT / "scripts"), str(BENCH), str(BENCH / "pages")]

import reports  # noqa: E402
from compact_results import write  # noqa: E402, F401


def output_of(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT).stdout.strip()


def commit():
    return output_of("git", "rev-parse", "--short", "HEAD") or None


def today():
    return datetime.date.today().isoformat()


def machine():
    return f"{reports.processor()}, {os.cpu_count()} cores"
