# SPDX-License-Identifier: Apache-2.0
"""The table of the direct solver in docs/howto/which-solver.md, from docs/results/direct_host.json as
newel_bench_direct writes it."""
import statistics

from page import folded, load, row, table, write_parts

PARTS = {"first": "factors and solve", "again": "new values and solve", "solve": "solve"}


def least(system, part, key="milliseconds"):
    return system[part][key]["min"]


def ratio(system, part):
    """Of the least times: other programs of the machine only add to them."""
    return least(system, part) / least(system, part, "alone_milliseconds")


def without_check(system, part):
    return (least(system, part) - system["check_milliseconds"]["min"]) / least(system, part, "alone_milliseconds")


def system_row(system):
    cells = [f"`{system['system']}`", system["factorisation"].replace(" by", ","), f"{system['rows']:,}"]
    for part in PARTS:
        cells += [f"{least(system, part, 'alone_milliseconds'):.3g}", f"{ratio(system, part):.2f}",
                  f"{without_check(system, part):.2f}"]
    return row(cells)


def summary(document, systems):
    means = {part: (statistics.geometric_mean(ratio(s, part) for s in systems),
                    statistics.geometric_mean(without_check(s, part) for s in systems)) for part in PARTS}
    said = "; ".join(f"{name} {means[part][0]:.2f}, without the check {means[part][1]:.2f}" for part, name in PARTS.items())
    return (f"Beside the library called alone, on {len(systems)} matrices, geometric means of the ratios: {said}. The check is "
            "b - A x in twice the precision, once in every solve. "
            f"(`newel_bench_direct`, {document['date']}, {document['processor']}, one thread, least of "
            f"{len(systems[0]['first']['milliseconds']['samples'])} repeats; the figures are in "
            "[results/direct_host.json](../results/direct_host.json).)")


def write():
    document = load("direct_host")
    systems = [system for system in document["systems"] if "first" in system]
    header = ["matrix", "factors", "rows"]
    for name in PARTS.values():
        header += [f"{name}, ms alone", "ratio", "without the check"]
    write_parts("howto/which-solver.md", "direct_tables.py", {
        "direct": [summary(document, systems), "",
                   *folded("All matrices", table(header, [system_row(s) for s in systems], 2))[:-1]]})


if __name__ == "__main__":
    write()
