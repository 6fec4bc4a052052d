# SPDX-License-Identifier: Apache-2.0
"""What the scripts that measure share: the modules and folders around them, real matrices, and what a result says of its run."""
import argparse
import datetime
import gzip
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
    """What was measured: the file that scripts/stage_python_device.sh writes, or that of the checkout."""
    staged = pathlib.Path(__file__).with_name("commit")
    if staged.is_file():
        return staged.read_text().strip()[:8]
    return output_of("git", "rev-parse", "--short", "HEAD") or None


def today():
    return datetime.date.today().isoformat()


def machine():
    return f"{reports.processor()}, {os.cpu_count()} cores"


def matrices_parser(doc, result):
    """The options of a script that runs on the matrices of a folder and writes a result."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=os.environ.get("NEWEL_TEST_DATA"),
                        help="folder with .mtx and .mtx.gz files, searched downwards (default: $NEWEL_TEST_DATA)")
    parser.add_argument("--newel", default=str(ROOT / "build/host/bin/newel"), help="the executable")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="runs at a time")
    parser.add_argument("--json", type=pathlib.Path, default=result, help="the file to write")
    return parser


def parsed(parser):
    settings = parser.parse_args()
    if not settings.folder or not pathlib.Path(settings.folder).is_dir():
        parser.error("no folder with matrices: name one, or set NEWEL_TEST_DATA")
    if not os.access(settings.newel, os.X_OK):
        parser.error(f"{settings.newel} does not exist: build it first, or pass it by --newel")
    return settings


def matrix_files(folder):
    return sorted(path for pattern in ("*.mtx", "*.mtx.gz") for path in pathlib.Path(folder).rglob(pattern))


def banner_of(path):
    """(field, symmetry, rows, cols) from the first lines of a Matrix Market file."""
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "rt", encoding="latin-1") as file:
        words = file.readline().lower().split()
        for line in file:
            if line.strip() and not line.startswith("%"):
                break
    rows, cols = (int(word) for word in line.split()[:2])
    return words[3], words[4], rows, cols
