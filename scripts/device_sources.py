#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What device code is made of: the files, a hash of each, and one of all.

Device sources are the files of core, reorder, spmv, precond, solver, apps, bench, c and tests whose names end in .cu or .cuh, or
match *_device.cpp, *_device.hpp or *_steps.hpp, and every header of these folders that one of them includes, directly or
through others. (What CMake finds out is no file of these folders.) A line of the manifest is the SHA-256 of a file, two
spaces, and its path; lines ascend by path. The hash of all is the SHA-256 of the manifest.

    device_sources.py                       prints the manifest
    device_sources.py --compare RECORD      says whether device tests that docs/results/device_tests.json records ran on
                                            these sources; exit status 0, or 77 where there is no record
"""
import argparse
import hashlib
import pathlib
import re
import sys

import reports

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("core", "reorder", "spmv", "precond", "solver", "apps", "bench", "c", "tests")
DEVICE = re.compile(r"(\.cuh?|_device\.[ch]pp|_steps\.hpp)$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.M)


def included(path):
    """The files of the repository that a file includes."""
    for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
        for candidate in (path.parent / name, ROOT / name, ROOT / "include" / name):
            if candidate.is_file():
                yield candidate.resolve()
                break


def device_sources():
    """Their paths, ascending."""
    waiting = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")
               if path.is_file() and DEVICE.search(path.name) and "emulation" not in path.relative_to(ROOT).parts]
    found = set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting.extend(included(path))
    return sorted(path.relative_to(ROOT).as_posix() for path in found)


def manifest():
    return "".join(f"{hashlib.sha256((ROOT / path).read_bytes()).hexdigest()}  {path}\n" for path in device_sources())


def hash_of(text):
    return hashlib.sha256(text.encode()).hexdigest()


def compare(record_path):
    """Prints what became of the sources since the record; returns the exit status."""
    if not record_path.exists():
        print(f"no record of device tests: {record_path.name} is written by scripts/test_device.sh on a machine with a GPU")
        return 77
    record = reports.load(record_path)
    now = manifest()
    where = f"the device tests of {record['date']} (commit {record['commit'][:12]}, {record['device']})"
    if record["source_hash"] == hash_of(now):
        print(f"{where} ran on these device sources")
        return 0
    hashes = {path: digest for digest, path in (line.split("  ", 1) for line in now.splitlines())}
    then = record["sources"]
    changed = sorted(path for path in hashes.keys() & then.keys() if hashes[path] != then[path])
    added, removed = sorted(hashes.keys() - then.keys()), sorted(then.keys() - hashes.keys())
    print(f"WARNING: {where} did not run on these device sources: {len(changed)} files have changed since, "
          f"{len(added)} were added, {len(removed)} removed")
    for path in (changed + added + removed)[:10]:
        print(f"  {path}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", type=pathlib.Path, metavar="RECORD")
    arguments = parser.parse_args()
    if arguments.compare is not None:
        sys.exit(compare(arguments.compare))
    sys.stdout.write(manifest())


if __name__ == "__main__":
    main()
