# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/performance-solves-NAME.md, of `newel bench solve`; see write_performance.py."""
from page import command, copy_speed, each_system, folded, link, number, pictures, place, prose, row, spread


def measured(system):
    return [line for line in system["solves"] if line["refused"] is None]


def iteration_ms(line):
    return line["iteration"]["milliseconds"]["median"]


def solve_ms(line):
    return line["solve"]["milliseconds"]["median"]


def who(line):
    return f"`{line['built']}`" if line["by"] == "newel" else f"{line['by']}"


def mixes_precisions(line):
    """Iterates at least partly in single precision, in a table whose other lines do not."""
    return line["by"] in ("newel:mixed", "newel:single-basis")


def usable(line):
    return line["converged"] and not line["wrong"]


def iteration_speedup(line, system):
    """Over the fastest competitor with the same solver and preconditioner; None unless both converged, in one precision."""
    others = [iteration_ms(other) for other in measured(system)
              if other["competitor"] and usable(other) and other["iterations"] > 0
              and (other["solver"], other["precond"]) == (line["solver"], line["precond"])]
    if not others or not usable(line) or mixes_precisions(line) or line["iterations"] == 0:
        return None
    return min(others) / iteration_ms(line)


def solve_speedup(line):
    """Over the fastest converged competitor of any method, to the same true residual; marked if precisions differ."""
    text = number(line["solve_speedup"])
    return text + " †" if mixes_precisions(line) and line["solve_speedup"] is not None else text


def pairs(system):
    """Solver and preconditioner, in the order of the report, if ours has a line."""
    names = []
    for line in measured(system):
        pair = (line["solver"], line["precond"])
        if pair not in names and not line["competitor"]:
            names.append(pair)
    return names


def iterations(line):
    return f"{line['iterations']:,}" + ("" if line["converged"] else f" ({line['status']})")


def iteration_rows(system):
    """For each solver and preconditioner our fastest iteration in the precision of the table, a converged solve if there
    is one, and the fastest of the others that converged."""
    rows = []
    for solver, precond in pairs(system):
        lines = [line for line in measured(system)
                 if (line["solver"], line["precond"]) == (solver, precond) and line["iterations"] > 0]
        ours = [line for line in lines if not line["competitor"] and not line["wrong"] and not mixes_precisions(line)]
        others = [line for line in lines if line["competitor"] and usable(line)]
        if not ours:
            continue
        best = min([line for line in ours if usable(line)] or ours, key=iteration_ms)
        cells = [system["system"], system["precision"], f"{system['rows']:,}", f"{system['nonzeros']:,}", solver, precond,
                 who(best), spread(best["iteration"]["milliseconds"]), number(best["floor_milliseconds"]),
                 f"{best['percent_of_floor']:.0f} %", iterations(best)]
        if others:
            other = min(others, key=iteration_ms)
            cells += [who(other), spread(other["iteration"]["milliseconds"]), number(iteration_speedup(best, system))]
        else:
            cells += ["-", "-", "-"]
        rows.append(cells)
    return rows


def status(line):
    if line["wrong"]:
        return "**WRONG**"
    return line["status"] if line["reason"] is None else f"{line['status']}: {line['reason']}"


def residual(line):
    return "-" if line["true_relative_residual"] is None else f"{line['true_relative_residual']:.1e}"


def details(system):
    lines = [
        "| by | solver | preconditioner | format | ms per iteration | % of floor | speed-up per iteration | iterations "
        "| ms per solve | speed-up per solve | setup s | true residual | status |",
        "|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for line in system["solves"]:
        head = [line["by"], line["solver"], line["precond"], f"`{line.get('built', line['format'])}`"]
        if line["refused"] is not None:
            lines.append(row([*head, f"refused: {line['refused']}"]) + " |" * 8)
            continue
        cells = head + [spread(line["iteration"]["milliseconds"]), number(line["percent_of_floor"]),
                        number(iteration_speedup(line, system)), f"{line['iterations']:,}",
                        spread(line["solve"]["milliseconds"]), solve_speedup(line),
                        number(line["setup_seconds"]), residual(line), status(line)]
        lines.append(row(cells))
    return folded(f"{system['system']}, {system['precision']} precision, tolerance {system['tolerance']:g}: every solve", lines)


def section(name, data):
    added = "".join(f" {other['version']} by `{other['command']}`, {other['date']}, load {other['load_average']:.2g}."
                    for other in data.get("added", {}).values())
    return [
        *prose("solve.intro", command=command(data), place=place(data), data=data, link=link(name), added=added, copy=copy_speed(data)),
        *(row(cells) for system in data["systems"] for cells in iteration_rows(system)),
        "",
        *pictures(name, {"iteration": "iterations over the byte floor", "time": "time to a solution"}),
        *each_system(data, details),
    ]
