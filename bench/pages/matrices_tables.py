# SPDX-License-Identifier: Apache-2.0
"""docs/matrices.md, from docs/results/matrices.json as bench_matrices.py writes it."""
from page import DOCS, load, prose, row


def reached_by(entry, side):
    return [solver for solver, result in entry[side].items() if result["reached"]]


def describe(result):
    residual = "no x" if result["true_residual"] is None else f"{result['true_residual']:.1e}"
    mark = "**" if result["reached"] else ""
    if result["iterations"] is None:
        return result["status"]
    return f"{mark}{result['iterations']}, {residual}{mark}" + (
        "" if result["status"] == "converged" and result["reached"] else f", {result['status']}")


TITLES = {
    "lost": "Matrices that one of SciPy's solvers solves and none of Newel's does",
    "dishonest": "Runs reported as converged by Newel with a true residual above the tolerance",
    "unproven": "Matrices that plain `solve` does not solve, and that SciPy does not find singular",
    "proven": "Matrices that plain `solve` does not solve, and SciPy's evidence that they are singular to working precision",
    "slow": "Seconds of plain `solve` over those of the fastest right run; above 10 by name",
    "modest": "Runs not reported as converged by Newel with a true residual that meets the tolerance",
    "odd": "Runs that Newel refused, or that failed",
    "per_solver": "Matrices that one of SciPy's solvers solves and Newel's solver of the same name does not",
}


PLAIN = ["* `plain` is `newel solve` with the tolerance and no other option; SciPy's spilu + gmres and splu have no Jacobi",
         "* seconds are those of the setup and the solve, for both sides in one process of Python: the smallest of three"]


def lead_of(entries, findings):
    """Three sentences: what is compared, the result, and whether it is honest."""
    newel, scipy_ = (sum(bool(reached_by(entry, side)) for entry in entries) for side in ("newel", "scipy"))
    auto = sum(entry["newel"]["auto"]["reached"] for entry in entries)
    return (f"The tables show how each solver does on {len(entries)} real matrices with the simplest preconditioner. One of "
            f"Newel's solvers solves {newel} of them, `auto` alone {auto}, and one of SciPy's {scipy_}. Runs that Newel reports "
            f"as converged with a true residual above the tolerance: {len(findings['dishonest']) or 'none'}.")


def write():
    facts = load("matrices")
    entries, findings, left_out = facts["matrices"], facts["findings"], facts["left_out"]
    newel, scipy_ = entries[0]["newel"], entries[0]["scipy"]
    lines = ["# Newel on real matrices", "",
             "<!-- Written by bench/pages/write_all.py from docs/results; run it again instead of editing. -->", "",
             lead_of(entries, findings), *prose("matrices.how", facts=facts), *(PLAIN if "plain" in newel else []),
             "* left out: " + (", ".join(f"{len(names)} {why}" for why, names in sorted(left_out.items())) or "nothing"),
             "", "## Summary", "", f"{len(entries)} matrices.", "", "| solver | Newel | SciPy |", "|---|---|---|"]
    for solver in dict.fromkeys([*newel, *scipy_]):
        counts = [sum(entry[side][solver]["reached"] for entry in entries) if solver in entries[0][side] else ""
                  for side in ("newel", "scipy")]
        lines.append(f"| {solver} | {counts[0]} | {counts[1]} |")
    counts = [sum(bool(reached_by(entry, side)) for entry in entries) for side in ("newel", "scipy")]
    lines.append(f"| any of them | {counts[0]} | {counts[1]} |")
    for key in (key for key in TITLES if key in findings):
        title = TITLES[key]
        lines += ["", f"### {title}", ""] + ([f"* {line}" for line in findings[key]] or ["None."])
    header = ["matrix", "rows", "entries", "precond", *(f"Newel {s}" for s in newel), *(f"SciPy {s}" for s in scipy_)]
    lines += ["", "## All runs", "", row(header), "|---|" + "---:|" * 2 + "---|" * (len(header) - 3)]
    for entry in entries:
        lines.append(row([entry["matrix"], str(entry["rows"]), str(entry["nonzeros"]), entry["precond"],
                          *(describe(entry["newel"][s]) for s in newel), *(describe(entry["scipy"][s]) for s in scipy_)]))
    (DOCS / "matrices.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
