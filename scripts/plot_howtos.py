#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solves the problems of the how-to pages on mixed elements and complex systems and of the flow over a step, and draws
them: docs/pictures/howto_NAME.png.

    scripts/plot_howtos.py BIN [NAME ...]      BIN: the folder of the programs, as build/host/bin

Without names, all of PICTURES below. Needs matplotlib, Pillow and scikit-fem.
"""
import pathlib
import sys
import tempfile

from plot_needs import need

need("matplotlib", "numpy", "PIL", "scipy", "skfem")
import matplotlib  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
import scipy.io  # noqa: E402
import scipy.sparse as sp  # noqa: E402
import skfem  # noqa: E402
from skfem import Basis, BilinearForm, LinearForm, asm, condense  # noqa: E402
from skfem.helpers import ddot, div, dot, grad  # noqa: E402

from plot_tutorials import Programs, save_raster  # noqa: E402


@BilinearForm
def laplace(u, v, w):
    return dot(grad(u), grad(v))


@BilinearForm
def mass(u, v, w):
    return u * v


def solved(programs, A, b, *options):
    """x of `newel solve`, which reads A and b from files."""
    real = not (np.iscomplexobj(A.data) or np.iscomplexobj(b))
    if real:
        sp.save_npz(programs.work / "A.npz", sp.csr_array(A))
        np.save(programs.work / "b.npy", b)
        programs.run("newel", "solve", "A.npz", "--rhs", "b.npy", "--out", "x.npy", "--quiet", *options)
        return np.load(programs.work / "x.npy")
    scipy.io.mmwrite(programs.work / "A.mtx", sp.coo_array(A), precision=16, symmetry="general")
    scipy.io.mmwrite(programs.work / "b.mtx", np.asarray(b, dtype=complex).reshape(-1, 1), precision=16)
    programs.run("newel", "solve", "A.mtx", "--rhs", "b.mtx", "--out", "x.mtx", "--quiet", *options)
    return scipy.io.mmread(programs.work / "x.mtx").ravel()


def colours_of(axis, mesh, values, **keywords):
    return axis.tripcolor(*mesh.p, mesh.t.T, values, shading="gouraud", rasterized=True, **keywords)


def mixed_elements(programs):
    """Flow over a step by Taylor-Hood elements: pressure, and lines along the velocity."""
    narrow = skfem.MeshTri.init_tensor(np.linspace(-1, 0, 17), np.linspace(0, 1, 17))
    wide = skfem.MeshTri.init_tensor(np.linspace(0, 4, 65), np.linspace(-1, 1, 33))
    mesh = narrow + wide
    u = Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=3)
    p = u.with_element(skfem.ElementTriP1())
    A = asm(BilinearForm(lambda a, v, w: ddot(grad(a), grad(v))), u)
    B = asm(BilinearForm(lambda a, q, w: -div(a) * q), u, p)
    K = sp.bmat([[A, B.T], [B, None]], format="csr")
    x = np.zeros(K.shape[0])
    inlet = u.get_dofs(lambda x: np.isclose(x[0], -1)).all(["u^1"])
    x[inlet] = 4 * u.doflocs[1][inlet] * (1 - u.doflocs[1][inlet])
    walls = u.get_dofs(mesh.facets_satisfying(lambda x: ~np.isclose(x[0], 4), boundaries_only=True)).all()
    k, f, whole, free = condense(K, np.zeros(x.size), x=x, D=walls)
    whole[free] = solved(programs, k, f)
    velocity, pressure = whole[: u.N][u.nodal_dofs], whole[u.N:][p.nodal_dofs[0]]
    figure, axis = plt.subplots(figsize=(9, 3.4))
    figure.colorbar(colours_of(axis, mesh, pressure, cmap="viridis"), ax=axis, label="pressure")
    grid = np.meshgrid(np.linspace(-0.98, 3.98, 120), np.linspace(-0.98, 0.98, 60))
    lines = matplotlib.tri.Triangulation(*mesh.p, mesh.t.T)
    components = [matplotlib.tri.LinearTriInterpolator(lines, one)(*grid) for one in velocity]
    axis.streamplot(*grid, *components, color="white", linewidth=0.7, density=1.1, arrowsize=0.7)
    axis.set(aspect="equal", title="flow over a step: pressure, and lines along the velocity")
    save_raster(figure, "howto_mixed_elements", programs)


def complex_wave(programs):
    """A source in a hall whose walls absorb: -laplace u - k^2 u, and du/dn = i k u on the walls."""
    k = 2 * np.pi * 8
    mesh = skfem.MeshTri.init_tensor(np.linspace(0, 1, 161), np.linspace(0, 0.6, 97))
    basis = Basis(mesh, skfem.ElementTriP1())
    A = asm(laplace, basis) - k**2 * asm(mass, basis) - 1j * k * asm(mass, basis.boundary())
    b = asm(LinearForm(lambda v, w: np.exp(-2000 * ((w.x[0] - 0.3) ** 2 + (w.x[1] - 0.25) ** 2)) * v), basis)
    u = solved(programs, sp.csr_array(A), b)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.2))
    most = np.abs(u.real).max() / 3
    colours_of(axes[0], mesh, u.real, cmap="RdBu", vmin=-most, vmax=most)
    axes[0].set(aspect="equal", title="real part")
    colours_of(axes[1], mesh, np.abs(u), cmap="viridis", vmax=2 * most)
    axes[1].set(aspect="equal", title="amplitude")
    figure.tight_layout()
    save_raster(figure, "howto_complex", programs)


def convection(programs):
    """What a winding stream carries: 1 on the lower half of the left wall."""
    mesh = skfem.MeshTri.init_tensor(*(np.linspace(0, 1, 129),) * 2)
    basis = Basis(mesh, skfem.ElementTriP1())
    walls = mesh.facets_satisfying(lambda x: ~np.isclose(x[0], 1), boundaries_only=True)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
    for axis, nu in zip(axes, (1e-2, 1e-5)):
        def form(u, v, w, nu=nu):
            wind = np.array([1 + 0 * w.x[0], 0.6 * np.cos(5 * w.x[0])])
            along = 0.5 * w.h / np.linalg.norm(wind, axis=0)
            return nu * dot(grad(u), grad(v)) + dot(wind, grad(u)) * (v + along * dot(wind, grad(v)))

        A = asm(BilinearForm(form), basis)
        x = np.zeros(basis.N)
        x[basis.get_dofs(lambda x: np.isclose(x[0], 0) & (x[1] < 0.5))] = 1
        a, b, whole, free = condense(A, np.zeros(basis.N), x=x, D=basis.get_dofs(walls))
        whole[free] = solved(programs, a, b)
        colours_of(axis, mesh, whole, cmap="viridis", vmin=0, vmax=1)
        axis.set(aspect="equal", title=f"diffusion {nu:g}")
    figure.tight_layout()
    save_raster(figure, "howto_convection", programs)


PICTURES = {"mixed_elements": mixed_elements, "complex": complex_wave, "convection": convection}


def main(folder, *names):
    with tempfile.TemporaryDirectory() as work:
        programs = Programs(folder, work)
        for name in names or PICTURES:
            PICTURES[name](programs)


if __name__ == "__main__":
    main(*sys.argv[1:])
