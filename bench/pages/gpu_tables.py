# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/several-gpus.md: systems on one GPU and on several, as `newel bench solve --gpus` measures them, and an
estimate for more GPUs, compared with what was measured."""
from page import link, load, picture_line, remark, table, write_parts

# Microseconds of one exchange of sums and of halos among GPUs of a host, all blocks with all blocks, measured on H100 with
# NVLink: 2.0 on two GPUs, 2.2 on four. An iteration in several kernels has two of them.
EXCHANGE_OF_HOST = {1: 1.8, 2: 2.0, 4: 2.2, 8: 2.6}  # eight: extrapolated
# Microseconds of NCCL's all-reduce of a few doubles: 13 measured on two H200 with a process each; a network adds the way
# between hosts, assumed to be 5 for each doubling of their number.
ALL_REDUCE, PER_DOUBLING = 13.0, 5.0
# A halo between hosts: NCCL's send and receive, measured as above, and its bytes at 50 GB/s, which is assumed. The rows that
# need no other GPU are multiplied meanwhile.
SEND_RECEIVE, NETWORK_BYTES_PER_MICROSECOND = 21.0, 50e3
GPUS_OF_HOST = 8
KERNELS_ROWS = 5_000_000  # from here on an iteration is several kernels on any number of GPUs that is estimated
NAMES = {"packets": "`peers`", "NCCL": "`nccl`"}


def median(run):
    return run["microseconds"]["median"]


def runs_of(system, gpus, link_begins="", precond="jacobi"):
    return [run for run in system["runs"]
            if run["gpus"] == gpus and run["link"].startswith(link_begins) and run.get("precond", "jacobi") == precond
            and run.get("refused") is None and (precond != "jacobi" or run["microseconds"] is not None)]


def run_gpus(system):
    return max(run["gpus"] for run in system["runs"])


def all_counts(report):
    return sorted({run["gpus"] for system in report["systems"] for run in system["runs"]} - {1})


def best_of_one(system):
    return min(median(run) for run in runs_of(system, 1))


def best(system, gpus):
    """Packets between several GPUs if they were measured, else what was; None: nothing."""
    if gpus == 1:
        return best_of_one(system)
    runs = runs_of(system, gpus, "packets") or runs_of(system, gpus)
    return median(runs[0]) if runs else None


def cell(runs):
    return f"{median(runs[0]):.1f}" if runs else ""


def ratio(value, one):
    return f"{value / one:.2f}" if value is not None else ""


def measured_table(report):
    counts = all_counts(report)
    header = ["system", "rows", "one GPU, `csr`", "one GPU, `ehyb`"]
    header += [f"{words(count)}, {name}" for count in counts for name in NAMES.values()]
    header += [f"{words(count)} / one" for count in counts]
    rows = []
    for system in report["systems"]:
        one = [cell(runs_of(system, 1, f"none, {name}")) for name in ("csr", "ehyb")]
        several = [cell(runs_of(system, count, name)) for count in counts for name in NAMES]
        shares = [ratio(best(system, count), best_of_one(system)) for count in counts]
        rows.append([f"`{system['system']}`", f"{system['rows']:,}", *one, *several, *shares])
    return table(header, rows, 1)


def words(count):
    return {1: "one GPU", 2: "two GPUs", 4: "four GPUs", 8: "eight GPUs"}.get(count, f"{count} GPUs")


def weak_pairs(report):
    """(GPUs, system of one, system of several, efficiency): of a list of growing systems, or of the largest two grids."""
    if report.get("weak"):
        for weak in report["weak"]:
            one = next(system for system in weak["systems"] if runs_of(system, 1))
            for system in weak["systems"]:
                gpus = run_gpus(system)
                if gpus > 1 and best(system, gpus) is not None:
                    yield gpus, one, system, efficiency(one, system, gpus)
        return
    grids = sorted((system for system in report["systems"] if "grid7" in system["system"]), key=lambda s: s["rows"])
    one, two = grids[-2:]
    yield 2, one, two, efficiency(one, two, 2)


def efficiency(one, several, gpus):
    return best_of_one(one) * several["rows"] / gpus / one["rows"] / best(several, gpus)


def weak_scaling(report):
    lines = []
    for gpus, one, system, share in weak_pairs(report):
        times = "twice" if gpus == 2 else f"{gpus} times"
        lines.append(f"With {times} the rows on {words(gpus)} (`{system['system']}`) an iteration takes "
                     f"{best(system, gpus):.0f} µs, on one GPU `{one['system']}` takes {best_of_one(one):.0f} µs: "
                     f"{100 * share:.0f} % efficiency, corrected for the numbers of rows.")
    return lines


def overhead(system):
    """Of two GPUs, beyond half of the time of one."""
    return best(system, 2) - best_of_one(system) / 2


def halo_microseconds(system, gpus):
    """Of a GPU whose neighbours are in other hosts: the six faces of a cube of its rows."""
    unknowns = 3 if "elasticity" in system["system"] else 1
    nodes = system["rows"] / unknowns / gpus
    return SEND_RECEIVE + 6 * nodes ** (2 / 3) * unknowns * 8 / NETWORK_BYTES_PER_MICROSECOND


def estimate(system, gpus):
    """Microseconds of an iteration."""
    hosts = max(1, gpus // GPUS_OF_HOST)
    among = EXCHANGE_OF_HOST[min(gpus, GPUS_OF_HOST)] - EXCHANGE_OF_HOST[2]
    work = best_of_one(system) / gpus
    if hosts > 1:
        work = max(work, halo_microseconds(system, gpus))
    between = 0 if hosts == 1 else ALL_REDUCE + PER_DOUBLING * (hosts.bit_length() - 1)
    return work + overhead(system) + 2 * (among + between)


def may_be_estimated(system):
    return system["rows"] >= KERNELS_ROWS and bool(runs_of(system, 1)) and best(system, 2) is not None


def estimate_table(report, counts=(8, 16, 64, 256, 1024)):
    rows = []
    for system in report["systems"]:
        if not may_be_estimated(system):  # solves in one kernel do not grow beyond a host
            continue
        times = [estimate(system, gpus) for gpus in counts]
        half = next((gpus for gpus, time in zip(counts, times) if best_of_one(system) / gpus / time < 0.5), None)
        rows.append([f"`{system['system']}`", f"{best_of_one(system):.0f}", *(f"{time:.0f}" for time in times),
                     f"{half} GPUs" if half else ""])
    return table(["system", "one GPU, measured", *(f"{gpus}" for gpus in counts), "below 50 % from"], rows, 1)


def comparison(report):
    """(system, GPUs, estimated, measured) for every count above two that was measured."""
    return [(system, gpus, estimate(system, gpus), best(system, gpus)) for gpus in all_counts(report) if gpus > 2
            for system in report["systems"] if may_be_estimated(system) and best(system, gpus) is not None]


def comparison_lines(report):
    found = comparison(report)
    if not found:
        return ["The estimate has not been compared with a run on more GPUs yet."]
    worst = max(abs(estimated / measured - 1) for _, _, estimated, measured in found)
    rows = [[f"`{system['system']}`", f"{gpus}", f"{estimated:.0f}", f"{measured:.0f}", f"{100 * (estimated / measured - 1):+.0f} %"]
            for system, gpus, estimated, measured in found]
    return ["The same estimate, from one and two GPUs, for the numbers of GPUs that were measured. "
            f"It is wrong by at most {100 * worst:.0f} %:", "",
            *table(["system", "GPUs", "estimated", "measured", "error"], rows, 1)]


def whole_cell(runs):
    """Seconds of setup and of a solve."""
    return f"{runs[0]['setup_seconds']:.2f} + {runs[0]['solve']['milliseconds']['median'] / 1e3:.3f}" if runs else ""


def whole_seconds(runs):
    return min((run["setup_seconds"] + run["solve"]["milliseconds"]["median"] / 1e3 for run in runs), default=None)


def amg_table(report):
    """Setup and solve with AMG; empty if it was not measured."""
    rows = []
    for system in report["systems"]:
        one = runs_of(system, 1, precond="amg")
        if not one:
            continue
        one.sort(key=lambda run: whole_seconds([run]))
        counts = all_counts(report)
        several = [runs_of(system, count, "packets", "amg") or runs_of(system, count, precond="amg") for count in counts]
        rows.append([f"`{system['system']}`", whole_cell(one), *map(whole_cell, several),
                     *(ratio(whole_seconds(runs), whole_seconds(one)) for runs in several)])
    if not rows:
        return []
    return ["CG with AMG, seconds of setup + solve:", "",
            *table(["system", "one GPU", *map(words, counts), *(f"{words(count)} / one" for count in counts)], rows, 1), ""]


def large_lines():
    """The largest system so far."""
    run = load("large_h200")
    seconds = run["seconds"]
    return [f"`{run['command_line']}`: {run['rows']:,} rows and {run['nonzeros']:,} entries on {run['ranks']} {run['device_name']}. "
            f"The rows were generated in {seconds['read']:.0f} s and set up in {seconds['setup']:.0f} s. "
            f"{run['iterations']} iterations took {seconds['solve']:.2f} s, to a true residual of "
            f"{run['true_relative_residual']:.1e} |b|. The GPUs held up to {run['memory']['peak_bytes'] / run['ranks'] / 1e9:.0f} GB "
            f"each, at setup. The figures are in {link('large_h200.json')}."]


def picture():
    return [picture_line("gpus_h200", "Time of an iteration over the time on one GPU, and efficiency with as many rows on each GPU"),
            ""]


def write():
    report = load("gpus_h200")
    write_parts("several-gpus.md", "gpu_tables.py", {
        "measured": [*measured_table(report), "", *weak_scaling(report), "", *amg_table(report), *picture(),
                     f"`{report['command']}`, {report['date']}; the figures are in {link('gpus_h200.json')}.{remark(report)}"],
        "large": large_lines(),
        "estimate": [*estimate_table(report), "", *comparison_lines(report)]})


def main():
    write()
    print("\n".join(comparison_lines(load("gpus_h200"))))


if __name__ == "__main__":
    main()
