# SPDX-License-Identifier: Apache-2.0
"""Systems for the tests of the plugin, as triplets that every process has, and their residuals without PETSc."""
import numpy as np
from petsc4py import PETSc

COMM = PETSc.COMM_WORLD


class System:
    """A matrix as triplets without repetitions, and what belongs to it."""

    def __init__(self, row, col, val, block=1, coordinates=None):
        self.row, self.col, self.val = np.asarray(row), np.asarray(col), np.asarray(val, dtype=float)
        self.rows = int(self.row.max()) + 1
        self.block, self.coordinates = block, coordinates

    def mat(self, kind="aij", values=None):
        """The Mat, each process with its rows."""
        values = self.val if values is None else values
        A = PETSc.Mat().create(COMM)
        A.setSizes(self.rows, bsize=self.block)
        A.setType(kind)
        A.setUp()
        A.setOption(PETSc.Mat.Option.NEW_NONZERO_ALLOCATION_ERR, False)
        if kind.endswith("sbaij"):
            A.setOption(PETSc.Mat.Option.IGNORE_LOWER_TRIANGULAR, True)
        self.fill(A, values)
        return A

    def fill(self, A, values):
        first, end = A.getOwnershipRange()
        for k in np.flatnonzero((self.row >= first) & (self.row < end)):
            A.setValue(self.row[k], self.col[k], values[k])
        A.assemble()

    def product(self, x, values=None):
        y = np.zeros(self.rows, dtype=np.longdouble)
        values = self.val if values is None else values
        np.add.at(y, self.row, values.astype(np.longdouble) * x[self.col])
        return y

    def residual(self, b, x, values=None):
        """|b - A x| of two Vec, by triplets in long double."""
        return float(np.linalg.norm((whole(b) - self.product(whole(x), values)).astype(float)))


def whole(v):
    """The values of all processes on each."""
    scatter, everything = PETSc.Scatter.toAll(v)
    scatter.scatter(v, everything, mode=PETSc.ScatterMode.FORWARD)
    return everything.getArray().copy()


def vector(A, values):
    """A Vec like the rows of A with the process' part of `values`."""
    v = A.createVecLeft()
    first, end = v.getOwnershipRange()
    v.setArray(np.asarray(values)[first:end])
    return v


def grid(n, ends):
    """-Laplace on n x n points; `ends`: the diagonal is 4 (fixed values around the grid), or the number of neighbours."""
    row, col, val = [], [], []
    for j in range(n):
        for i in range(n):
            near = [(i + di, j + dj) for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1))
                    if 0 <= i + di < n and 0 <= j + dj < n]
            row += [j * n + i] * (len(near) + 1)
            col += [q * n + p for p, q in near] + [j * n + i]
            val += [-1.0] * len(near) + [4.0 if ends == "fixed" else float(len(near))]
    return System(row, col, val)


def poisson(n):
    return grid(n, "fixed")


def neumann(n):
    return grid(n, "free")


def hexahedron():
    """The stiffness of a cube of side 1 with trilinear elements, Young's modulus 1, Poisson's ratio 0.3."""
    nu = 0.3
    shear, lame = 0.5 / (1 + nu), nu / ((1 + nu) * (1 - 2 * nu))
    D = np.diag([lame + 2 * shear] * 3 + [shear] * 3)
    D[:3, :3] += lame * (1 - np.eye(3))
    corners = np.array([(i, j, k) for k in (0, 1) for j in (0, 1) for i in (0, 1)], dtype=float)
    K, half = np.zeros((24, 24)), 0.5 / np.sqrt(3)
    for point in 0.5 + half * (2 * corners - 1):
        factors = np.where(corners == 1, point, 1 - point)
        B = np.zeros((6, 24))
        for c in range(8):
            g = [(2 * corners[c, d] - 1) * np.prod(np.delete(factors[c], d)) for d in range(3)]
            B[:, 3 * c:3 * c + 3] = [[g[0], 0, 0], [0, g[1], 0], [0, 0, g[2]],
                                     [g[1], g[0], 0], [0, g[2], g[1]], [g[2], 0, g[0]]]
        K += B.T @ D @ B / 8
    return corners.astype(int), K


def elasticity(nx, ny, nz, clamped=True):
    """A bar of nx x ny x nz cubes. Clamped: the nodes at x = 0 are left out."""
    corners, K = hexahedron()
    start = 1 if clamped else 0
    across = nx + 1 - start

    def node(i, j, k):
        return (k * (ny + 1) + j) * across + i - start
    entries = {}
    for k in range(nz):
        for j in range(ny):
            for i in range(nx):
                at = [(i + a, j + b, k + c) for a, b, c in corners]
                for p, P in enumerate(at):
                    for q, Q in enumerate(at):
                        if min(P[0], Q[0]) < start:
                            continue
                        for r in range(3):
                            for s in range(3):
                                key = (3 * node(*P) + r, 3 * node(*Q) + s)
                                entries[key] = entries.get(key, 0.0) + K[3 * p + r, 3 * q + s]
    keys = sorted(entries)
    points = np.array([(i, j, k) for k in range(nz + 1) for j in range(ny + 1) for i in range(start, nx + 1)], dtype=float)
    return System([r for r, _ in keys], [c for _, c in keys], [entries[key] for key in keys], 3, points)


def rigid_body_modes(A, coordinates):
    """PETSc's rigid body modes of the nodes of this process."""
    v = vector(A, coordinates.ravel())
    v.setBlockSize(3)
    return PETSc.NullSpace().createRigidBody(v)
