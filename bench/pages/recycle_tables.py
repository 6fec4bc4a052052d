# SPDX-License-Identifier: Apache-2.0
"""The table of docs/tutorial-transient.md on recycled vectors, as newel_bench_recycle measures them."""
from page import RESULTS, link, load, place, row, write_parts

# What a problem is, by its name in the results.
PROBLEMS = {
    "outliers": "inclusions with 1e6 times the conductivity", "jumps": "the same", "bodies": "12 bodies on soft springs",
    "slivers": "elasticity with 24 slivers", "springs": "an elastic body on soft springs", "slender": "a slender elastic beam",
    "smooth": "7-point Laplacian", "wind": "inclusions and wind, by GMRES",
}


def runs():
    return [(name, load(name)) for name in ("recycle_host", "recycle_h200") if (RESULTS / f"{name}.json").exists()]


def table_of(measured):
    values = [one["recycle"] for one in measured["sequences"][0]["recycle"]]
    lines = [row(["sequence", "preconditioner", "iterations of a plain solve", *[f"`{v}`" for v in values[1:]]]),
             "|---|---|---:|" + "---:|" * (len(values) - 1)]
    for sequence in measured["sequences"]:
        plain, *others = sequence["recycle"]
        cells = [f"{one['iterations_ratio']:.2f}, {one['seconds_ratio']:.2f}" for one in others]
        lines.append(row([PROBLEMS[sequence["problem"]], sequence["system"]["preconditioner"],
                          f"{plain['iterations_per_solve']:.0f}", *cells]))
    return lines


def write():
    parts = []
    for name, measured in runs():
        parts += [f"Iterations and time of {measured['solves']} solves, harvests included, over those without recycled vectors, "
                  f"on {place(measured)}:", "", *table_of(measured), "",
                  f"Measured by `{measured['command']}` ({link(name + '.json')}).", ""]
    if parts:
        write_parts("tutorial-transient.md", "recycle_tables.py", {"recycle": parts[:-1]})


if __name__ == "__main__":
    write()
