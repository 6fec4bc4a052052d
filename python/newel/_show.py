# SPDX-License-Identifier: Apache-2.0
"""A picture of a field on a mesh, by PyVista, which is imported when it is first called."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from ._choices import finite_number
from ._libraries import library_of

Array = np.ndarray[Any, np.dtype[Any]]

# VTK's numbers of the types of cells, by meshio's names.
_vtk_types = {"vertex": 1, "line": 3, "triangle": 5, "quad": 9, "tetra": 10, "hexahedron": 12, "wedge": 13, "pyramid": 14,
              "line3": 21, "triangle6": 22, "quad8": 23, "tetra10": 24, "hexahedron20": 25}
# By the dimensions of the points and the nodes of a cell.
_names = {(1, 2): "line", (2, 2): "line", (2, 3): "triangle", (2, 4): "quad", (2, 6): "triangle6", (2, 8): "quad8",
          (3, 2): "line", (3, 3): "triangle", (3, 4): "tetra", (3, 6): "wedge", (3, 8): "hexahedron", (3, 10): "tetra10",
          (3, 20): "hexahedron20"}
_skfem_hexahedron = [0, 3, 6, 2, 1, 5, 7, 4]  # scikit-fem's nodes in the order of VTK


class Cells(NamedTuple):
    """Points in three dimensions, and the cells of each type of VTK."""

    points: Array
    dimensions: int  # of the points that were given
    of_type: dict[int, Array]

    @property
    def number(self) -> int:
        return sum(cells.shape[0] for cells in self.of_type.values())


def show(mesh: Any, values: Any = None, *, warp: float = 0.0, name: str = "u", file: str | os.PathLike[str] | None = None,
         **style: Any) -> Any:
    """Draw a field on a mesh, in a window or below a cell of a notebook. Needs PyVista.

    Parameters
    ----------
    mesh : mesh of meshio or of scikit-fem, or tuple (points, cells)
        Of a tuple: points of n x 1, 2 or 3; cells of m x k nodes, counted from 0 and in the order of VTK, or a dict of such
        arrays by meshio's names, such as ``{"triangle": ..., "quad": ...}``. Four nodes are a quadrilateral in two
        dimensions and a tetrahedron in three. Of scikit-fem the vertices are drawn.
    values : array, optional
        A value for each point or each cell, or a vector of as many components as the points have dimensions for each
        point: n x d, or flat with the components of a point next to each other, as the x of a solve. The lengths of
        vectors are shown. On the host or a device.
    warp : float
        Move the points by vectors times this.
    name : str
        Of the field, at the bar of colours.
    file : path, optional
        Write a picture (``.png``) instead of showing one.
    **style
        Passed on to ``pyvista.Plotter.add_mesh``, such as ``cmap="viridis"`` or ``show_edges=True``.

    Returns
    -------
    What ``pyvista.Plotter.show`` returns: in a notebook the picture. None if a file was written.

    Raises
    ------
    ImportError
        If PyVista is not installed.
    ValueError, TypeError
        For meshes and values that do not fit each other.
    """
    try:
        import pyvista
    except ImportError as error:
        raise ImportError("newel.show needs PyVista: pip install pyvista") from error
    cells, warp = _cells_of(mesh), finite_number(warp, "warp")
    grid = pyvista.UnstructuredGrid(cells.of_type, cells.points)
    if values is None:
        if warp:
            raise ValueError("warp: expected values to move the points by")
    else:
        field = _on_host(values)
        kind = _kind_of(field, cells)
        if kind == "vectors":
            vectors = np.zeros((cells.points.shape[0], 3))
            vectors[:, :cells.dimensions] = field.reshape(-1, cells.dimensions)
            grid.points = cells.points + warp * vectors
            field = np.linalg.norm(vectors, axis=1)
        elif warp:
            raise ValueError(f"warp: expected a vector for each point to move it by, found one value for each {kind[:-1]}")
        (grid.cell_data if kind == "cells" else grid.point_data)[name] = field.reshape(-1)
        style["scalars"] = name
    plotter = pyvista.Plotter(off_screen=True) if file is not None else pyvista.Plotter()
    plotter.add_mesh(grid, **style)
    if cells.dimensions < 3:
        plotter.view_xy()
    if file is None:
        return plotter.show()
    plotter.screenshot(os.fspath(file))
    plotter.close()
    return None


def _on_host(values: Any) -> Array:
    library = library_of(values)
    field = np.asarray(values if library is None else library.host(values))
    if field.dtype.kind not in "biuf":
        raise TypeError(f"values: expected real numbers, found {field.dtype}")
    return field.astype(np.float64)


def _kind_of(field: Array, cells: Cells) -> str:
    n, d = cells.points.shape[0], cells.dimensions
    shape = field.shape
    if shape in ((n,), (n, 1)):
        return "points"
    if d > 1 and shape in ((n, d), (n * d,)):
        return "vectors"
    if shape in ((cells.number,), (cells.number, 1)):
        return "cells"
    vectors = f", {n} x {d} or {n * d}" if d > 1 else ""
    raise ValueError(f"values: expected {n} values, one for each point{vectors}, or {cells.number}, one for each cell; "
                     f"found the shape {shape}")


def _cells_of(mesh: Any) -> Cells:
    if hasattr(mesh, "p") and hasattr(mesh, "t"):
        points, nodes = np.asarray(mesh.p).T, np.asarray(mesh.t).T
        if nodes.shape[1] == 8 and points.shape[1] == 3:
            nodes = nodes[:, _skfem_hexahedron]
        given = {_name_of(points, nodes): nodes}
    elif hasattr(mesh, "points") and hasattr(mesh, "cells"):
        points, given = np.asarray(mesh.points), {}
        for block in mesh.cells:
            nodes = np.asarray(block.data)
            given[block.type] = np.concatenate([given[block.type], nodes]) if block.type in given else nodes
    elif isinstance(mesh, tuple) and len(mesh) == 2:
        points = np.asarray(mesh[0], dtype=np.float64)
        points = points[:, None] if points.ndim == 1 else points
        _check_points(points)
        nodes = mesh[1]
        given = dict(nodes) if isinstance(nodes, dict) else {_name_of(points, np.asarray(nodes)): np.asarray(nodes)}
    else:
        raise TypeError("mesh: expected one of meshio or scikit-fem, or a tuple (points, cells), found "
                        f"{type(mesh).__module__}.{type(mesh).__qualname__}")
    _check_points(points)
    placed = np.zeros((points.shape[0], 3))
    placed[:, :points.shape[1]] = points
    return Cells(placed, points.shape[1], dict(_of_vtk(name, nodes, points) for name, nodes in given.items()))


def _of_vtk(name: str, nodes: Any, points: Array) -> tuple[int, Array]:
    if name not in _vtk_types:
        raise ValueError(f"mesh: expected cells of {', '.join(_vtk_types)}, found {name!r}")
    nodes = np.asarray(nodes)
    if nodes.ndim != 2 or nodes.dtype.kind not in "iu":
        raise ValueError(f"mesh: expected cells of m x k node numbers, found {nodes.dtype} of the shape {nodes.shape}")
    if nodes.size and not 0 <= nodes.min() <= nodes.max() < points.shape[0]:
        raise ValueError(f"mesh: expected nodes from 0 to {points.shape[0] - 1}, found {nodes.min()} to {nodes.max()}")
    return _vtk_types[name], nodes


def _check_points(points: Array) -> None:
    if points.ndim != 2 or points.shape[1] not in (1, 2, 3):
        raise ValueError(f"mesh: expected points of n x 1, 2 or 3, found the shape {points.shape}")


def _name_of(points: Array, nodes: Array) -> str:
    found = _names.get((points.shape[1], nodes.shape[1])) if nodes.ndim == 2 else None
    if found is None:
        raise ValueError(f"mesh: expected cells of m x k nodes of a known type, found the shape {nodes.shape} with points "
                         f"of {points.shape[1]} dimensions; name the type, {{\"triangle\": cells}}")
    return found
