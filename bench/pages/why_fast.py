# SPDX-License-Identifier: Apache-2.0
"""The first section of docs/performance.md: where the time of an iteration goes, from a report of `newel bench solve`;
see write_performance.py."""
from page import link, load_all, number, row, tables_page
from solve_tables import iteration_ms, measured, solve_ms, usable


def find(system, by, built=None):
    """The line of CG with Jacobi, in a format or any variant of it; None if there is none."""
    for line in measured(system):
        if (line["by"], line["solver"], line["precond"]) == (by, "cg", "jacobi"):
            if built is None or line["built"].split(":")[0] == built:
                return line
    return None


def microseconds(line):
    return f"{1e3 * iteration_ms(line):,.1f}"


def bytes_an_entry(system, line):
    """Of the product's own count, without x read and y written once."""
    values = 8 if system["precision"] == "double" else 4
    return (line["product_bytes"] - 2 * values * system["rows"]) / system["nonzeros"]


def rows(data):
    table = []
    for system in data["systems"]:
        if system["precision"] != "double":
            continue
        lines = [find(system, "cublas+cusparse"), find(system, "cublas+cusparse:graph"), find(system, "newel", "csr"),
                 find(system, "newel", "ehyb"), find(system, "newel", "ehyb-symmetric")]
        if None in lines or not all(map(usable, lines)):
            continue
        fastest = min(lines, key=iteration_ms)
        cells = [system["system"], f"{system['rows']:,}"] + [microseconds(line) for line in lines]
        cells += [f"{bytes_an_entry(system, line):.1f}" for line in lines[2:]]
        cells += [f"{fastest['percent_of_floor']:.0f} %", f"{iteration_ms(lines[0]) / iteration_ms(fastest):.1f}"]
        table.append(row(cells))
    return table


def ours(data, by):
    """System and line of CG with Jacobi in EHYB, in double."""
    pairs = [(system, find(system, by, "ehyb")) for system in data["systems"] if system["precision"] == "double"]
    return [(system, line) for system, line in pairs if line is not None]


def setup_in_products(name, products):
    """How long EHYB took to be ready on the meshes and grids of a report of products."""
    spans = [line["setup_in_products"] for system in products["systems"] for line in system["formats"]
             if system["system"].startswith(("mesh:", "generate:")) and line["name"] == "ehyb" and line["refused"] is None]
    if not spans:
        return []
    return [f"Building EHYB takes as long as {min(spans):,.0f} to {max(spans):,.0f} of its own products (meshes and grids in "
            f"[Products]({tables_page(name)}))."]


def setup_in_iterations(data):
    spans = [1e3 * line["setup_seconds"] / iteration_ms(line) for _, line in ours(data, "newel")]
    if not spans:
        return []
    return [f"Setting up a whole system, with vectors and freshly allocated memory, took as long as {min(spans):,.0f} to "
            f"{max(spans):,.0f} iterations here."]


def chosen_precision():
    """On solves that chose the precision themselves, from the reports of bench_mixed.py; empty without any."""
    runs = []
    for name, report in load_all("mixed_auto_*"):
        systems = report["systems"]
        single = sum("mixed" in line["mixed"]["solver"] for line in systems)
        device = systems[0]["double"]["device_name"] or "a host"
        runs += [f"    * On {device}, {single} of {len(systems)} systems did. Mixed took {report['mean_ratio']:.2f} times as long as "
                 f"double in the geometric mean, {report['most_ratio']:.2f} at most (`{systems[0]['system']}`, "
                 f"{1e3 * systems[0]['double']['seconds']:.0f} ms in double; {link(name)})."]
    if not runs:
        return []
    return ["", "    If format and preconditioner are left to `auto`, a system iterates in single precision only if that is expected to "
            "be faster. Each solve below had a process of its own.", "", *runs]


def mixed_item(data):
    """What mixed precision gains, if it was measured and converged."""
    triples = [(iteration_ms(double) / iteration_ms(mixed), solve_ms(double) / solve_ms(mixed), system["system"])
               for (system, double), (other, mixed) in zip(ours(data, "newel"), ours(data, "newel:mixed"))
               if system is other and not double.get("resident") and usable(double) and usable(mixed)]
    if not triples:
        return []
    factors = ", ".join(f"{iteration:.2f} and {number(solve)} (`{name}`)" for iteration, solve, name in triples)
    return ["7. **Half the bytes, if single precision is enough.** `--precision mixed` may iterate in single precision "
            "and computes true residuals in double. It needs more iterations, but each is shorter. Ratios of double to mixed "
            f"are given per iteration and per whole solve to the same true residual. They are {factors}.", "",
            "    Two kinds of systems gain nothing. Ill-conditioned ones may need several times as many iterations: 2.3 and 3.4 "
            "times as many on two of them ([results/mixed_host.json](results/mixed_host.json)). Small ones run on the chip in "
            "double.", *chosen_precision()]


def section(name, data, products):
    """From a report of solves on a device, and one of products there with its name or None."""
    setups = (setup_in_products(*products) if products else []) + setup_in_iterations(data) or ["Its time was not measured here."]
    return [
        "## Why Newel is fast",
        "",
        "An iteration of a Krylov method does two operations per value that it reads. Its time therefore depends on memory traffic, "
        "and on everything that leaves the memory idle. The table gives the microseconds of one iteration of CG with Jacobi. Each "
        f"column removes one more obstacle. The device is an {data['device']}, the precision is double, the run is that of "
        f"[Solves]({tables_page(name)}), and every solve in the table converged.",
        "",
        "| system | rows | cuBLAS and cuSPARSE, call by call | as a CUDA graph | Newel, CSR | Newel, EHYB "
        "| Newel, `ehyb-symmetric` | bytes per entry, CSR | EHYB | `ehyb-symmetric` | fastest, % of the byte floor "
        "| first over fastest |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *rows(data),
        "",
        f"![milliseconds an iteration](results/{name.partition('.')[0]}_iteration.svg)",
        "",
        "1. **The device never waits for the host** (first to second column). Dot products and scalars stay on the device, "
        "and a flag there makes iterations after convergence do nothing. Many iterations can therefore be queued as one CUDA "
        "graph, while iteration counts and histories stay exact. Newel does this for every solver, and its graphs read "
        "refreshed values without a new capture.",
        "2. **Few passes over vectors** (second to third). CG with a diagonal preconditioner is one product and two vector "
        "steps, which together read or write ten vectors. Jacobi's D is read instead of z, and x is updated together with the "
        "direction. The product computes p.Ap, and the update of r computes r.r and r.D r. The same iteration in library calls "
        "takes about eight of them, and each reads its vectors again.",
        "3. **Few bytes in the matrix** (third to fourth). A CSR entry in double costs twelve bytes and a read of x from "
        "anywhere in memory. EHYB partitions the rows so that each part's share of x fits into a multiprocessor's shared "
        "memory. A column index then takes two bytes, or fewer if the rows of a node share one list. Reads of x cost no memory "
        "traffic. The tables of products give the kernel's share of the copy bandwidth.",
        "4. **Symmetric blocks are read once** (fourth to fifth). Half of a symmetric matrix repeats the other half. If "
        "nodes have three rows, `ehyb-symmetric` reads each pair of opposite blocks in a part once. It adds the pair to both rows "
        "in shared memory, in rounds of pairs that touch no row twice. So it needs no atomics and gives the same bits on every "
        "run. With one row per node, the node numbers and the additional shared-memory accesses cancel the gain.",
        "5. **Small systems stay on the chip** (rows near or above the byte floor). If one part per multiprocessor is "
        "enough, a single kernel runs the whole solve. Vectors stay in shared memory. The parts exchange halo entries and sums "
        "in one grid synchronisation per iteration. Only the matrix is read, from the cache if it fits there. CG does this "
        "with none, Jacobi or FSAI; BiCGStab with none, Jacobi or SPAI.",
        "6. **Setup is short and reused.** Partition, order and conversion are computed once per sparsity pattern, on the device "
        f"if the pattern is symmetric. {' '.join(setups)} "
        "`--format auto` chooses a format that recovers its setup within the expected matrix-vector products, and `--plan-cache` keeps "
        "orders. New values take one gather into the format's slots and no allocation.",
        *mixed_item(data),
        "",
        "None of this changes the number of iterations. Multigrid (`--precond amg`, [Preconditioners](preconditioners.md)) "
        "needs far fewer on large systems ([measured](performance-multigrid-h200.md)).",
        "",
    ]
