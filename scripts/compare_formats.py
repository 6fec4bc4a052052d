#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solves every real square matrix of a folder in every format and compares with csr: who converges, in how many
iterations.

    scripts/compare_formats.py [FOLDER] [--purlin build/host/bin/purlin] [--device host] [--json FILE] [--most-rows N]

FOLDER defaults to $PURLIN_TEST_DATA. Each matrix is solved by CG, BiCGStab and GMRES(50) in csr and, where csr
converges, in each other format and variant. Formats add in another order, so that a count may move: by CG on positive
definite systems and by GMRES, 2 % or 2 iterations are allowed. BiCGStab's count varies two-fold by rounding alone and is
only reported. Exit status 1 where a format fails that csr does not.
"""
import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOLVERS = ("cg", "bicgstab", "gmres")
FORMATS = ("ehyb", "ehyb:paper", "ehyb:halo", "ehyb:block", "bce", "ellwarp", "ellwarp:k1", "ellwarp:k1r", "ellwarp:k1rs",
           "ellwarp:k2", "ellwarp:k2r", "ellwarp:k2rs", "evchyb", "evchyb:renumbered")


def solve(purlin, matrix, solver, form, device):
    """The JSON report of one solve, or None where purlin refuses the matrix."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [purlin, "solve", str(matrix), "--solver", solver, "--format", form, "--device", device, "--threads",
                   "1", "--max-iterations", "5000", "--restart", "50", "--quiet", "--report", report.name]
        if solver != "gmres":
            command[command.index("--restart"):command.index("--restart") + 2] = []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            return None
        return json.load(open(report.name, encoding="utf-8"))


def compare(purlin, matrix, device, most_rows):
    result = {"matrix": matrix.name, "solvers": {}}
    for solver in SOLVERS:
        base = solve(purlin, matrix, solver, "csr", device)
        if base is None or base["rows"] > most_rows:
            return None
        result["rows"], result["nonzeros"] = base["rows"], base["nonzeros"]
        if not base["converged"]:
            continue
        expected = base["iterations"]
        allowed = max(2.0, 0.02 * expected)
        rows = {}
        for form in FORMATS:
            found = solve(purlin, matrix, solver, form, device)
            rows[form] = {"converged": found is not None and found["converged"],
                          "iterations": found and found["iterations"],
                          "status": found["status"] if found else "refused"}
            counts = solver != "bicgstab"
            rows[form]["as_csr"] = rows[form]["converged"] and (
                not counts or abs(found["iterations"] - expected) <= allowed)
        result["solvers"][solver] = {"csr": expected, "formats": rows}
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=os.environ.get("PURLIN_TEST_DATA", ""))
    parser.add_argument("--purlin", default=str(ROOT / "build/host/bin/purlin"))
    parser.add_argument("--device", default="host")
    parser.add_argument("--json", default="")
    parser.add_argument("--most-rows", type=int, default=10**9)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    folder = pathlib.Path(options.folder)
    folder = folder / "matrices" if (folder / "matrices").is_dir() else folder
    matrices = sorted(p for p in folder.iterdir() if p.name.endswith((".mtx", ".mtx.gz")))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        work = [pool.submit(compare, options.purlin, m, options.device, options.most_rows) for m in matrices]
        results = [r for r in (w.result() for w in work) if r is not None]

    lost, moved, solves = [], [], 0
    for result in results:
        for solver, rows in result["solvers"].items():
            for form, row in rows["formats"].items():
                solves += 1
                if row["as_csr"]:
                    continue
                line = (f"{result['matrix']} {solver} {form}: {row['status']} after {row['iterations']}, "
                        f"csr converged after {rows['csr']}")
                (moved if row["converged"] else lost).append(line)
    for title, lines in (("does not converge", lost), ("counts differ by more than 2 %", moved)):
        print(f"{title}: {len(lines)}")
        for line in lines:
            print("  " + line)
    print(f"{solves} solves of {len(results)} matrices compared with csr")
    if options.json:
        report = {"schema": 1, "date": datetime.date.today().isoformat(), "device": options.device,
                  "command": "scripts/compare_formats.py", "solves": solves, "lost": lost, "moved": moved,
                  "matrices": results}
        pathlib.Path(options.json).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
