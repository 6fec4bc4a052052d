#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times `newel solve` with --precision mixed beside double, all else left to it.

    bench/run/bench_mixed.py SYSTEM... --newel build/cuda/bin/newel [--device cuda] [--json docs/results/mixed_NAME.json]

Every system is solved in turns in processes of their own, with b = ones; the least setup and solve of the rounds count.
Prints the ratios, the largest first, and writes them as a report. Systems that the program refuses (complex values, say)
are listed with its words. Needs a quiet machine.
"""
import argparse
import json
import math
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

from measured import reports, today, write

TIME_LIMIT = 120  # seconds of a process


def solve(newel, system, device, precision, report):
    """The report of one process, or what it said instead."""
    report.unlink(missing_ok=True)
    command = [newel, "solve", system, "--device", device, "--rhs", "ones", "--quiet", "--precision", precision, "--report",
               str(report)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"no end after {TIME_LIMIT} s"
    return json.loads(report.read_text()) if report.exists() else run.stderr.strip().splitlines()[-1]


def seconds_of(report):
    return report["seconds"]["setup"] + report["seconds"]["solve"]


def line_of(system, found):
    """One system: `found` holds the reports of the rounds by precision."""
    line = {"system": pathlib.Path(system).name, "rows": found["double"][0]["rows"],
            "nonzeros": found["double"][0]["nonzeros"]}
    for precision, rounds in found.items():
        best = min(rounds, key=seconds_of)
        line[precision] = {"seconds": seconds_of(best), "rounds": [seconds_of(report) for report in rounds],
                           **{key: best[key] for key in ("status", "iterations", "solver", "preconditioner", "format",
                                                         "true_relative_residual", "changed", "device_name")}}
    line["ratio"] = line["mixed"]["seconds"] / line["double"]["seconds"]
    return line


def measured(options):
    lines, refused = [], []
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        for system in options.systems:
            found = {"double": [], "mixed": []}
            problem = None
            for _ in range(options.rounds):
                for precision in found:
                    one = solve(options.newel, system, options.device, precision, report)
                    if isinstance(one, str):
                        problem = one
                    else:
                        found[precision].append(one)
                if problem:
                    break
            if problem:
                refused.append({"system": pathlib.Path(system).name, "reason": problem.replace(system, pathlib.Path(system).name)})
            else:
                lines.append(line_of(system, found))
    return lines, refused


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("systems", nargs="+", metavar="SYSTEM")
    parser.add_argument("--newel", required=True, help="the program")
    parser.add_argument("--device", default="host", choices=["host", "cuda"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", help="the report to write")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    lines, refused = measured(options)
    lines.sort(key=lambda line: -line["ratio"])
    for line in lines:
        print(f"{line['ratio']:6.2f}  {line['system']:44}  {1e3 * line['double']['seconds']:10.2f} ms  "
              f"{1e3 * line['mixed']['seconds']:10.2f} ms  {line['double']['iterations']:6} {line['mixed']['iterations']:6}  "
              f"{line['double']['status']}, {line['mixed']['status']}, {line['mixed']['solver']}")
    mean = math.exp(sum(math.log(line["ratio"]) for line in lines) / len(lines)) if lines else None
    if lines:
        print(f"{len(lines)} systems, mixed over double {mean:.3f} in the geometric mean, {lines[0]['ratio']:.2f} at most; "
              f"{len(refused)} refused")
    if options.json:
        command = ["bench/run/bench_mixed.py", *(pathlib.Path(word).name if "/" in word else word for word in sys.argv[1:])]
        report = {**reports.head("bench/run/bench_mixed.py"), "command": shlex.join(command),
                  "date": today(), "processor": reports.processor(),
                  "cores": os.cpu_count(), "load_average": load, "device": options.device, "rounds": options.rounds,
                  "mean_ratio": mean, "most_ratio": lines[0]["ratio"] if lines else None, "systems": lines, "refused": refused}
        write(options.json, report)
    return 0 if lines else 1


if __name__ == "__main__":
    sys.exit(main())
