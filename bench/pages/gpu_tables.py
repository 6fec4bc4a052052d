# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/several-gpus.md: iterations on one and two GPUs as newel_bench_gpus measures them, and an estimate for
more GPUs."""
from page import link, load, remark, table, write_parts

# Microseconds of one exchange of sums and of halos among GPUs of a host, all blocks with all blocks, measured on H100 with
# NVLink: 2.0 on two GPUs, 2.2 on four. An iteration in several kernels has two of them.
EXCHANGE_OF_HOST = {1: 1.8, 2: 2.0, 4: 2.2, 8: 2.6}  # eight: extrapolated
# Microseconds of NCCL's all-reduce of a few doubles: 13 measured on two H200 with a process each; a network adds the way
# between hosts, assumed to be 5 for each doubling of their number.
ALL_REDUCE, PER_DOUBLING = 13.0, 5.0
GPUS_OF_HOST = 8


def median(run):
    return run["microseconds"]["median"]


def runs_of(system, gpus, link_begins=""):
    return [run for run in system["runs"] if run["gpus"] == gpus and run["link"].startswith(link_begins)]


def best_of_one(system):
    return min(median(run) for run in runs_of(system, 1))


def cell(runs):
    return f"{median(runs[0]):.1f}" if runs else ""


def measured_table(peers):
    rows = []
    for system in peers["systems"]:
        one = [runs_of(system, 1, f"none, {name}") for name in ("csr", "ehyb")]
        two = runs_of(system, 2, "packets")
        rows.append([f"`{system['system']}`", f"{system['rows']:,}", *map(cell, one), cell(two),
                     cell(runs_of(system, 2, "NCCL")), f"{median(two[0]) / best_of_one(system):.2f}"])
    return table(["system", "rows", "one GPU, `csr`", "one GPU, `ehyb`", "two GPUs, `peers`", "two GPUs, `nccl`",
                  "two / one"], rows, 1)


def weak_scaling(peers):
    """The largest pair of grids, of which one has about twice the rows of the other."""
    grids = sorted((system for system in peers["systems"] if "grid7" in system["system"]), key=lambda s: s["rows"])
    one, two = grids[-2:]
    share = best_of_one(one) * two["rows"] / 2 / one["rows"] / median(runs_of(two, 2)[0])
    return [f"With twice the rows on two GPUs (`{two['system']}`) an iteration takes {median(runs_of(two, 2)[0]):.0f} µs, on one GPU "
            f"with half of them (`{one['system']}`) {best_of_one(one):.0f} µs: {100 * share:.0f} % efficiency, corrected for "
            "the numbers of rows."]


def overhead(system):
    """Of two GPUs, beyond half of the time of one."""
    return median(runs_of(system, 2)[0]) - best_of_one(system) / 2


def estimate(system, gpus):
    """Microseconds of an iteration."""
    hosts = max(1, gpus // GPUS_OF_HOST)
    among = EXCHANGE_OF_HOST[min(gpus, GPUS_OF_HOST)] - EXCHANGE_OF_HOST[2]
    between = 0 if hosts == 1 else ALL_REDUCE + PER_DOUBLING * (hosts.bit_length() - 1)
    return best_of_one(system) / gpus + overhead(system) + 2 * (among + between)


def estimate_table(peers, counts=(8, 16, 64, 256, 1024)):
    rows = []
    for system in peers["systems"]:
        if system["rows"] < 5_000_000:  # solves in one kernel do not grow beyond a host
            continue
        times = [estimate(system, gpus) for gpus in counts]
        half = next((gpus for gpus, time in zip(counts, times) if best_of_one(system) / gpus / time < 0.5), None)
        rows.append([f"`{system['system']}`", f"{best_of_one(system):.0f}", *(f"{time:.0f}" for time in times),
                     f"{half} GPUs" if half else ""])
    return table(["system", "one GPU, measured", *(f"{gpus}" for gpus in counts), "below 50 % from"], rows, 1)


def write():
    peers = load("gpus_h200")
    write_parts("several-gpus.md", "gpu_tables.py", {
        "measured": [*measured_table(peers), "", *weak_scaling(peers), "",
                     f"`{peers['command']}`, {peers['date']}; the figures are in {link('gpus_h200.json')}.{remark(peers)}"],
        "estimate": estimate_table(peers)})


if __name__ == "__main__":
    write()
