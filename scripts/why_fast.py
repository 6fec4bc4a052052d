# SPDX-License-Identifier: Apache-2.0
"""The first section of docs/performance.md: where the time of an iteration goes, from a report of `purlin bench solve`;
see write_performance.py."""
from report_text import heading_anchor
from solve_tables import iteration_ms, measured


def find(system, by, built=None):
    """The line of CG with Jacobi, in a format or any variant of it; None where there is none."""
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
        lines = [find(system, "cublas+cusparse"), find(system, "cublas+cusparse:graph"), find(system, "purlin", "csr"),
                 find(system, "purlin", "ehyb"), find(system, "purlin", "ehyb-symmetric")]
        if None in lines:
            continue
        fastest = min(lines, key=iteration_ms)
        cells = [system["system"], f"{system['rows']:,}"] + [microseconds(line) for line in lines]
        cells += [f"{bytes_an_entry(system, line):.1f}" for line in lines[2:]]
        cells += [f"{fastest['percent_of_floor']:.0f} %", f"{iteration_ms(lines[0]) / iteration_ms(fastest):.1f}"]
        table.append("| " + " | ".join(cells) + " |")
    return table


def ours(data, by):
    """System and line of CG with Jacobi in EHYB, in double."""
    pairs = [(system, find(system, by, "ehyb")) for system in data["systems"] if system["precision"] == "double"]
    return [(system, line) for system, line in pairs if line is not None]


def setup_in_products(products):
    """How long EHYB took to be ready on the meshes and grids of a report of products."""
    spans = [line["setup_in_products"] for system in products["systems"] for line in system["formats"]
             if system["system"].startswith(("mesh:", "generate:")) and line["name"] == "ehyb" and line["refused"] is None]
    if not spans:
        return []
    where = heading_anchor(f"Products of all formats, {products['device']}")
    return [(f"EHYB is ready after {min(spans):,.0f} to {max(spans):,.0f} of its own products (meshes and grids of "
             f"[Products]({where}))")]


def setup_in_iterations(data):
    spans = [1e3 * line["setup_seconds"] / iteration_ms(line) for _, line in ours(data, "purlin")]
    if not spans:
        return []
    return [(f"a whole system, with its vectors and memory that was not in use before, took as long as {min(spans):,.0f} to "
             f"{max(spans):,.0f} iterations here")]


def mixed_item(data):
    """What mixed precision adds, where it was measured."""
    pairs = [(iteration_ms(double) / iteration_ms(mixed), system["system"])
             for (system, double), (other, mixed) in zip(ours(data, "purlin"), ours(data, "purlin:mixed"))
             if system is other and not double.get("resident")]
    if not pairs:
        return []
    factors = ", ".join(f"{factor:.2f} (`{name}`)" for factor, name in pairs)
    return ["7. **Half the bytes, where that is enough.** `--precision mixed` iterates in single precision and takes residuals "
            "in double; beside some more iterations, each is shorter by a factor of " + factors + ". Ill-conditioned "
            "systems, which may need several times as many iterations (2.3 and 3.4 times as many on two of them, "
            "[results/mixed_host.json](results/mixed_host.json)), and small ones, which stay on the chip in double, win nothing by it."]


def section(name, data, products):
    """From a report of solves on a device, and one of products there or None."""
    setups = (setup_in_products(products) if products else []) + setup_in_iterations(data) or ["in a moment"]
    return [
        "## Why Purlin is fast",
        "",
        "An iteration of a Krylov method does two operations for every number that it reads: its time is that of its "
        "bytes, and of everything that keeps the memory waiting. One iteration of CG with Jacobi, in microseconds, "
        f"each column with one more reason out of the way ({data['device']}, the run of "
        f"[Solves]({heading_anchor('Solves, ' + data['device'])})):",
        "",
        "| system | rows | cuBLAS and cuSPARSE, call by call | as a CUDA graph | our loop, CSR | our loop, EHYB "
        "| our loop, `ehyb-symmetric` | CSR, bytes an entry | EHYB | `ehyb-symmetric` | the fastest, of the byte floor "
        "| first over fastest |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *rows(data),
        "",
        f"![milliseconds an iteration](results/{name.removesuffix('.json')}_iteration.svg)",
        "",
        "1. **Nobody waits for the host** (first to second column). Dot products stay where they are formed, scalars are "
        "computed on the device, and a flag there turns iterations behind the end into nothing; so many iterations are "
        "queued as one CUDA graph, and counts and histories are exact all the same. Our loops do this for every solver, "
        "and see refreshed values without a new capture.",
        "2. **Few passes over vectors** (second to third). CG with a diagonal preconditioner is one product and two "
        "vector steps, which move ten vectors: Jacobi's D is read in the place of z, x moves with the direction, the dot "
        "product p.Ap rides on the product, and r.r and r.D r ride on the update of r. Written with library calls the "
        "same iteration is some eight calls, each of which reads its vectors again.",
        "3. **Few bytes in the matrix** (third to fourth). A CSR entry in double is twelve bytes and a read of x from "
        "wherever it lies. EHYB cuts the rows into parts whose share of x fits into a multiprocessor's shared memory; "
        "there a column is two bytes, or less where rows of a node share one list, and reads of x cost no memory "
        "traffic. Its kernel keeps the memory busy: the tables below give its share of the copy's bandwidth.",
        "4. **What stands twice is read once** (fourth to fifth). Half of a symmetric matrix says what the other half says. "
        "Where nodes have three rows, `ehyb-symmetric` reads opposite blocks of a part once and adds to both of their "
        "rows in shared memory, in rounds of pairs that touch no row twice: no atomics, and the same bits on every run. "
        "With one row a node the numbers of nodes and turns at shared memory take what the bytes give.",
        "5. **Small systems never leave the chip** (rows where the floor is exceeded, or nearly). Where a part for each "
        "multiprocessor suffices, one kernel runs the whole solve: vectors stay in shared memory, parts exchange what "
        "their neighbours need and their sums in one meeting an iteration, and only the matrix is read, from the cache "
        "where it fits. CG does so with none, Jacobi or FSAI, BiCGStab with none, Jacobi or SPAI.",
        "6. **What is prepared is kept, and soon done.** Partition, order and conversion are done once for a sparsity "
        f"pattern, on the device where it is symmetric: {'; '.join(setups)}. "
        "`--format auto` chooses what pays back within the products that are planned (`--plan-cache` keeps orders); new values are one "
        "gather into the format's slots, without an allocation.",
        *mixed_item(data),
        "",
        "What these do not change is the number of iterations. On large diffusion problems a multigrid method needs far "
        "fewer and is the better choice; FSAI and SPAI (docs/preconditioners.md) are what Purlin has against "
        "that, and what serves elasticity, convection and systems without a hierarchy.",
        "",
    ]
