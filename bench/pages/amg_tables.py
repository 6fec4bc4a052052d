# SPDX-License-Identifier: Apache-2.0
"""The tables of AMG in docs/preconditioners-measured.md, from docs/results/amg_host.json as compare_amg.py writes it."""
import statistics

from page import folded, link, load, table, write_parts

SMOOTHERS = ("auto", "fsai", "chebyshev")
MANY = 300  # iterations with Jacobi


def seconds(run):
    return run["setup_seconds"] + run["solve_seconds"]


def count(run):
    return f"{run['iterations']:,}" if run["converged"] else "not converged"


def system_table(document):
    runs = {(run["system"], run["precond"]): run for run in document["runs"]}
    rows = []
    for system in document["systems"]:
        jacobi, amg = runs[system["name"], "jacobi"], runs[system["name"], "amg"]
        both = jacobi["converged"] and amg["converged"]
        share = f"{amg['iterations'] / jacobi['iterations']:.3f}" if both else ""
        rows.append([f"`{system['name']}`", f"{system['rows']:,}", count(jacobi), count(amg), share,
                     f"{amg['operator_complexity']:.2f}"])
    return table(["system, b = ones, to 1e-8", "rows", "Jacobi", "AMG", "AMG / Jacobi", "operator complexity"], rows, 1)


def smoother_table(document):
    rows = []
    runs = {(run["system"], run["smoother"]): run for run in document["smoothers"]}
    for system in document["systems"]:
        if (system["name"], "auto") not in runs:
            continue
        found = [runs.get((system["name"], smoother)) for smoother in SMOOTHERS]
        cells = [cell for run in found for cell in ((count(run), f"{seconds(run):.3f}") if run else ("refused", ""))]
        rows.append([f"`{system['name']}`", runs[system["name"], "auto"]["detail"], *cells])
    return table(["system", "AMG takes", "its iterations", "s", "FSAI", "s", "Chebyshev", "s"], rows, 2)


def smoother_summary(document):
    runs = {(run["system"], run["smoother"]): run for run in document["smoothers"] if run["converged"]}
    systems = [name for name, smoother in runs if smoother == "auto" and all((name, s) in runs for s in SMOOTHERS)]
    shares = {s: [seconds(runs[name, "auto"]) / seconds(runs[name, s]) for name in systems] for s in SMOOTHERS[1:]}
    best = [max(pair) for pair in zip(*shares.values())]
    mean = {s: statistics.geometric_mean(of) for s, of in shares.items()}
    kept = sum(runs[name, "auto"]["detail"] == "chebyshev" for name in systems)
    return (f"Flat elements make AMG try Chebyshev's polynomial on {len(systems)} of them, and keep it on {kept}. In the "
            f"geometric mean, setup and solve together take {mean['fsai']:.2f} of the time with FSAI and {mean['chebyshev']:.2f} of that "
            f"with Chebyshev's polynomial. They take at most {max(best):.2f} times as long as with the faster of the two. A smoother "
            "that an option names smooths all levels.")


def summary(document):
    runs = {(run["system"], run["precond"]): run for run in document["runs"]}
    pairs = [(runs[s["name"], "jacobi"], runs[s["name"], "amg"]) for s in document["systems"]]
    shares = [a["iterations"] / j["iterations"] for j, a in pairs
              if j["converged"] and a["converged"] and j["iterations"] > MANY]
    mean = statistics.geometric_mean(shares)
    return (f"On the {len(shares)} systems below for which Jacobi needs more than {MANY} iterations, AMG takes {mean:.3f} of "
            f"them in the geometric mean and {max(shares):.3f} at most. (`bench/run/compare_amg.py`, {document['date']}, "
            f"commit {document['commit']}, one thread; convection with BiCGStab, all others with CG; the figures are in "
            f"{link('amg_host.json')}.)")


def write():
    document = load("amg_host")
    write_parts("preconditioners-measured.md", "amg_tables.py", {
        "amg": [summary(document), "", *folded("All systems", system_table(document)), smoother_summary(document), "",
                *folded("Smoothers", smoother_table(document))[:-1]]})
