#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how large the documents, the results and the code of the repository are, beside their limits.

    scripts/sizes.py [--since COMMIT]       --since: and how large they were in that commit

Files that git tracks are counted, as they are in the work tree. Code is what ends in .cpp, .hpp, .h, .cu, .cuh, .c, .f90, .py,
.sh, .cmake or .txt (CMakeLists.txt and the planted changes), all of its lines, empty ones and comments included. Sources are the
same without .txt. The fullest folder is that of core, spmv, precond and solver. scripts/class_sizes.py names the large classes,
scripts/type_names.py the types that share a name: the program would take one for the other.
Outside of core a virtual function tells what an object can do, never dynamic_cast. In core three casts ask whether a user's memory
or communicator is one of the library's. The exit status is 1 if a limit is exceeded, and 77 outside of a checkout.
"""
import argparse
import collections
import io
import pathlib
import re
import subprocess
import sys
import tarfile

import class_sizes
import type_names

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = (".cpp", ".hpp", ".h", ".cu", ".cuh", ".c", ".f90", ".py", ".sh", ".cmake", ".txt")
LIBRARY = ("core", "io", "reorder", "spmv", "precond", "solver", "distributed", "include")
AROUND = ("apps", "bench", "scripts", "tests")
SKIPPED = 77  # for the tests
LESS_AROUND = 12_000  # lines of code, than in the commit of --since
ROOMS = ("core", "spmv", "precond", "solver")  # folders that are read whole
CAST = re.compile(r"\bdynamic_cast\b")
LIMITS = {"lines of README.md": 130, "lines of docs/automatic-choices.md": 60, "lines of CHANGELOG.md": 120,
          "bytes of docs/results": 3_000_000, "bytes of its largest SVG": 150_000, "lines of the longest source": 450,
          "files in the fullest folder": 30, "dynamic_cast in the library, without core": 0,
          "large classes of library, apps and bench": 0, "types that share a name in a namespace": 0}


def git(*words):
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, check=True).stdout


def work_tree():
    names = git("ls-files", "-z").decode().split("\0")
    return {name: (ROOT / name).read_bytes() for name in names if (ROOT / name).is_file()}


def committed(commit):
    with tarfile.open(fileobj=io.BytesIO(git("archive", commit))) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}


def sizes(files):
    def lines(name):
        return files.get(name, b"").count(b"\n")

    def source(name):
        return files[name].decode(errors="replace")

    def code(folder):
        return sum(lines(name) for name in files if name.startswith(folder + "/") and name.endswith(CODE))

    sources = [name for name in files if name.endswith(CODE) and not name.endswith(".txt")]
    rooms = collections.Counter(str(pathlib.PurePosixPath(name).parent) for name in files if name.split("/")[0] in ROOMS)
    cpp = [name for name in sources if name.endswith((".cpp", ".hpp", ".cu", ".cuh"))]
    library = [name for name in cpp if name.split("/")[0] in LIBRARY]
    without_core = [name for name in library if not name.startswith(("core/", "include/newel/core/"))]
    around = [name for name in cpp if name.split("/")[0] in ("apps", "bench")]
    results = {name: len(content) for name, content in files.items() if name.startswith("docs/results/")}
    return {
        "lines of README.md": lines("README.md"),
        "lines of docs/automatic-choices.md": lines("docs/automatic-choices.md"),
        "lines of CHANGELOG.md": lines("CHANGELOG.md"),
        **{f"lines of {folder}": code(folder) for folder in AROUND},
        f"lines of {' + '.join(AROUND)}": sum(map(code, AROUND)),
        f"lines of the library ({', '.join(LIBRARY)})": sum(map(code, LIBRARY)),
        "bytes of docs/results": sum(results.values()),
        "bytes of its largest SVG": max((size for name, size in results.items() if name.endswith(".svg")), default=0),
        "lines of the longest source": max(map(lines, sources), default=0),
        "files in the fullest folder": max(rooms.values(), default=0),
        "dynamic_cast in the library, without core": sum(len(CAST.findall(source(name))) for name in without_core),
        "large classes of library, apps and bench": sum(len(class_sizes.too_large(source(name)))
                                                        for name in library + around),
        "types that share a name in a namespace": len(type_names.shared((name, source(name)) for name in library + around)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", metavar="COMMIT")
    since = parser.parse_args().since
    if not (ROOT / ".git").exists():
        print("no checkout of git: its files cannot be listed")
        sys.exit(SKIPPED)
    now, then, limits = sizes(work_tree()), sizes(committed(since)) if since else {}, dict(LIMITS)
    if since:
        around = f"lines of {' + '.join(AROUND)}"
        limits[around] = then[around] - LESS_AROUND
    print(f"{'':68}{'now':>12}{'at most':>12}" + (f"{since[:10]:>12}{'change':>12}" if since else ""))
    for name, size in now.items():
        print(f"{name:68}{size:12,}" + (f"{limits[name]:12,}" if name in limits else f"{'':12}")
              + (f"{then[name]:12,}{size - then[name]:+12,}" if since else ""))
    over = [name for name, limit in limits.items() if now[name] > limit]
    print("over the limit: " + "; ".join(over) if over else "all limits are met")
    sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()
