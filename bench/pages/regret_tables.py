# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/performance-defaults-NAME.md, of `newel bench regret`; see write_performance.py."""
import math

from page import command, folded, link, number, place, prose, remark, row

OUTCOMES = {"auto_failed": "**auto failed**", "only_auto": "only auto converged", "nothing_converged": "nothing converged"}


def solves(use):
    return "1 solve" if use["solves"] == 1 else f"{use['solves']:,} solves"


def choice(of):
    return "-" if of is None or of["format"] is None else f"`{of['format']}` {of['precond']} {of['solver']}"


def usual(system):
    line = system["usual"]
    return number(line["seconds"]) if line is not None and line["refused"] is None and line["converged"] else "-"


def use_row(system, use):
    own = use["auto"]
    regret = number(use["regret"]) if use["outcome"] == "measured" else OUTCOMES[use["outcome"]]
    changed = "; ".join(f"solve {change['solve']}: {change['what']}" for change in own["changed"])
    cells = [system["system"], f"{system['rows']:,}", solves(use), number(use["auto_seconds"]), number(use["best_seconds"]),
             regret, choice(own), choice(use["best"]), changed or "-", usual(system) if use["solves"] == 1 else ""]
    return row(cells)


def mean_lines(data):
    return ["| use | systems | geometric mean | maximum | of | not solved by auto |", "|---|---:|---:|---:|---|---|",
            *(row([solves(use), f"{use['systems']}", number(use["geometric_mean"]), number(use["max"]), use["max_system"] or "-",
                   ", ".join(use["failures"]) or "-"]) for use in data["uses"])]


def model_errors(data):
    """(what is predicted, preconditioner) -> predicted over measured, of every combination that the model knows. Seconds of an
    iteration only if there are enough of them to hide what precedes them."""
    enough = 30
    ratios = {}
    for system in data["systems"]:
        measured = {(c["format"], c["precond"]): c for c in system.get("combinations", [])
                    if c["refused"] is None and c["converged"] and c["solver"] == system["first_solver"]}
        for candidate in system.get("model", []):
            of = measured.get((candidate["format"], candidate["precond"]))
            if of is None:
                continue
            name = candidate["precond"]
            if candidate["setup_seconds"] > 0:
                ratio = candidate["setup_seconds"] / of["setup"]["seconds"]["median"]
                ratios.setdefault(("setup", name), []).append(ratio)
            if of["iterations"] >= enough:
                ratio = candidate["iteration_seconds"] * of["iterations"] / of["solve"]["seconds"]["median"]
                ratios.setdefault(("an iteration", name), []).append(ratio)
            ratios.setdefault(("iterations of a solve", name), []).append(candidate["iterations"] / max(of["iterations"], 1))
    return ratios


def model_lines(data):
    ratios = model_errors(data)
    if not ratios:
        return []
    lines = [
        *prose("regret.model")]
    for (what, precond), of in sorted(ratios.items()):
        mean = math.exp(sum(math.log(ratio) for ratio in of) / len(of))
        lines.append(f"| {what} | {precond} | {len(of)} | {number(mean)} | {number(min(of))} | {number(max(of))} |")
    return lines + [""]


def section(name, data):
    flows = "flows, constraints and waves on " if name.startswith("regret_flow") else ""
    lines = [
        *prose("regret.intro", command=command(data), place=flows + place(data), data=data, link=link(name), remark=remark(data)),
        *mean_lines(data),
        "",
        *model_lines(data),
    ]
    uses = [
        "| system | rows | use | auto, s | best, s | regret | auto in the end | best | auto changed | the usual loop, one solve, "
        "s |",
        "|---|---:|---|---:|---:|---:|---|---|---|---:|",
    ]
    for system in data["systems"]:
        if system["refused"] is not None:
            uses.append(f"| {system['system']} | refused: {system['refused']} |" + " |" * 8)
        uses += [use_row(system, use) for use in system["uses"]]
    return lines + folded("every system and use", uses)
