# SPDX-License-Identifier: Apache-2.0
"""The section of docs/performance.md on `purlin bench solve`; see write_performance.py."""
from report_text import number, remark, spread


def measured(system):
    return [line for line in system["solves"] if line["refused"] is None]


def iteration_ms(line):
    return line["iteration"]["milliseconds"]["median"]


def solve_ms(line):
    return line["solve"]["milliseconds"]["median"]


def who(line):
    return f"`{line['built']}`" if line["by"] == "purlin" else f"{line['by']}"


def pairs(system):
    """Solver and preconditioner, in the order of the report, where ours has a line."""
    names = []
    for line in measured(system):
        pair = (line["solver"], line["precond"])
        if pair not in names and not line["competitor"]:
            names.append(pair)
    return names


def iterations(line):
    return f"{line['iterations']:,}" + ("" if line["converged"] else f" ({line['status']})")


def iteration_rows(system):
    """For each solver and preconditioner, our fastest iteration and the fastest of the others."""
    rows = []
    for solver, precond in pairs(system):
        lines = [line for line in measured(system)
                 if (line["solver"], line["precond"]) == (solver, precond) and line["iterations"] > 0]
        ours = [line for line in lines if not line["competitor"] and not line["wrong"]]
        others = [line for line in lines if line["competitor"]]
        if not ours:
            continue
        best = min(ours, key=iteration_ms)
        cells = [system["system"], system["precision"], f"{system['rows']:,}", f"{system['nonzeros']:,}", solver, precond,
                 who(best), spread(best["iteration"]["milliseconds"]), number(best["floor_milliseconds"]),
                 f"{best['percent_of_floor']:.0f} %", iterations(best)]
        if others:
            other = min(others, key=iteration_ms)
            cells += [who(other), spread(other["iteration"]["milliseconds"]), number(best["iteration_speedup"])]
        else:
            cells += ["-", "-", "-"]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def status(line):
    if line["wrong"]:
        return "**WRONG**"
    return line["status"] if line["reason"] is None else f"{line['status']}: {line['reason']}"


def residual(line):
    return "-" if line["true_relative_residual"] is None else f"{line['true_relative_residual']:.1e}"


def details(system):
    lines = [
        f"<details><summary>{system['system']}, {system['precision']} precision, tolerance {system['tolerance']:g}: every "
        "solve</summary>",
        "",
        "| by | solver | preconditioner | format | ms an iteration | % of floor | speed-up | iterations | ms a solve | "
        "speed-up | setup s | true residual | end |",
        "|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for line in system["solves"]:
        head = [line["by"], line["solver"], line["precond"], f"`{line.get('built', line['format'])}`"]
        if line["refused"] is not None:
            lines.append("| " + " | ".join(head) + f" | refused: {line['refused']} |" + " |" * 8)
            continue
        cells = head + [spread(line["iteration"]["milliseconds"]), number(line["percent_of_floor"]),
                        number(line["iteration_speedup"]), f"{line['iterations']:,}",
                        spread(line["solve"]["milliseconds"]), number(line["solve_speedup"]),
                        number(line["setup_seconds"]), residual(line), status(line)]
        lines.append("| " + " | ".join(cells) + " |")
    return lines + ["", "</details>", ""]


def section(name, data, results):
    where = data.get("device") or f"{data['processor']}, {data['threads']} threads"
    added = "".join(f" {other['version']} by `{other['command']}`, {other['date']}, load {other['load_average']:.2g}."
                    for other in data.get("added", {}).values())
    lines = [
        f"## Solves, {where}",
        "",
        f"`{data['command']}`, {data['date']}, load {data['load_average']:.2g} as it began; all figures in "
        f"[results/{name}](results/{name}).{added} A copy moves {data['copy']['gigabytes_per_second']['median']:,.0f} GB/s in "
        f"the same run.{remark(data)} Right-hand side: {data['rhs']}. Medians over {data['repeats']} rounds in which all take turns: "
        f"{data['timing']['solve']}; an iteration is {data['timing']['iteration']}. The floor is {data['timing']['floor']}. "
        "Residuals are formed in long double from the x that came back. `purlin bench solve --help` tells what else the "
        "columns mean.",
        "",
        "| system | precision | rows | non-zeros | solver | preconditioner | fastest of ours | ms an iteration | floor, ms | of "
        "floor | iterations | fastest other | its ms | speed-up |",
        "|---|---|---:|---:|---|---|---|---:|---:|---:|---:|---|---:|---:|",
    ]
    for system in data["systems"]:
        lines += iteration_rows(system)
    lines.append("")
    for picture, words in (("iteration", "iterations over the byte floor"), ("time", "time to a solution")):
        file = name.replace(".json", f"_{picture}.svg")
        if (results / file).exists():
            lines += [f"![{words}](results/{file})", ""]
    for system in data["systems"]:
        if system["refused"] is None:
            lines += details(system)
        else:
            lines += [f"{system['system']}, {system['precision']} precision: {system['refused']}", ""]
    return lines
