# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/preconditioners-measured.md from docs/results/preconditioners_host.json, as compare_preconditioners.py
writes it; that of single solves on a device from preconditioners_h200.json."""
import math
import statistics

from page import folded, link, load, prose, table, write_parts

FEWEST_ITERATIONS = 20  # easier systems say nothing about a preconditioner
MOST_ITERATIONS = 5000
WORDS = {"not_positive_definite": "not definite", "max_iterations": "over 5,000", "refused": "refused",
         "build_limit": "build time limit exceeded", "time_limit": "time limit exceeded"}


class Results:
    def __init__(self, document):
        self.document = document
        self.systems = {facts["name"]: facts for facts in document["systems"]}
        self.runs = {(run["system"], run["precond"], run["solver"]): run for run in document["runs"]}
        self.solvers = list(document["solvers"])
        self.preconditioners = list(document["preconditioners"])

    def run(self, system, precond, solver):
        return self.runs.get((system, precond, solver))

    def solved(self, *key):
        run = self.runs.get(key)
        return run is not None and run["status"] == "converged"

    def seconds(self, *key):
        return self.runs[key]["build"] + self.runs[key]["solve"]

    def definite(self, name):
        """Symmetric, with a positive diagonal, and CG met no direction of negative curvature."""
        facts = self.systems[name]
        if not (facts["symmetric"] and facts["positive_diagonal"]):
            return False
        return all(self.run(name, precond, "cg")["status"] != "not_positive_definite" for precond in ("none", "jacobi"))

    def counted(self):
        """The positive definite systems that the summary is over; and how many it leaves out, by reason."""
        left_out = {"diagonal": 0, f"solved by Jacobi in fewer than {FEWEST_ITERATIONS} iterations": 0}
        names = []
        for name in self.systems:
            if not self.definite(name):
                continue
            jacobi = self.run(name, "jacobi", "cg")
            if self.systems[name]["diagonal"]:
                left_out["diagonal"] += 1
            elif jacobi["status"] == "converged" and jacobi["iterations"] < FEWEST_ITERATIONS:
                left_out[f"solved by Jacobi in fewer than {FEWEST_ITERATIONS} iterations"] += 1
            else:
                names.append(name)
        return names, left_out


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def figure(value):
    return "-" if math.isnan(value) else f"{value:.2f}"


def milliseconds(seconds):
    value = 1000 * seconds
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}"


def word(run):
    return WORDS.get(run["status"], run["status"].replace("_", " "))


def how_lines(document):
    note = f" {document['note']}." if document["note"] else ""
    return prose("preconditioner.how", document=document, note=note, options=" ".join(document["common_options"]),
                 link=link("preconditioners_host.json"))


def summary_lines(results):
    names, left_out = results.counted()
    lines = [f"The table counts {len(names)} positive definite systems; "
             + " and ".join(f"{count} {why}" for why, count in left_out.items())
             + " are left out. Ratios are geometric means over the systems that both solve. The ratio in brackets also includes "
             f"runs that did not converge, each counted as {MOST_ITERATIONS:,} iterations.", "",
             "| CG with | solves | iterations, Jacobi = 1 (not converged: as the limit) | build + solve seconds, Jacobi = 1 "
             "| median density |",
             "|---|---:|---:|---:|---:|"]
    for precond in results.preconditioners:
        tried = [name for name in names if results.run(name, precond, "cg")]
        both = [name for name in tried if results.solved(name, precond, "cg") and results.solved(name, "jacobi", "cg")]

        def iterations(name, precond):
            solved = results.solved(name, precond, "cg")
            return results.run(name, precond, "cg")["iterations"] if solved else MOST_ITERATIONS

        ratio = geometric_mean([iterations(name, precond) / iterations(name, "jacobi") for name in both])
        harsh = geometric_mean([iterations(name, precond) / iterations(name, "jacobi") for name in tried])
        seconds = geometric_mean([results.seconds(name, precond, "cg") / results.seconds(name, "jacobi", "cg")
                                  for name in both])
        densities = [results.run(name, precond, "cg").get("density") for name in tried]
        densities = [density for density in densities if density is not None]
        density = f"{statistics.median(densities):.2f}" if densities and precond != "auto" else "-"
        count = sum(results.solved(name, precond, "cg") for name in tried)
        lines.append(f"| {precond} | {count} of {len(tried)} | {figure(ratio)} ({figure(harsh)}) | {figure(seconds)} | "
                     f"{density} |")
    lines += ["", "CG fails on the following of them, with the named preconditioners:", ""]
    failures = []
    for name in names:
        described = [f"{precond}: {word(results.run(name, precond, 'cg'))}" for precond in results.preconditioners
                if results.run(name, precond, "cg") and not results.solved(name, precond, "cg")]
        if described:
            failures.append(f"* {name}: " + "; ".join(described))
    return lines + (failures or ["* none"])


def solved_lines(results):
    """How many systems each pair of solver and preconditioner solves."""
    groups = {"positive definite": [name for name in results.systems if results.definite(name)],
              "the others": [name for name in results.systems if not results.definite(name)]}
    header = [f"{group} ({len(names)}), {solver}" for group, names in groups.items() for solver in results.solvers]
    rows = []
    for precond in results.preconditioners:
        if precond == "fsai(3)":  # not run on all
            continue
        counts = [str(sum(results.solved(name, precond, solver) for name in names))
                  for names in groups.values() for solver in results.solvers]
        rows.append([precond, *counts])
    return table(["", *header], rows, 1)


def cell(results, key, best):
    run = results.runs.get(key)
    if run is None:
        return ""
    if run["status"] != "converged":
        return word(run)
    text = f"{run['iterations']}: {milliseconds(run['build'])} + {milliseconds(run['solve'])}"
    if key[1] == "auto":
        text += f", {run['chosen']}"
    return f"**{text}**" if key == best else text


def nonsymmetric_lines(results):
    """Jacobi and the fastest SPAI of the grid, system by system; harder for Jacobi first."""
    lines = ["| system | rows | entries | BiCGStab with Jacobi | fastest SPAI | with | iterations | "
             "build + solve, ms | true residual | solved by | fewest iterations |",
             "|---|---:|---:|---|---|---|---:|---:|---:|---:|---|"]
    for name in results.document["hard"]:
        if name not in results.systems:
            continue
        facts = results.systems[name]
        plain = "jacobi" if results.run(name, "jacobi", "bicgstab")["status"] != "refused" else "none"
        jacobi = results.run(name, plain, "bicgstab")
        described = word(jacobi)
        if jacobi["status"] == "converged":
            described = f"{jacobi['iterations']}, {milliseconds(jacobi['solve'])} ms"
        described += "" if plain == "jacobi" else " (none: zeros on the diagonal)"
        keys = [(name, precond, solver) for precond in results.document["spai_grid"]
                for solver in ("bicgstab", "gmres(50)")]
        solved = sorted((key for key in keys if results.solved(*key)), key=lambda key: results.seconds(*key))
        row = f"| {name} | {facts['rows']:,} | {facts['nonzeros']:,} | {described} | "
        if not solved:
            lines.append(row + f"none | | | | | 0 of {len(keys)} | |")
            continue
        run = results.runs[solved[0]]
        fewest = min(solved, key=lambda key: results.runs[key]["iterations"])
        lines.append(row + f"{solved[0][1].removeprefix('spai ')} | {solved[0][2]} | {run['iterations']} | "
                     f"{milliseconds(run['build'])} + {milliseconds(run['solve'])} | "
                     f"{run['true_residual']:.1e} | {len(solved)} of {len(keys)} | "
                     f"{results.runs[fewest]['iterations']}: {fewest[1].removeprefix('spai ')}, {fewest[2]} |")
    return lines


def all_lines(results):
    lines = []
    for solver in results.solvers:
        rows = []
        for name, facts in results.systems.items():
            keys = [(name, precond, solver) for precond in results.preconditioners]
            solved = [key for key in keys if results.solved(*key)]
            best = min(solved, key=lambda key: results.seconds(*key)) if solved else None
            rows.append([name, f"{facts['rows']:,}", f"{facts['nonzeros']:,}", *(cell(results, key, best) for key in keys)])
        lines += folded(solver, table(["system", "rows", "entries", *results.preconditioners], rows, 1))
    return lines[:-1]


def device_lines():
    """Single solves on a device, each in its own process."""
    document = load("preconditioners_h200")
    lines = [f"{document['device_name']}, {document['date']}; the figures are in {link('preconditioners_h200.json')}.",
             "", "| system | entries | solver | M | format | iterations | building M, s | its values alone, s | solve, s |",
             "|---|---:|---|---|---|---:|---:|---:|---:|"]
    for run in document["runs"]:
        values = run["preconditioner_phases"].get("numeric")
        lines.append(
            f"| `{run['matrix']}` | {run['nonzeros']:,} | {run['solver']} | {run['preconditioner']} | {run['format']} "
            f"| {run['iterations']:,} | {run['setup_phases']['preconditioner']:.2g} "
            f"| {'-' if values is None else f'{values:.2g}'} | {run['seconds']['solve']:.3g} |")
    return lines


def dishonest(results):
    """Runs that are called converged and whose true residual is not below the tolerance, up to rounding."""
    return [f"{run['system']}, {run['precond']}, {run['solver']}: {run['true_residual']:.2e}"
            for run in results.runs.values() if run["status"] == "converged" and not run["true_residual"] <= 1.001e-8]


def write():
    results = Results(load("preconditioners_host"))
    write_parts("preconditioners-measured.md", "preconditioner_tables.py", {
        "how": how_lines(results.document), "summary": summary_lines(results), "solved": solved_lines(results),
        "nonsymmetric": nonsymmetric_lines(results), "device": device_lines(), "all": all_lines(results)})
    for line in dishonest(results):
        print("called converged above the tolerance: " + line)
