# SPDX-License-Identifier: Apache-2.0
"""Problems of flow, mixed elements, plates and time loops, assembled by scikit-fem and solved without an option. Each is
the kind of problem of one of its examples, 18, 19, 24, 30, 33, 36, 37 and 48, and written anew. Skipped, and counted, without
scikit-fem."""

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import residual

import newel

skfem = pytest.importorskip("skfem")
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench/run"))

from flow_systems import plate_blocks  # noqa: E402
from skfem import Basis, BilinearForm, LinearForm, asm, condense  # noqa: E402
from skfem.helpers import curl, ddot, div, dot, grad  # noqa: E402


def solved(A, b, rtol=1e-8):
    """x of the plain call, whose residual has been checked."""
    x, report = newel.solve(A, b, rtol=rtol)
    assert report.converged, (report.status, report.reason)
    assert residual(A, x, b) <= 1.01 * rtol
    return x


@BilinearForm
def stiffness(u, v, w):
    of_vectors = grad(u).ndim == 4  # components, directions, elements, points
    return ddot(grad(u), grad(v)) if of_vectors else dot(grad(u), grad(v))


@BilinearForm
def pressure_work(u, q, w):
    return -div(u) * q


@BilinearForm
def product(u, v, w):
    return u * v


def stokes(mesh, velocity, pressure, force=None, penalty=0.0):
    """The bases and the system (A, b) of Stokes flow with as many velocities as the element of `velocity` has."""
    u = Basis(mesh, velocity, intorder=3)
    p = u.with_element(pressure)
    B = asm(pressure_work, u, p)
    corner = -penalty * asm(product, p)
    K = sp.bmat([[asm(stiffness, u), B.T], [B, corner]], format="csr")
    f = np.zeros(K.shape[0])
    if force is not None:
        f[: u.N] = asm(LinearForm(force), u)
    return u, p, K, f


def stream_function(u, velocity, element):
    """psi with velocity = (d psi / d y, - d psi / d x), and 0 on the boundary."""
    basis = u.with_element(element)
    field = u.interpolate(velocity)

    @LinearForm
    def vorticity(v, w):
        return (w["flow"].grad[1, 0] - w["flow"].grad[0, 1]) * v

    A, b, x, free = condense(asm(stiffness, basis), asm(vorticity, basis, flow=field), D=basis.get_dofs())
    x[free] = solved(A, b)
    return basis, x


@pytest.mark.parametrize("penalty", [1e-6, 0.0])
def test_buoyancy_turns_a_fluid_in_a_disc(penalty):
    """Example 18. The stream function in the middle is 1/64: the plate's deflection under a uniform load."""
    mesh = skfem.MeshTri.init_circle(4)
    u, p, K, f = stokes(mesh, skfem.ElementVector(skfem.ElementTriP2()), skfem.ElementTriP1(),
                        lambda v, w: w.x[0] * v[1], penalty)
    A, b, x, free = condense(K, f, D=u.get_dofs())
    x[free] = solved(A, b)
    basis, psi = stream_function(u, x[: u.N], skfem.ElementTriP2())
    assert (basis.probes(np.zeros((2, 1))) @ psi)[0] == pytest.approx(1 / 64, rel=1e-2)
    # The pressure is x y / 2 on average up to a constant: its slope along the diagonal of a quarter.
    at = p.probes(np.array([[-0.5, 0.5], [0.5, 0.5]])) @ x[u.N:]
    assert at[1] - at[0] == pytest.approx(0.25, rel=5e-2)


def test_heat_leaves_a_square_step_by_step():
    """Example 19, by one Solver for all steps. A product of cosines decays as exp(-2 (pi / 2)^2 t)."""
    mesh = skfem.MeshQuad.init_tensor(np.linspace(-1, 1, 33), np.linspace(-1, 1, 33))
    basis = Basis(mesh, skfem.ElementQuad2())
    L, M = asm(stiffness, basis), asm(product, basis)
    dt, steps = 0.01, 20
    inside = basis.complement_dofs(basis.get_dofs())
    left, right = ((M + sign * dt / 2 * L)[inside][:, inside].tocsr() for sign in (1, -1))
    solver = newel.Solver(left)
    u = basis.project(lambda x: np.cos(np.pi * x[0] / 2) * np.cos(np.pi * x[1] / 2))[inside]
    begin = np.linalg.norm(u)
    for _ in range(steps):
        u, report = solver.solve(right @ u, x0=u, rtol=1e-9)
        assert report.converged
    assert np.linalg.norm(u) / begin == pytest.approx(np.exp(-2 * (np.pi / 2) ** 2 * dt * steps), rel=1e-3)


def test_flow_over_a_step_loses_no_fluid():
    """Example 24: a channel that widens, with a parabola at the inlet and a free outlet."""
    narrow = skfem.MeshTri.init_tensor(np.linspace(-1, 0, 9), np.linspace(0, 1, 9))
    wide = skfem.MeshTri.init_tensor(np.linspace(0, 4, 33), np.linspace(-1, 1, 17))
    mesh = (narrow + wide).with_boundaries({
        "inlet": lambda x: np.isclose(x[0], -1),
        "outlet": lambda x: np.isclose(x[0], 4),
        "walls": lambda x: ~(np.isclose(x[0], -1) | np.isclose(x[0], 4))})
    u, _, K, f = stokes(mesh, skfem.ElementVector(skfem.ElementTriP2()), skfem.ElementTriP1())
    x = np.zeros(K.shape[0])
    x_of, dofs = u.doflocs, u.get_dofs("inlet").all(["u^1"])
    x[dofs] = 4 * x_of[1][dofs] * (1 - x_of[1][dofs])
    fixed = np.union1d(u.get_dofs("inlet").all(), u.get_dofs("walls").all())
    A, b, whole, free = condense(K, f, x=x, D=fixed)
    whole[free] = solved(A, b)

    @skfem.Functional
    def flux(w):
        return dot(w["flow"], w.n)

    for side, expected in (("inlet", -2 / 3), ("outlet", 2 / 3)):
        edge = skfem.FacetBasis(mesh, u.elem, facets=mesh.boundaries[side])
        assert asm(flux, edge, flow=edge.interpolate(whole[: u.N])) == pytest.approx(expected, rel=1e-6)


def test_a_fluid_in_a_square_turns_as_a_clamped_plate_bends():
    """Example 30. The stream function in the middle is the plate's deflection: 0.162 / 128 (Love 1944)."""
    mesh = skfem.MeshQuad.init_tensor(*(np.linspace(-0.5, 0.5, 33),) * 2)
    u, _, K, f = stokes(mesh, skfem.ElementVector(skfem.ElementQuad2()), skfem.ElementQuad1(),
                        lambda v, w: w.x[0] * v[1])
    A, b, x, free = condense(K, f, D=u.get_dofs())
    x[free] = solved(A, b)
    basis, psi = stream_function(u, x[: u.N], skfem.ElementQuad2())
    assert (basis.probes(np.zeros((2, 1))) @ psi)[0] == pytest.approx(0.162 / 128, rel=1e-2)


def test_edge_elements_find_a_field_with_a_known_curl():
    """Example 33: curl curl E + E = f, with E across the walls only."""
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(-1, 1, 9),) * 3)
    basis = Basis(mesh, skfem.ElementTetN0())

    @BilinearForm
    def form(e, v, w):
        return dot(curl(e), curl(v)) + dot(e, v)

    def field(x):  # curl curl of it is 2 in the first component times (1 - z^2) + ..., by hand
        return np.array([(1 - x[1] ** 2) * (1 - x[2] ** 2), 0 * x[0], 0 * x[0]])

    @LinearForm
    def source(v, w):
        _, y, z = w.x
        value = field(w.x)
        value[0] += 2 * (1 - z**2) + 2 * (1 - y**2)
        return dot(value, v)

    A, b, x, free = condense(asm(form, basis), asm(source, basis), D=basis.get_dofs())
    x[free] = solved(A, b)

    @skfem.Functional
    def error(w):
        d = w["found"] - field(w.x)
        return dot(d, d)

    @skfem.Functional
    def size(w):
        return dot(field(w.x), field(w.x))

    assert asm(error, basis, found=basis.interpolate(x)) <= 0.03 * asm(size, basis)


def test_rubber_is_stretched_by_newton_without_losing_volume():
    """Example 36: a block that hardly changes its volume, with a pressure as the second unknown. The strain energy is
    mu / 2 (|F|^2 - 3 - 2 ln J) + p (J - 1) - p^2 / (2 bulk)."""
    mu, bulk, stretch = 1.0, 1e3, 0.2
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, 1, 4),) * 3)
    u = Basis(mesh, skfem.ElementVector(skfem.ElementTetP2()), intorder=2)
    p = u.with_element(skfem.ElementTetP1())
    eye = np.eye(3)[:, :, None, None]

    def forms(F, pressure):
        """The forces, the change of volume, and their derivatives, at the deformation F."""
        last = np.moveaxis(F, (0, 1), (2, 3))
        Ft, J = np.moveaxis(np.linalg.inv(last), (2, 3), (1, 0)), np.linalg.det(last)

        @LinearForm
        def forces(v, w):
            return ddot(mu * (F - Ft) + pressure * J * Ft, grad(v))

        @LinearForm
        def volume(q, w):
            return (J - 1 - pressure / bulk) * q

        @BilinearForm
        def stiff(du, v, w):
            turned = np.einsum("ij...,kj...,kl...->il...", Ft, grad(du), Ft)  # - d F^-T
            push = pressure * J * ddot(Ft, grad(du))
            return ddot(mu * (grad(du) + turned) + push * Ft - pressure * J * turned, grad(v))

        @BilinearForm
        def coupled(du, q, w):
            return J * ddot(Ft, grad(du)) * q

        return forces, volume, stiff, coupled

    M = asm(product, p)
    x = np.zeros(u.N + p.N)
    sides = [(0, 0.0), (1, 0.0), (2, 0.0), (2, 1.0)]
    fixed = []
    for axis, at in sides:
        dofs = u.get_dofs(lambda x, axis=axis, at=at: np.isclose(x[axis], at)).all([f"u^{axis + 1}"])
        x[dofs] = stretch * at
        fixed.append(dofs)
    free = np.setdiff1d(np.arange(x.size), np.concatenate(fixed))
    for _ in range(12):
        forces, volume, stiff, coupled = forms(eye + u.interpolate(x[: u.N]).grad, np.asarray(p.interpolate(x[u.N:])))
        B = asm(coupled, u, p)
        K = sp.bmat([[asm(stiff, u), B.T], [B, -M / bulk]], format="csr")
        r = np.concatenate([asm(forces, u), asm(volume, p)])
        if np.linalg.norm(r[free]) < 1e-8:
            break
        x[free] -= solved(K[free][:, free], r[free])
    assert np.linalg.norm(r[free]) < 1e-8
    # A block of free sides: F = diag(a, a, 1.2), and its sides carry nothing: mu (a - 1 / a) + p J / a = 0.
    a = 1 + x[u.get_dofs(lambda x: np.isclose(x[0], 1)).all(["u^1"])].mean()
    pressure = x[u.N:].mean()
    assert x[u.N:].std() <= 1e-6
    assert mu * (a * a - 1) + pressure * a * a * (1 + stretch) == pytest.approx(0, abs=1e-6)
    assert a * a * (1 + stretch) - 1 == pytest.approx(pressure / bulk, abs=1e-8)


def test_raviart_thomas_elements_carry_the_flux_of_a_known_potential():
    """Example 37: diffusion in mixed form on tetrahedra."""
    mesh = skfem.MeshTet.init_tensor(*(np.linspace(0, 1, 9),) * 3)
    flux = Basis(mesh, skfem.ElementTetRT0(), intorder=4)
    potential = flux.with_element(skfem.ElementTetP0())

    @BilinearForm
    def mass(s, t, w):
        return dot(s, t)

    @BilinearForm
    def divergence(s, v, w):
        return div(s) * v

    @LinearForm
    def load(v, w):
        return -3 * np.pi**2 * np.prod(np.sin(np.pi * w.x), axis=0) * v

    B = asm(divergence, flux, potential)
    K = sp.bmat([[asm(mass, flux), B.T], [B, None]], format="csr")
    b = np.concatenate([np.zeros(flux.N), asm(load, potential)])
    x = solved(K, b)
    found = x[flux.N:]
    exact = np.prod(np.sin(np.pi * mesh.p[:, mesh.t].mean(axis=1)), axis=0)
    assert np.linalg.norm(found - exact) <= 0.05 * np.linalg.norm(exact)


def test_a_plate_with_moments_as_unknowns_bends_as_known():
    """A clamped plate by the element of Hellan, Herrmann and Johnson, as in example 48, with a block each for the moments'
    products and their work on the curvature. Under a load of 1 the middle sinks by 0.00126532 (Timoshenko and
    Woinowsky-Krieger, section 44)."""
    mesh = skfem.MeshTri.init_sqsymmetric().refined(3)
    moments, deflection, products, work = plate_blocks(mesh)
    K = sp.bmat([[products, work], [work.T, None]], "csr")
    f = np.concatenate([np.zeros(moments.N), -asm(LinearForm(lambda v, w: 1.0 * v), deflection)])
    A, b, x, free = condense(K, f, D=moments.N + deflection.get_dofs().all())
    x[free] = solved(A.tocsr(), b)
    middle = (deflection.probes(np.full((2, 1), 0.5)) @ x[moments.N:])[0]
    assert middle == pytest.approx(0.00126532, rel=1e-2)
