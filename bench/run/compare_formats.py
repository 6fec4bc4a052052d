#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solves every real square matrix of a folder in every format and compares with csr: who converges, in how many
iterations.

    bench/run/compare_formats.py [FOLDER] [--newel build/host/bin/newel] [--device host] [--json FILE] [--most-rows N]

FOLDER defaults to $NEWEL_TEST_DATA. Each matrix is solved by `auto`, CG, BiCGStab and GMRES(50) in csr and, where csr
converges, in each other format and variant. Formats add in another order, so that counts may move: 2 % or 2 iterations are
allowed. On ill-conditioned matrices rounding moves them further. Where a count has moved, csr solves the same system in
five random numberings, which changes nothing but the order of its sums: where csr's own counts then differ by more than what is
allowed, the matrix is listed as sensitive, with csr's counts beside the formats'. BiCGStab varies two-fold by rounding alone: it is
only reported. Exit status 1 where a format does not converge that csr does, but for BiCGStab and sensitive matrices.
Needs numpy and SciPy.
"""
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import numpy as np
import scipy.io
import scipy.sparse

import measured
import reports

SOLVERS = ("auto", "cg", "bicgstab", "gmres")
NUMBERINGS = 5
FORMATS = ("ehyb", "ehyb:paper", "ehyb:halo", "ehyb:block", "ehyb-symmetric", "bce", "ellwarp", "ellwarp:k1", "ellwarp:k1r",
           "ellwarp:k1rs", "ellwarp:k2", "ellwarp:k2r", "ellwarp:k2rs", "evchyb", "evchyb:renumbered")


def solve(newel, matrix, solver, form, device, rhs="A*random:1"):
    """The JSON report of one solve, or None where newel refuses the matrix."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        command = [newel, "solve", str(matrix), "--rhs", rhs, "--solver", solver, "--format", form, "--device", device,
                   "--threads", "1", "--max-iterations", "5000", "--quiet", "--report", report.name]
        command += ["--restart", "50"] if solver == "gmres" else []
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            return None
        return reports.load(report.name)


def renumbered_counts(newel, matrix, solver, device):
    """Iterations of csr on random numberings of the same system; None for one that does not converge."""
    a = scipy.sparse.csr_matrix(scipy.io.mmread(matrix), dtype=np.float64)
    x = np.random.default_rng(1).uniform(-1.0, 1.0, a.shape[0])
    counts = []
    with tempfile.TemporaryDirectory() as folder:
        file, rhs = os.path.join(folder, "a.mtx"), os.path.join(folder, "b.mtx")
        for seed in range(NUMBERINGS):
            order = np.random.default_rng(seed).permutation(a.shape[0])
            b = a[order][:, order]
            scipy.io.mmwrite(file, b, precision=17, symmetry="general")
            scipy.io.mmwrite(rhs, (b @ x[order]).reshape(-1, 1), precision=17)
            report = solve(newel, file, solver, "csr", device, rhs)
            counts.append(report["iterations"] if report and report["converged"] else None)
    return counts


def spread_too_far(counts):
    """Whether the counts differ by more than is allowed, or one of them is missing."""
    return None in counts or max(counts) - min(counts) > max(2.0, 0.02 * max(counts))


def compare(newel, matrix, device, most_rows):
    result = {"matrix": matrix.name, "solvers": {}}
    for solver in SOLVERS:
        base = solve(newel, matrix, solver, "csr", device)
        if base is None or base["rows"] > most_rows:
            return None
        result["rows"], result["nonzeros"] = base["rows"], base["nonzeros"]
        if not base["converged"]:
            continue
        expected = base["iterations"]
        allowed = max(2.0, 0.02 * expected)
        rows = {}
        for form in FORMATS:
            found = solve(newel, matrix, solver, form, device)
            rows[form] = {"converged": found is not None and found["converged"],
                          "iterations": found and found["iterations"],
                          "status": found["status"] if found else "refused"}
            counts = solver != "bicgstab"
            rows[form]["as_csr"] = rows[form]["converged"] and (
                not counts or abs(found["iterations"] - expected) <= allowed)
        entry = {"csr": expected, "formats": rows}
        if solver != "bicgstab" and not all(row["as_csr"] for row in rows.values()):
            entry["csr_renumbered"] = renumbered_counts(newel, matrix, solver, device)
            entry["sensitive"] = spread_too_far(entry["csr_renumbered"] + [expected])
        result["solvers"][solver] = entry
    return result


def main():
    parser = measured.matrices_parser(__doc__, None)
    parser.add_argument("--device", default="host")
    parser.add_argument("--most-rows", type=int, default=10**9)
    options = measured.parsed(parser)
    matrices = measured.matrix_files(options.folder)
    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        work = [pool.submit(compare, options.newel, m, options.device, options.most_rows) for m in matrices]
        results = [r for r in (w.result() for w in work) if r is not None]

    lost, moved, sensitive, chance, solves = [], [], [], [], 0
    for result in results:
        for solver, rows in result["solvers"].items():
            solves += len(rows["formats"])
            differing = {form: row for form, row in rows["formats"].items() if not row["as_csr"]}
            if not differing:
                continue
            found = ", ".join(f"{form} {row['iterations'] if row['converged'] else row['status']}"
                              for form, row in differing.items())
            line = f"{result['matrix']} {solver}: csr {rows['csr']}; {found}"
            if solver == "bicgstab":
                chance.append(line)
            elif rows["sensitive"]:
                sensitive.append(f"{line}; csr renumbered {rows['csr_renumbered']}")
            elif all(row["converged"] for row in differing.values()):
                moved.append(line)
            else:
                lost.append(line)
    for title, lines in (("does not converge where csr does", lost), ("counts differ by more than 2 %", moved),
                         ("so do csr's own when it is renumbered", sensitive),
                         ("BiCGStab does not converge in every format", chance)):
        print(f"{title}: {len(lines)}")
        for line in lines:
            print("  " + line)
    print(f"{solves} solves of {len(results)} matrices compared with csr")
    if options.json:
        report = {**reports.head("bench/run/compare_formats.py"), "date": measured.today(),
                  "device": options.device, "solves": solves, "lost": lost, "moved": moved, "sensitive": sensitive, "bicgstab": chance,
                  "matrices": results}
        measured.write(options.json, report)
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
