# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/performance-loops.md, of bench_loops.py; see write_performance.py."""
from page import copy_speed, link, load_all, prose, row, spread


def device_section(name, data):
    lines = [
        *prose("loop.device", data=data, link=link(name), copy=copy_speed(data), iterations=fixed_iterations(data)),
    ]
    for system in data["systems"]:
        product, cg = system["product"], system["cg_jacobi"]
        times = (product["newel_alg1"]["microseconds"], product["newel_alg2"]["microseconds"], *cg["microseconds"].values())
        lines.append(row([system["system"], f"{system['rows']:,}", f"{system['nonzeros']:,}",
                          *(f"{spread(sample, digits=4)} µs" for sample in times), spread(cg["usual_over_newel"]),
                          *(whole_solve(system["cg_jacobi_to_tolerance"][who]) for who in ("newel", "usual"))]))
    lines += [
        *prose("loop.usual_loop", tolerance=data['systems'][0]['cg_jacobi_to_tolerance']['tolerance']),
    ]
    return lines + while_node_lines(data["systems"])


def fixed_iterations(data):
    return " or ".join(str(count) for count in sorted({system["cg_jacobi"]["iterations"] for system in data["systems"]}))


def whole_solve(end):
    return f"{1e3 * end['seconds']:.3g} ms, {end['iterations']:,} iterations"


def while_node_lines(systems):
    """How iterations are repeated on the device, if that was measured."""
    measured = [(system["system"], system["cg_repeated"]) for system in systems
                if "while_over_pieces" in system.get("cg_repeated", {})]
    if not measured:
        return []
    times = [f"* `{name}`: {spread(repeated['microseconds']['pieces'], digits=4)} µs in pieces, "
             f"{spread(repeated['microseconds']['while_node'], digits=4)} µs by a while node, ratio {spread(repeated['while_over_pieces'])}"
             for name, repeated in measured]
    return [
        "Iterations in a CUDA graph can be repeated in two ways: in pieces, which the host launches and polls, or by a conditional "
        "while node, with which the device decides. The solvers launch pieces. The list gives the time of an iteration of CG with "
        f"Jacobi and ELL-WARP's product, in pieces of {measured[0][1]['piece']} and by a while node, and the second over the first.",
        "",
        *times,
        "",
    ]


def host_section(name, data):
    lines = [
        *prose("loop.host", data=data, link=link(name), iterations=fixed_iterations(data)),
    ]
    for system in data["systems"]:
        cells = [system["system"], f"{system['rows']:,}", f"{system['nonzeros']:,}"]
        for part in (system["product"], system["cg_jacobi"]):
            cells += [spread(part["milliseconds"][who]) + " ms" for who in ("newel", "eigen")]
            cells.append(spread(part["eigen_over_newel"]))
        lines.append(row(cells))
    return lines + [""]


def section():
    lines = ["## The usual loops", ""]
    for name, data in load_all("device_*"):
        if "systems" in data:  # not the record of the device tests
            lines += device_section(name, data)
    for name, data in load_all("host_*"):
        lines += host_section(name, data)
    return lines
