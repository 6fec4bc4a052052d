# SPDX-License-Identifier: Apache-2.0
"""The first section of docs/performance.md: where the time of an iteration goes, from a report of `newel bench solve`;
see write_performance.py."""
from page import link, load_all, number, prose, row, tables_page
from solve_tables import iteration_ms, measured, solve_ms, usable


def find(system, by, built=None):
    """The line of CG with Jacobi, in a format or any variant of it; None if there is none."""
    for line in measured(system):
        if (line["by"], line["solver"], line["precond"]) == (by, "cg", "jacobi"):
            if built is None or line["built"].split(":")[0] == built:
                return line
    return None


def microseconds(line):
    return f"{1e3 * iteration_ms(line):,.1f}"


def bytes_an_entry(system, line):
    """Of the product's own count, without x read and y written once."""
    values = 8 if system["precision"] == "double" else 4
    return (line["product_bytes"] - 2 * values * system["rows"]) / system["nonzeros"]


def rows(data):
    table = []
    for system in data["systems"]:
        if system["precision"] != "double":
            continue
        lines = [find(system, "cublas+cusparse"), find(system, "cublas+cusparse:graph"), find(system, "newel", "csr"),
                 find(system, "newel", "ehyb"), find(system, "newel", "ehyb-symmetric")]
        if None in lines or not all(map(usable, lines)):
            continue
        fastest = min(lines, key=iteration_ms)
        cells = [system["system"], f"{system['rows']:,}"] + [microseconds(line) for line in lines]
        cells += [f"{bytes_an_entry(system, line):.1f}" for line in lines[2:]]
        cells += [f"{fastest['percent_of_floor']:.0f} %", f"{iteration_ms(lines[0]) / iteration_ms(fastest):.1f}"]
        table.append(row(cells))
    return table


def ours(data, by):
    """System and line of CG with Jacobi in EHYB, in double."""
    pairs = [(system, find(system, by, "ehyb")) for system in data["systems"] if system["precision"] == "double"]
    return [(system, line) for system, line in pairs if line is not None]


def setup_in_products(name, products):
    """How long EHYB took to be ready on the meshes and grids of a report of products."""
    spans = [line["setup_in_products"] for system in products["systems"] for line in system["formats"]
             if system["system"].startswith(("mesh:", "generate:")) and line["name"] == "ehyb" and line["refused"] is None]
    if not spans:
        return []
    return [f"Building EHYB takes as long as {min(spans):,.0f} to {max(spans):,.0f} of its own products (meshes and grids in "
            f"[Products]({tables_page(name)}))."]


def setup_in_iterations(data):
    spans = [1e3 * line["setup_seconds"] / iteration_ms(line) for _, line in ours(data, "newel")]
    if not spans:
        return []
    return [f"Setting up a whole system, with vectors and freshly allocated memory, took as long as {min(spans):,.0f} to "
            f"{max(spans):,.0f} iterations here."]


def chosen_precision():
    """On solves that chose the precision themselves, from the reports of bench_mixed.py; empty without any."""
    runs = []
    for name, report in load_all("mixed_auto_*"):
        systems = report["systems"]
        single = sum("mixed" in line["mixed"]["solver"] for line in systems)
        device = systems[0]["double"]["device_name"] or "a host"
        runs += [f"    * On {device}, {single} of {len(systems)} systems did. Mixed took {report['mean_ratio']:.2f} times as long as "
                 f"double in the geometric mean, {report['most_ratio']:.2f} at most (`{systems[0]['system']}`, "
                 f"{1e3 * systems[0]['double']['seconds']:.0f} ms in double; {link(name)})."]
    if not runs:
        return []
    return ["", "    If format and preconditioner are left to `auto`, a system iterates in single precision only if that is expected to "
            "be faster. Each solve below had a process of its own.", "", *runs]


def mixed_item(data):
    """What mixed precision gains, if it was measured and converged."""
    triples = [(iteration_ms(double) / iteration_ms(mixed), solve_ms(double) / solve_ms(mixed), system["system"])
               for (system, double), (other, mixed) in zip(ours(data, "newel"), ours(data, "newel:mixed"))
               if system is other and not double.get("resident") and usable(double) and usable(mixed)]
    if not triples:
        return []
    factors = ", ".join(f"{iteration:.2f} and {number(solve)} (`{name}`)" for iteration, solve, name in triples)
    return [*prose("why_fast.mixed", factors=factors), *chosen_precision()]


def section(name, data, products):
    """From a report of solves on a device, and one of products there with its name or None."""
    setups = (setup_in_products(*products) if products else []) + setup_in_iterations(data) or ["Its time was not measured here."]
    return [
        *prose("why_fast.intro", data=data, page=tables_page(name)),
        *rows(data),
        *prose("why_fast.reasons", stem=name.partition('.')[0], setups=' '.join(setups)),
        *mixed_item(data),
        "",
        "None of this changes the number of iterations. Multigrid (`--precond amg`, [Preconditioners](preconditioners.md)) "
        "needs far fewer on large systems ([measured](performance-multigrid-h200.md)).",
        "",
    ]
