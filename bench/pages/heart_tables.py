# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/performance-heart.md, from docs/results/heart_*.json as bench_heart.py writes them."""
import page
from page import folded, link, load_all, place, prose


def number(value):
    return page.number(value, missing="never")


class Machine:
    def __init__(self, file, data):
        self.file, self.data, self.sizes = file, data, data.get("sizes", [])
        self.runs = {(size["nodes"], run["asked"], run["assembly"]): run for size in self.sizes for run in size["runs"]}

    def title(self):
        return place(self.data)


def machines(results):
    """Of [(file, data)]: host machines after devices."""
    return sorted((Machine(*result) for result in results), key=lambda machine: machine.data["device"] == "host")


def rows_of(machines_):
    """(nodes, asked format, assembly), of all machines."""
    rows = dict.fromkeys(row for machine in machines_ for row in machine.runs)
    return sorted(rows, key=lambda row: row[0])  # stable: formats stay in the order of the file


def cell(machine, row, words):
    return words(machine.runs[row]) if row in machine.runs else "-"


def table(header, lines, left):
    return [*page.table(header, lines, left), ""]


def described(row):
    return [f"{row[0]:,}", f"`{row[1]}`", row[2]]


def total(run):
    times = run["repetitions"]
    spread = f" ({number(min(times))} to {number(max(times))})" if len(times) > 1 else ""
    return number(run["milliseconds_per_step"]["total"]) + spread


def overview(found):
    header = ["nodes", "format", "assembly"] + [f"ms per step, {machine.title()}" for machine in found]
    return table(header, [described(row) + [cell(machine, row, total) for machine in found] for row in rows_of(found)], 3)


def alone(run):
    """Files from before these were timed do not hold them."""
    if "one_assembly_seconds" not in run:
        return ["-"] * 3
    one = run["one_assembly_seconds"]
    return [number(1e6 * one["elements"]), number(1e6 * one["matrix_and_right_hand_side"]), number(run["sums_in_products"])]


def steps(machine):
    header = ["nodes", "format", "assembly", "ms per step", "assembly", "product", "preconditioner", "vector work", "other",
              "speed-up over `csr`", "over one thread", "setup ms", "one product, µs", "one assembly, µs", "in products",
              "elements alone, µs", "matrix + right-hand side alone, µs", "in products", "products per setup"]
    lines = []
    for row in rows_of([machine]):
        run = machine.runs[row]
        parts = run["milliseconds_per_step"]
        lines.append(described(row) + [
            number(parts["total"]), number(parts["assembly"]), number(parts["product"]), number(parts["preconditioner"]),
            number(parts["vector_work"]), number(parts["other"]), number(run["speedup_over_csr"]),
            number(run["speedup_over_serial"]) if "speedup_over_serial" in run else "-", number(1e3 * run["setup_seconds"]),
            number(1e6 * run["product_seconds"]), number(1e6 * run["assembly_seconds"]), number(run["assembly_in_products"]),
            *alone(run), number(run["products_per_setup"])])
    title = f"{machine.title()}, the first {machine.data['duration_milliseconds']:g} ms of a beat, by phase"
    return folded(title, page.table(header, lines, 3))


def break_even(found):
    """One line per size and format: alpha of a setup, of a Newton iteration with the reference assembly, and in place."""
    header = ["nodes", "format"]
    columns = [("in-place", "alpha_setup", "setup"), ("reference", "alpha_newton", "reordering in each Newton iteration"),
               ("in-place", "alpha_newton", "values in place")]
    for machine in found:
        header += [f"{words}, {machine.title()}" for _, _, words in columns]
    lines = []
    for nodes, form, _ in [row for row in rows_of(found) if row[1] != "csr" and row[2] == "in-place"]:
        line = [f"{nodes:,}", f"`{form}`"]
        for machine in found:
            for assembly, key, _ in columns:
                line.append(cell(machine, (nodes, form, assembly), lambda run, key=key: number(run[key])))
        lines.append(line)
    return table(header, lines, 2)


def eigen_lines(data):
    heart = data["heart"]
    header = ["side", "format", "ms per step", "assembly", "solve", "other", "Newton iterations", "CG iterations"]
    lines = []
    for side in heart["sides"]:
        parts = side["milliseconds_per_step"]
        spread = [page.spread(parts[key], show=number) for key in ("total", "assembly", "solve", "other")]
        lines.append([side["name"], f"`{side['format']}`" if side["name"] != "eigen" else side["format"]] + spread
                     + [f"{side['newton_iterations']:,}", f"{side['iterations']:,}"])
    ratio, alone = heart["eigen_over_newel"], heart["eigen_over_newel_solve"]
    return [
        *prose("heart.eigen", heart=heart, data=data, ratio=page.spread(ratio), alone=page.spread(alone)),
    ] + table(header, lines, 2)


def real_time_lines(machine):
    if "real_time" not in machine.data:
        return []
    data = machine.data["real_time"]
    header = ["step, ms", "difference in activation from a tenth of the step", "steps", "ms per step", "seconds", "times real time",
              "setup s"]
    lines = []
    for run in data["tried"]:
        difference = run["difference_milliseconds"]
        lines.append([f"{run['step_milliseconds']:g}",
                      "some nodes are activated in one run only" if difference is None else f"{difference:.3g} ms",
                      f"{run['steps']:,}", number(run["milliseconds_per_step"]), number(run["seconds"]),
                      number(run["times_real_time"]), number(run["setup_seconds"])])
    end = "" if data["found"] else " None of these steps is that accurate."
    return [
        *prose("heart.real_time", data=data, place=place(data), end=end),
    ] + table(header, lines, 0)


def sources(machine):
    data = machine.data
    loads = ", ".join(f"{size['load_average']:.2g}" for size in machine.sizes)
    policy = f", OMP_WAIT_POLICY={data['wait_policy']}" if data.get("wait_policy") else ""
    runs = f"Times are medians of {data['repeats']} runs in turns" if data["repeats"] > 1 else "Each time is that of 1 run"
    return [f"{machine.title()}: `{data['command']}`, {data['date']}, commit {data['commit']}{policy}. {runs}; the figures are in {link(machine.file)}. The load average at the start of each size "
            f"was {loads}. If it is above 1, other work took processor time, and sizes should not be compared with each other.", ""]


def section():
    found = machines(load_all("heart_*"))
    lines = [
        *prose("heart.intro"),
    ]
    for machine in found:
        lines += sources(machine)
    lines += overview(found)
    for machine in found:
        if machine.sizes:
            lines += steps(machine)
    lines += [
        *prose("heart.break_even"),
    ]
    lines += break_even(found)
    for machine in found:
        if "eigen" in machine.data:
            lines += eigen_lines(machine.data["eigen"])
    for machine in found:
        lines += real_time_lines(machine)
    return lines
