#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes fifteen systems beyond symmetric positive definite ones as NumPy files, NAME.npz and NAME_b.npy, for
`newel bench regret`: flow, mixed elements, convection, fixed unknowns, waves, plates, edge elements.

    bench/run/flow_systems.py DIR [--scale S] [--spsolve]

S multiplies the cells along an edge, 1 by default. --spsolve also measures SciPy's direct solver.

Needs scikit-fem. bench/run/bench_flow.sh measures them.
"""
import argparse
import pathlib
import time

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
import skfem
from skfem import Basis, BilinearForm, LinearForm, asm, condense, enforce
from skfem.helpers import curl, dd, ddot, div, dot, grad, mul

SYSTEMS = {}


def system(function):
    """Registers a function of the scale that returns A and b."""
    SYSTEMS[function.__name__] = function
    return function


@BilinearForm
def laplace(u, v, w):
    return dot(grad(u), grad(v))


@BilinearForm
def vector_laplace(u, v, w):
    return ddot(grad(u), grad(v))


@BilinearForm
def strain_energy(u, v, w):
    def strain(of):
        return 0.5 * (grad(of) + grad(of).swapaxes(0, 1))
    return 2 * ddot(strain(u), strain(v))


@BilinearForm
def mass(u, v, w):
    return u * v


@BilinearForm
def minus_divergence(u, q, w):
    return -div(u) * q


@LinearForm
def one(v, w):
    return 1.0 * v


def flow_system(mesh, velocity, pressure, force, block=vector_laplace, corner=0.0, wind=None):
    """[A B^T; B -corner M] with velocities that are zero on the boundary; `wind` adds convection to A."""
    u = Basis(mesh, velocity, intorder=4)
    p = u.with_element(pressure)
    A = asm(block, u)
    if wind is not None:
        A = A + asm(BilinearForm(lambda s, v, w: dot(np.einsum("ij...,j...->i...", grad(s), wind(w.x)), v)), u)
    B = asm(minus_divergence, u, p)
    K = sp.bmat([[A, B.T], [B, -corner * asm(mass, p)]], format="csr")
    f = np.concatenate([asm(LinearForm(force), u), np.zeros(p.N)])
    return condense(K, f, D=u.get_dofs())[:2]


def vortex(x):
    return np.array([-2 * (x[1] - 0.5), 2 * (x[0] - 0.5)])


def convection(cells, nu, element):
    """-nu laplace u + v . grad u = 1 for a vortex, stabilised along streamlines."""
    mesh = skfem.MeshTri.init_tensor(*(np.linspace(0, 1, cells + 1),) * 2)
    basis = Basis(mesh, element)

    @BilinearForm
    def form(u, v, w):
        wind = vortex(w.x)
        along = 0.5 * w.h / (np.linalg.norm(wind, axis=0) + 1e-12)
        return nu * dot(grad(u), grad(v)) + dot(wind, grad(u)) * (v + along * dot(wind, grad(v)))

    return condense(asm(form, basis), asm(one, basis), D=basis.get_dofs())[:2]


@system
def stokes_disc(s):
    mesh = skfem.MeshTri.init_circle(4 + round(np.log2(s)) if s > 1 else 4)
    return flow_system(mesh, skfem.ElementVector(skfem.ElementTriP2()), skfem.ElementTriP1(),
                       lambda v, w: w.x[0] * v[1], corner=1e-6)


@system
def stokes_square(s):
    mesh = skfem.MeshQuad.init_tensor(*(np.linspace(-0.5, 0.5, 48 * s + 1),) * 2)
    return flow_system(mesh, skfem.ElementVector(skfem.ElementQuad2()), skfem.ElementQuad1(),
                       lambda v, w: w.x[0] * v[1])


@system
def stokes_cube(s):
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, 1, 8 * s + 1),) * 3)
    return flow_system(mesh, skfem.ElementVector(skfem.ElementTetP2()), skfem.ElementTetP1(),
                       lambda v, w: w.x[0] * v[2])


@system
def oseen(s):
    mesh = skfem.MeshTri.init_tensor(*(np.linspace(0, 1, 48 * s + 1),) * 2)
    return flow_system(mesh, skfem.ElementVector(skfem.ElementTriP2()), skfem.ElementTriP1(),
                       lambda v, w: w.x[0] * v[1], wind=lambda x: 50 * vortex(x))


@system
def incompressible_elasticity(s):
    mesh = skfem.MeshTri.init_tensor(*(np.linspace(0, 1, 48 * s + 1),) * 2)
    return flow_system(mesh, skfem.ElementVector(skfem.ElementTriP2()), skfem.ElementTriP1(),
                       lambda v, w: -v[1], block=strain_energy, corner=1e-3)


def mixed_diffusion(mesh, flux, potential):
    s = Basis(mesh, flux, intorder=4)
    u = s.with_element(potential)
    A = asm(BilinearForm(lambda a, b, w: dot(a, b)), s)
    B = asm(minus_divergence, s, u)
    return sp.bmat([[A, B.T], [B, None]], format="csr"), np.concatenate([np.zeros(s.N), asm(one, u)])


@system
def mixed_diffusion_plane(s):
    mesh = skfem.MeshTri.init_tensor(*(np.linspace(0, 1, 100 * s + 1),) * 2)
    return mixed_diffusion(mesh, skfem.ElementTriRT0(), skfem.ElementTriP0())


@system
def mixed_diffusion_cube(s):
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, 1, 14 * s + 1),) * 3)
    return mixed_diffusion(mesh, skfem.ElementTetRT0(), skfem.ElementTetP0())


def plate_blocks(mesh):
    """A thin plate in moments m and deflection u, of rigidity 1: the bases of both, the matrix of the moments' products, and
    that of their work on the plate's curvature, -(t, grad grad u), with the normal moments' work where edges bend."""
    elements = skfem.ElementTriHHJ1(), skfem.ElementTriP2G()
    moments, deflection = (Basis(mesh, element, intorder=4) for element in elements)
    products = asm(BilinearForm(lambda m, t, w: ddot(m, t)), moments)
    work = -asm(BilinearForm(lambda u, t, w: ddot(t, dd(u))), deflection, moments)
    of_edge = BilinearForm(lambda u, t, w: dot(mul(t, w.n), w.n) * dot(grad(u), w.n))
    inside = skfem.InteriorFacetBasis
    for kind, side, sign in ((skfem.BoundaryFacetBasis, {}, 1), (inside, {"side": 0}, 1), (inside, {"side": 1}, -1)):
        t, u = (kind(mesh, element, intorder=4, **side) for element in elements)  # both sides have the normal of one
        work = work + sign * asm(of_edge, u, t)
    return moments, deflection, products, work


@system
def plate(s):
    mesh = skfem.MeshTri.init_sqsymmetric().refined(4 + round(np.log2(s)))
    moments, deflection, products, work = plate_blocks(mesh)
    A = sp.bmat([[products, work], [work.T, None]], "csr")
    b = np.concatenate([np.zeros(moments.N), -asm(one, deflection)])
    return condense(A, b, D=moments.N + deflection.get_dofs().all())[:2]


@system
def edge_elements(s):
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, 1, 14 * s + 1),) * 3)
    basis = Basis(mesh, skfem.ElementTetN0())
    A = asm(BilinearForm(lambda e, v, w: dot(curl(e), curl(v)) + dot(e, v)), basis)
    b = asm(LinearForm(lambda v, w: v[0]), basis)
    return condense(A, b, D=basis.get_dofs())[:2]


@system
def enforced_diffusion(s):
    mesh = skfem.MeshTri.init_tensor(*(np.linspace(0, 1, 256 * s + 1),) * 2)
    basis = Basis(mesh, skfem.ElementTriP1())
    return enforce(asm(laplace, basis), asm(one, basis), D=basis.get_dofs())


@system
def convection_1e2(s):
    return convection(256 * s, 1e-2, skfem.ElementTriP1())


@system
def convection_1e3(s):
    return convection(256 * s, 1e-3, skfem.ElementTriP1())


@system
def convection_1e5(s):
    return convection(128 * s, 1e-5, skfem.ElementTriP1())


@system
def wave_plane(s):
    """-laplace u - k^2 u for twelve wavelengths along an edge."""
    mesh = skfem.MeshTri.init_tensor(*(np.linspace(0, 1, 192 * s + 1),) * 2)
    basis = Basis(mesh, skfem.ElementTriP1())
    k = 2 * np.pi * 12.1
    return condense(asm(laplace, basis) - k**2 * asm(mass, basis), asm(one, basis), D=basis.get_dofs())[:2]


@system
def wave_cube(s):
    """The same in a cube, for three wavelengths."""
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, 1, 24 * s + 1),) * 3)
    basis = Basis(mesh, skfem.ElementTetP1())
    k = 2 * np.pi * 3.1
    return condense(asm(laplace, basis) - k**2 * asm(mass, basis), asm(one, basis), D=basis.get_dofs())[:2]


def seconds_of_spsolve(A, b):
    began = time.perf_counter()
    spla.spsolve(A, b)
    return time.perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--spsolve", action="store_true")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, make in SYSTEMS.items():
        A, b = make(given.scale)
        A = sp.csr_array(A)
        A.sum_duplicates()
        sp.save_npz(given.folder / f"{name}.npz", A)
        np.save(given.folder / f"{name}_b.npy", b)
        line = f"{name}: {A.shape[0]} rows, {A.nnz} entries"
        if given.spsolve and A.shape[0] >= 10000:
            line += f", spsolve {seconds_of_spsolve(A.tocsc(), b):.3f} s"
        print(line, flush=True)


if __name__ == "__main__":
    main()
