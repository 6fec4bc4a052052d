# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/performance-multigrid-h200.md, of `newel_bench_multigrid` and of other packages' multigrid; see
write_performance.py."""
import re
import statistics

from page import command, folded, link, number, prose, source, table

MANY = 300  # iterations with Jacobi
PACKAGES = ("hypre", "AmgX", "amgcl")


def plain(system):
    return f"`{system.replace('.mesh.gz', '')}`"


def solve_of(system, precond, form="csr"):
    return next((s for s in system["solves"] if s["precond"] == precond and s["format"].split(":")[0] == form), None)


def milliseconds(solve):
    return solve["solve"]["milliseconds"]["median"]


def own_rows(data):
    for system in data["systems"]:
        amg = system["amg"]
        ehyb, csr, jacobi = solve_of(system, "amg", "ehyb"), solve_of(system, "amg"), solve_of(system, "jacobi", "ehyb")
        cells = [plain(system["system"]), f"{system['rows']:,}", number(amg["setup"]["milliseconds"]["median"]),
                 number(amg["refresh"]["milliseconds"]["median"]), number(amg["cycle"]["microseconds"]["median"]),
                 number(milliseconds(ehyb)), number(milliseconds(csr)), f"{ehyb['iterations']}", number(milliseconds(jacobi)),
                 f"{jacobi['iterations']:,}"]
        yield cells


def best_run(rivals, package, system):
    """The variant of least setup and solve whose true residual met the tolerance."""
    runs = [r for r in rivals["runs"] if r["package"] == package and r["system"] == system and not r.get("error")]
    return min(runs, key=lambda r: r["setup_seconds"] + r["solve_seconds_median"], default=None)


def own_run(system):
    """Newel's solve with AMG in CSR, with the keys of other packages' runs."""
    csr = solve_of(system, "amg")
    return {"setup_seconds": csr["setup_milliseconds"] / 1e3, "solve_seconds_median": milliseconds(csr) / 1e3,
            "iterations": csr["iterations"]}


def run_milliseconds(run):
    return 1e3 * (run["setup_seconds"] + run["solve_seconds_median"])


def setup_and_solve(run):
    return f"{number(1e3 * run['setup_seconds'])} + {number(1e3 * run['solve_seconds_median'])} ({run['iterations']})"


def over_newel(system, rivals, package):
    """Setup and solve of a package's best variant over Newel's; None if none has met the tolerance."""
    run = best_run(rivals, package, system["system"])
    return run and run_milliseconds(run) / run_milliseconds(own_run(system))


def peer_rows(own_runs, rivals):
    """A row for each (system, Newel's run) on which a package has met the tolerance."""
    for system, own in own_runs:
        def cell(run, own=own):
            return f"{setup_and_solve(run)}, **{number(run_milliseconds(run) / run_milliseconds(own))}**" if run else "-"

        runs = [best_run(rivals, package, system) for package in PACKAGES]
        if any(runs):
            yield [plain(system), setup_and_solve(own), *map(cell, runs)]


def own_runs_beside(data):
    return ((system["system"], own_run(system)) for system in data["systems"])


def own_runs_among(runs):
    return ((run["system"], run) for run in runs if run["package"] == "Newel" and run["variant"].endswith("csr"))


def refined(system):
    return system["system"].rsplit(":", 1)[0], int(system["system"].rsplit(":", 1)[1])


def mesh_lines(meshes):
    by_name = {system["system"]: system for system in meshes["systems"]}
    rows, shares, growths = [], [], []
    for system in meshes["systems"]:
        amg, jacobi = solve_of(system, "amg"), solve_of(system, "jacobi")
        name, level = refined(system)
        both = amg["status"] == jacobi["status"] == "converged"
        if both and level < 2 and jacobi["iterations"] > MANY:
            shares.append(amg["iterations"] / jacobi["iterations"])
        coarser = by_name.get(f"{name}:{level - 1}")
        growth = None
        if both and coarser is not None and re.search("mesh:(part|heart)", name):
            growth = amg["iterations"] / solve_of(coarser, "amg")["iterations"]
            growths.append(growth)
        complexity = system["amg"]["figures"].get("operator complexity")
        cells = [plain(system["system"]), f"{system['rows']:,}",
                 *(f"{s['iterations']:,}" + ("" if s["status"] == "converged" else f", {s['status']}") for s in (jacobi, amg)),
                 number(growth) if growth else "", f"{complexity:.2f}" if complexity else "-",
                 number(system["amg"]["setup"]["milliseconds"]["median"]), number(milliseconds(amg)), number(milliseconds(jacobi))]
        rows.append(cells)
    over = sum(growth > 1.25 for growth in growths)
    return [
        *prose("multigrid.meshes", many=MANY, shares=len(shares), growths=len(growths), over=over, meshes=meshes,
               share=number(statistics.geometric_mean(shares)),
               most_share=number(max(shares)), growth=number(statistics.geometric_mean(growths)),
               most_growth=number(max(growths))),
        *folded("the command", command(meshes).split("\n")),
        *folded("every mesh", table(["system", "rows", "Jacobi", "AMG", "growth", "operator complexity", "hierarchy, ms",
                                     "solve, ms", "with Jacobi, ms"], rows, 1)),
    ]


def section(data, beside, rivals, large, meshes):
    return [
        f"## Multigrid, {data['device']}", "",
        source("amg_h200.json", data), "",
        *table(["system", "rows", "hierarchy, ms", "refresh, ms", "cycle, us", "solve in EHYB, ms", "in CSR, ms", "iterations",
                "with Jacobi in EHYB, ms", "iterations"], own_rows(data), 1),
        *prose("multigrid.packages", rivals=rivals, large=large),
        *table(["system", "Newel", *PACKAGES],
               [*peer_rows(own_runs_beside(beside), rivals), *peer_rows(own_runs_among(large["runs"]), large)], 1), "",
        "### Meshes and their refinements", "", *mesh_lines(meshes),
    ]
