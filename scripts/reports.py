#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports as JSON, also gzipped: how they begin, and reading them. docs/reports.md says what the schema number promises.

    reports.py FILE...      says for each file what wrote it; fails where one does not begin as a report of this schema
"""
import gzip
import json
import pathlib
import platform
import sys

SCHEMA = 1  # report_schema in apps/common/report_head.hpp


def head(program):
    """How a report that `program` writes begins."""
    return {"schema": SCHEMA, "program": program}


def processor():
    """The name of this machine's processor, or of its architecture where the system has none."""
    info = pathlib.Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def load(path):
    """The report in a file FILE.json, or in FILE.json.gz. Ends the program if its schema is another one."""
    path = pathlib.Path(path)
    zipped = path.with_name(path.name + ".gz")
    path = zipped if zipped.exists() and not path.exists() else path
    content = path.read_bytes()
    report = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    found = report.get("schema") if isinstance(report, dict) else None
    if found != SCHEMA:
        sys.exit(f"{path}: schema {found}, expected {SCHEMA}: written by another version of Newel; see docs/reports.md")
    return report


def main():
    for path in sys.argv[1:]:
        report = load(path)
        if list(report)[:2] != ["schema", "program"]:
            sys.exit(f"{path}: begins with {', '.join(list(report)[:2])}, expected schema, program")
        print(f"{path}: {report['program']}")


if __name__ == "__main__":
    main()
