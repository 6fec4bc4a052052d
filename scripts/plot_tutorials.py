#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the problems of the tutorials and draws them: docs/pictures/tutorial_NAME.svg and .png.

    scripts/plot_tutorials.py BIN [NAME ...]      BIN: the folder of the programs, as build/host/bin

Without names, all of PICTURES below. Needs matplotlib, and newel for the picture of SciPy's tutorial:
build/python/venv/bin/python has both after scripts/python_test.sh.
"""
import gzip
import json
import pathlib
import runpy
import subprocess
import sys
import tempfile

from plot_needs import need

need("matplotlib", "numpy", "PIL")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "docs"))
import notebook  # noqa: E402
from heart_run import Vtu  # noqa: E402
from heart_view import Camera, View, boundary_triangles  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / "docs/pictures"
BEAM = ROOT / "apps/data/cantilever_beam"


class Programs:
    """The programs of a folder, run in a folder of their own without a GPU."""

    def __init__(self, folder, work):
        self.folder, self.work = pathlib.Path(folder).resolve(), pathlib.Path(work)

    def run(self, program, *arguments):
        """The program's own status is not looked at: some of the pictures show a solve that fails."""
        subprocess.run([self.folder / program, *map(str, arguments)], cwd=self.work, capture_output=True, check=False,
                       env={"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "2", "PATH": "/usr/bin:/bin"})

    def history(self, *arguments):
        """Relative residuals of `newel solve`."""
        self.run("newel", "solve", *arguments, "--report", "r.json", "--quiet")
        report = json.loads((self.work / "r.json").read_text(encoding="utf-8"))
        history = np.array(report["history"])
        return history / history[0]


def read_array(path):
    """A Matrix Market array, as rows x columns."""
    text = gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    rows, columns = map(int, lines[0].split())
    return np.array(lines[1:], dtype=float).reshape(columns, rows).T


def save(figure, name):
    figure.savefig(PLACE / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)
    print("written:", PLACE / f"{name}.svg")


def save_raster(figure, name, programs):
    """As a PNG of 256 colours: images would make an SVG large."""
    figure.savefig(programs.work / "picture.png", dpi=100, bbox_inches="tight")
    plt.close(figure)
    picture = Image.open(programs.work / "picture.png").convert("RGB").quantize(256)
    picture.save(PLACE / f"{name}.png", optimize=True)
    print("written:", PLACE / f"{name}.png")


def residuals(axis, histories, tolerance=1e-8):
    for label, history in histories.items():
        axis.semilogy(np.maximum(history, 1e-16), label=label)
    axis.axhline(tolerance, color="black", linewidth=0.8)
    axis.set(xlabel="iterations", ylabel="|r| / |b|")
    axis.legend(fontsize=8)


def beam(programs):
    """The beam from the side, its displacement ten thousand times as large, and the residuals of three solves."""
    matrix, b = f"{BEAM}.mtx.gz", f"{BEAM}_b.mtx.gz"
    programs.run("newel", "solve", matrix, "--rhs", b, "--out", "u.mtx", "--rtol", "1e-10", "--quiet")
    nodes, u = read_array(pathlib.Path(f"{BEAM}_nodes.mtx.gz")), read_array(programs.work / "u.mtx").reshape(-1, 3)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3), width_ratios=(3, 2))
    axes[0].plot(nodes[:, 0], nodes[:, 2], ".", color="0.85", markersize=3)
    sunk = axes[0].scatter(*(nodes + 1e4 * u)[:, [0, 2]].T, c=1e3 * u[:, 2], s=5, cmap="viridis")
    figure.colorbar(sunk, ax=axes[0], label="mm along z")
    axes[0].set(aspect="equal", xlabel="m", title="before, and displaced 10,000-fold")
    residuals(axes[1], {
        "jacobi": programs.history(matrix, "--rhs", b, "--solver", "cg", "--precond", "jacobi"),
        "amg": programs.history(matrix, "--rhs", b, "--solver", "cg", "--precond", "amg"),
        "amg, with coordinates": programs.history(matrix, "--rhs", b, "--solver", "cg", "--precond", "amg", "--coordinates",
                                                  f"{BEAM}_nodes.mtx.gz")})
    figure.tight_layout()
    save_raster(figure, "tutorial_beam", programs)


def elasticity(programs):
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2), sharey=True)
    for axis, precond in zip(axes, ("jacobi", "amg")):
        residuals(axis, {f"{n} nodes along an edge": programs.history(f"generate:elasticity:{n}", "--solver", "cg", "--precond",
                                                                       precond) for n in (12, 24, 36)})
        axis.set_title(f"cg with {precond}")
    figure.tight_layout()
    save(figure, "tutorial_elasticity")


def read_medit(path):
    """Points and tetrahedra, from 0, of a Medit mesh in text."""
    words = gzip.open(path, "rt").read().split()
    def rows(name, width):
        at = words.index(name) + 1
        count = int(words[at])
        return np.array(words[at + 1 : at + 1 + count * width], float).reshape(count, width)
    return rows("Vertices", 4)[:, :3], rows("Tetrahedra", 5)[:, :4].astype(int) - 1


def bone(programs):
    """The bone of apps/data under a load along all axes: where it moves, and the residuals of three solves."""
    file = ROOT / "apps/data/bone.mesh.gz"
    system = f"mesh:{file}:elasticity"
    programs.run("newel", "solve", system, "--rhs", "ones", "--precond", "amg", "--out", "u.mtx", "--quiet")
    points, tets = read_medit(file)
    moved = np.linalg.norm(read_array(programs.work / "u.mtx").reshape(-1, 3), axis=1)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(1, 1))
    axes[0].imshow(body(points, tets, moved, 0, moved.max(), 700, colours="viridis"))
    axes[0].axis("off")
    axes[0].set_title("bright: where it moves most", fontsize=10)
    cg = (system, "--rhs", "ones", "--solver", "cg", "--precond")
    residuals(axes[1], {"jacobi": programs.history(*cg, "jacobi"),
                        "amg, translations": programs.history(*cg, "amg", "--amg-near-null", "constant"),
                        "amg, rigid body modes": programs.history(*cg, "amg")})
    axes[1].set_xscale("symlog", linthresh=10)
    axes[1].set_xlim(0, None)
    figure.tight_layout()
    save_raster(figure, "tutorial_bone", programs)


def flow(programs):
    system = "generate:convection:20:1000"
    figure, axis = plt.subplots(figsize=(8, 3.4))
    residuals(axis, {
        "cg, jacobi": programs.history(system, "--solver", "cg", "--precond", "jacobi"),
        "gmres --restart 50, jacobi": programs.history(system, "--solver", "gmres", "--restart", "50", "--precond", "jacobi"),
        "bicgstab, jacobi": programs.history(system, "--solver", "bicgstab", "--precond", "jacobi"),
        "bicgstab, spai": programs.history(system, "--solver", "bicgstab", "--precond", "spai")})
    axis.set_xlim(0, 130)
    figure.tight_layout()
    save(figure, "tutorial_flow")


def body(points, tets, values, low, high, width, colours="inferno", up=(0, 0, 1), toward=(1, -1.2, 0), tilt=25.0):
    """A body of tetrahedra with values on its nodes, as an image."""
    surface = boundary_triangles(tets, len(points))
    toward = np.array(toward, float)
    camera = Camera(np.array(up, float), toward / np.linalg.norm(toward), tilt)
    seen = camera.see(points[surface.ravel()])[:, :2]
    lowest, highest = seen.min(axis=0), seen.max(axis=0)
    margin = 0.02 * (highest - lowest).max()
    frame = np.stack([lowest - margin, highest + margin], 1).ravel()
    size = (width, max(1, round(width * (frame[3] - frame[2]) / (frame[1] - frame[0]))))
    view = View(points, tets, surface, camera, frame, size)
    shades = matplotlib.colormaps[colours](np.clip((view.values(values) - low) / (high - low), 0, 1))[:, :3]
    return np.asarray(view.picture(shades))


def heat(programs):
    """The heat sink from below, where the chip is, and the temperatures of a minute on and a minute off."""
    programs.run("newel-heat", "--duration", "120", "--no-compare", "--output-every", "60", "--out", "sink")
    hot = Vtu(programs.work / "sink/heat-000300.vtu")
    values = hot.on_nodes("temperature")
    image = body(hot.points(), hot.tets(), values, values.min(), values.max(), 700, tilt=35.0)
    programs.run("newel-heat", "--duration", "120", "--no-compare", "--output-every", "2", "--out", "curve")
    table = np.genfromtxt(programs.work / "curve/heat.csv", delimiter=",", names=True)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), width_ratios=(3, 2))
    axes[0].imshow(image)
    axes[0].axis("off")
    axes[0].set_title(f"after 60 s: {values.min():.0f} to {values.max():.0f} C", fontsize=10)
    for name in ("highest", "mean", "lowest"):
        axes[1].plot(table["time"], table[name], label=name)
    axes[1].set(xlabel="s", ylabel="C")
    axes[1].legend(fontsize=8)
    figure.tight_layout()
    save_raster(figure, "tutorial_heat", programs)


def scipy(programs):
    """The conductivity and the first temperatures of examples/11_from_scipy.py."""
    found = runpy.run_path(str(ROOT / "examples/11_from_scipy.py"))
    x, report = found["newel"].solve(found["A"], found["b"], preconditioner="amg")
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.1))
    for axis, values, title in zip(axes, (np.log10(found["k"]), 1e3 * x.reshape(found["n"], -1)),
                                   ("conductivity, powers of ten", "temperature, thousandths")):
        figure.colorbar(axis.imshow(values, cmap="viridis" if axis is axes[0] else "inferno"), ax=axis)
        axis.set_title(title, fontsize=10)
        axis.axis("off")
    _, jacobi = found["newel"].solve(found["A"], found["b"], solver="cg", preconditioner="jacobi")
    residuals(axes[2], {"jacobi": np.array(jacobi.history) / jacobi.history[0], "amg": np.array(report.history) / report.history[0]})
    figure.tight_layout()
    save_raster(figure, "tutorial_scipy", programs)


def topology(programs):
    """What the blocks of the tutorial draw."""
    names = {}
    for block in notebook.BLOCK.finditer((ROOT / "docs/tutorials/topology.md").read_text(encoding="utf-8")):
        exec(block["code"], names)
    save_raster(plt.gcf(), "tutorial_topology", programs)


def plate(programs):
    """The plate of 04_time_loop at four of the steps that it writes."""
    programs.run("04_time_loop", "host", "states.txt")
    states = np.loadtxt(programs.work / "states.txt")
    figure, axes = plt.subplots(1, 4, figsize=(10, 2.6))
    for axis, k in zip(axes, (0, 1, 3, 7)):
        image = axis.imshow(states[k].reshape(64, 64), origin="lower", cmap="inferno", vmin=0, vmax=states[0].max(),
                            extent=(0, 1, 0, 1))
        axis.set_title(f"step {25 * (k + 1)}", fontsize=10)
        axis.tick_params(labelsize=7)
    figure.colorbar(image, ax=axes)
    save_raster(figure, "tutorial_time_loop", programs)


def operator(programs):
    programs.run("05_own_operator", "residuals.txt")
    lines = (programs.work / "residuals.txt").read_text(encoding="utf-8").splitlines()
    figure, axis = plt.subplots(figsize=(7, 3))
    found = [np.array(line.split(), float) for line in lines]
    residuals(axis, {"a lambda, no preconditioner": found[0] / found[0][0], "a class that knows its diagonal, jacobi":
                     found[1] / found[1][0]}, tolerance=1e-10)
    figure.tight_layout()
    save(figure, "tutorial_own_operator")


def fortran(programs):
    programs.run("10_fortran", "temperatures.txt")
    x = np.loadtxt(programs.work / "temperatures.txt")
    m = round(len(x) ** 0.5)
    figure, axes = plt.subplots(1, 2, figsize=(8, 3))
    for column, axis in enumerate(axes):
        image = axis.imshow(x[:, column].reshape(m, m), origin="lower", cmap="inferno", extent=(0, 1, 0, 1))
        axis.axvline(0.5, color="white", linewidth=0.8, linestyle=":")
        axis.set_title(f"x(:, {column + 1})", fontsize=10)
        figure.colorbar(image, ax=axis)
    figure.tight_layout()
    save_raster(figure, "tutorial_fortran", programs)


PICTURES = {"beam": beam, "elasticity": elasticity, "bone": bone, "flow": flow, "heat": heat, "scipy": scipy,
            "topology": topology, "time_loop": plate, "own_operator": operator, "fortran": fortran}


def main():
    if len(sys.argv) < 2 or set(sys.argv[2:]) - PICTURES.keys():
        sys.exit(f"usage: plot_tutorials.py BIN [NAME ...]; the names are {', '.join(PICTURES)}")
    matplotlib.rcParams["svg.hashsalt"] = "newel"  # the same file for the same figures
    for name in sys.argv[2:] or PICTURES:
        with tempfile.TemporaryDirectory() as work:
            PICTURES[name](Programs(sys.argv[1], work))


if __name__ == "__main__":
    main()
