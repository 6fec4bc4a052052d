# SPDX-License-Identifier: Apache-2.0
"""docs/performance-over-time.md, from docs/results/over_time.json as collect_over_time.py writes it."""
from page import link, load, number, picture_line, table, write_page

COLUMNS = {
    "iteration, elasticity:68, ehyb": "A, µs",
    "iteration, elasticity:68, ehyb-symmetric": "B, µs",
    "iteration, elasticity:29, ehyb": "C, µs",
    "iteration, grid7:180, ehyb": "D, µs",
    "multigrid, elasticity:130": "E, ms",
    "regret, one solve": "F",
    "heart": "G, s/s",
    "python call": "H, µs",
    "reading": "I, MB/s",
    "start": "J, ms",
}
LEGEND = """* A to D: one iteration of CG with Jacobi in double precision: `generate:elasticity:68` in `ehyb` (A) and in
  `ehyb-symmetric` (B), `generate:elasticity:29` in `ehyb` (C), `generate:grid7:180` in `ehyb` (D).
* E: setup and solve with `--precond amg` of `generate:elasticity:130`, to 1e-8, in the faster of the measured formats.
* F: the regret of a system without options for one solve: its time over that of the best fixed choice, in the geometric mean.
* G: seconds of computing for one simulated second of a heart with 30,000 nodes, with the longest step that is accurate enough.
* H: what a call from Python adds to the solve itself, with NumPy's arrays on a host and CuPy's on a device.
* I: how fast a Matrix Market file of 475 MB is read into a sorted CSR matrix.
* J: `newel solve generate:grid7:20 --device host` as a whole process."""


def main():
    lines = load("over_time")["lines"]
    rows = []
    for line in lines:
        figures = line["figures"]
        commits = dict.fromkeys(figures[name]["commit"] for name in COLUMNS if name in figures)
        rows.append([line["date"], line["machine"],
                     *(number(figures[name]["value"]) if name in figures else "" for name in COLUMNS),
                     ", ".join(f"`{commit}`" for commit in commits)])
    header = ["date", "machine", *COLUMNS.values(), "commits"]
    body = table(header, rows, 2)
    body[1] = "|---|---|" + "---:|" * len(COLUMNS) + "---|"
    write_page("performance-over-time.md", [
        "## Performance over time", "",
        "The table shows ten headline figures on the dates on which they were measured, one line for each date and machine. A cell is "
        "empty if the figure was not measured on that date. Lines of different machines cannot be compared. The picture shows the "
        "figures that were measured more than once, divided by their first value.", "",
        picture_line("over_time", "headline figures over their first values"), "",
        *LEGEND.split("\n"), "", *body, "",
        "Each figure comes from a file in `docs/results`, in the version of one of the named commits. "
        f"{link('over_time.json')} says which one. The regret of 24 November 2026 "
        "is a mean over 13 systems, all later ones over 25. "
        "`bench/run/collect_over_time.py` adds a line when new results are committed.", ""], "write_all.py")


if __name__ == "__main__":
    main()
