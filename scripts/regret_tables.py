# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/performance-defaults-NAME.md, of `purlin bench regret`; see write_performance.py."""
from report_text import number, remark

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
    return "| " + " | ".join(cells) + " |"


def mean_lines(data):
    lines = ["| use | systems | geometric mean | maximum | of | not solved by auto |", "|---|---:|---:|---:|---|---|"]
    for use in data["uses"]:
        lines.append(f"| {solves(use)} | {use['systems']} | {number(use['geometric_mean'])} | {number(use['max'])} "
                     f"| {use['max_system'] or '-'} | {', '.join(use['failures']) or '-'} |")
    return lines


def section(name, data):
    where = data.get("device") or f"{data['processor']}, {data['threads']} threads"
    lines = [
        f"## Defaults against the best choice, {where}",
        "",
        f"`{data['command']}`, {data['date']}, load average {data['load_average']:.2g} at the start; all figures are in "
        f"[results/{name}](results/{name}).{remark(data)}",
        "",
        "The regret is the time of a `LinearSystem` without options over the time of the best combination of format, "
        f"preconditioner and solver, in {data['precision']} precision, setup included. The times of a combination are composed "
        "of its setup, its first solve, and a refresh and a solve for each further one; `auto` runs every use whole. "
        "`purlin bench regret --help` explains more.",
        "",
        *mean_lines(data),
        "",
        "<details><summary>every system and use</summary>",
        "",
        "| system | rows | use | auto, s | best, s | regret | auto in the end | best | auto changed | the usual loop, one solve, "
        "s |",
        "|---|---:|---|---:|---:|---:|---|---|---|---:|",
    ]
    for system in data["systems"]:
        if system["refused"] is not None:
            lines.append(f"| {system['system']} | refused: {system['refused']} |" + " |" * 8)
        lines += [use_row(system, use) for use in system["uses"]]
    return lines + ["", "</details>", ""]
