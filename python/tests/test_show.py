# SPDX-License-Identifier: Apache-2.0
"""newel.show: what it hands to PyVista, seen by a stand-in, and pictures of PyVista itself where it is installed."""

import sys
import types

import numpy as np
import pytest
from device_kinds import every_kind

import newel

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
TRIANGLES = np.array([[0, 1, 2], [0, 2, 3]])


class Drawn:
    """Stands for PyVista, and remembers what it was asked for."""

    def __init__(self):
        drawn = self
        self.calls = []

        class UnstructuredGrid:
            def __init__(self, cells, points):
                self.cells, self.points = cells, points
                self.point_data, self.cell_data = {}, {}
                drawn.grid = self

        class Plotter:
            def __init__(self, off_screen=False):
                drawn.off_screen = off_screen

            def add_mesh(self, grid, **style):
                drawn.style = style

            def __getattr__(self, name):
                return lambda *arguments: drawn.calls.append((name, *arguments)) or name

        self.module = types.SimpleNamespace(UnstructuredGrid=UnstructuredGrid, Plotter=Plotter)


@pytest.fixture
def drawn(monkeypatch):
    result = Drawn()
    monkeypatch.setitem(sys.modules, "pyvista", result.module)
    return result


def test_a_scalar_field_on_triangles(drawn):
    assert newel.show((SQUARE, TRIANGLES), [1, 2, 3, 4], name="heat", cmap="magma") == "show"
    assert list(drawn.grid.cells) == [5] and (drawn.grid.cells[5] == TRIANGLES).all()
    assert (drawn.grid.points == np.c_[SQUARE, np.zeros(4)]).all()
    assert (drawn.grid.point_data["heat"] == [1, 2, 3, 4]).all() and not drawn.grid.cell_data
    assert drawn.style == {"cmap": "magma", "scalars": "heat"} and not drawn.off_screen
    assert [call[0] for call in drawn.calls] == ["view_xy", "show"]


@pytest.mark.parametrize("flat", [True, False])
def test_vectors_move_the_points_and_show_their_lengths(drawn, flat):
    vectors = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 2.0], [1.0, 0.0]])
    newel.show((SQUARE, TRIANGLES), vectors.ravel() if flat else vectors, warp=-0.5)
    assert np.allclose(drawn.grid.points[:, :2], SQUARE - 0.5 * vectors) and (drawn.grid.points[:, 2] == 0).all()
    assert np.allclose(drawn.grid.point_data["u"], [0, 5, 2, 1])


def test_values_of_cells_and_a_file(drawn, tmp_path):
    assert newel.show((SQUARE, {"triangle": TRIANGLES, "line": [[0, 2]]}), [7, 8, 9], file=tmp_path / "a.png") is None
    assert set(drawn.grid.cells) == {3, 5} and (drawn.grid.cell_data["u"] == [7, 8, 9]).all()
    assert drawn.off_screen and ("screenshot", str(tmp_path / "a.png")) in drawn.calls


def test_a_mesh_alone_and_one_in_three_dimensions(drawn):
    newel.show((np.eye(4, 3), [[0, 1, 2, 3]]))
    assert list(drawn.grid.cells) == [10] and drawn.style == {} and [call[0] for call in drawn.calls] == ["show"]
    newel.show((np.linspace(0, 1, 3), [[0, 1], [1, 2]]), [1.0, 2.0, 3.0])
    assert list(drawn.grid.cells) == [3]


def test_meshes_of_meshio(drawn):
    block = types.SimpleNamespace
    mesh = types.SimpleNamespace(points=np.c_[SQUARE, np.zeros(4)],
                                 cells=[block(type="triangle", data=TRIANGLES[:1]), block(type="triangle", data=TRIANGLES[1:])])
    newel.show(mesh, np.arange(4))
    assert (drawn.grid.cells[5] == TRIANGLES).all()


def test_meshes_of_scikit_fem(drawn):
    skfem = pytest.importorskip("skfem")
    mesh = skfem.MeshTri().refined(2)
    newel.show(mesh, mesh.p[0])
    assert (drawn.grid.cells[5] == mesh.t.T).all() and np.allclose(drawn.grid.points[:, :2], mesh.p.T)
    mesh = skfem.MeshHex()
    newel.show(mesh)
    corners = drawn.grid.points[drawn.grid.cells[12][0]]
    for first, second in ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (6, 7), (0, 4), (2, 6)):  # edges of VTK's hexahedron
        assert np.abs(corners[first] - corners[second]).sum() == 1


@pytest.mark.parametrize("mesh, values, choices, error, message", [
    ((SQUARE, TRIANGLES), [1.0, 2.0, 3.0], {}, ValueError, "values: expected 4 values"),
    ((SQUARE, TRIANGLES), np.ones((4, 3)), {}, ValueError, "found the shape"),
    ((SQUARE, TRIANGLES), ["a"] * 4, {}, TypeError, "values: expected real numbers"),
    ((SQUARE, TRIANGLES), [1, 2, 3, 4], {"warp": 1.0}, ValueError, "warp: expected a vector for each point"),
    ((SQUARE, TRIANGLES), None, {"warp": 1.0}, ValueError, "warp: expected values"),
    ((SQUARE, TRIANGLES), None, {"warp": "big"}, (TypeError, ValueError), "warp"),
    ((SQUARE, TRIANGLES + 2), None, {}, ValueError, "expected nodes from 0 to 3"),
    ((SQUARE, [[0, 1, 2, 3, 0]]), None, {}, ValueError, "known type"),
    ((SQUARE, {"polygon": TRIANGLES}), None, {}, ValueError, "'polygon'"),
    ((np.ones((4, 4)), TRIANGLES), None, {}, ValueError, "points of n x 1, 2 or 3"),
    (SQUARE, None, {}, TypeError, "mesh: expected one of meshio"),
])
def test_what_does_not_fit_is_refused(drawn, mesh, values, choices, error, message):
    with pytest.raises(error, match=message):
        newel.show(mesh, values, **choices)


def test_without_pyvista_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(ImportError, match="pip install pyvista"):
        newel.show((SQUARE, TRIANGLES), np.ones(4))


@pytest.mark.device
@every_kind
def test_values_of_a_device_are_copied(drawn, kind):
    newel.show((SQUARE, TRIANGLES), kind.array(np.arange(4.0)))
    assert (drawn.grid.point_data["u"] == np.arange(4)).all()


def test_pyvista_writes_a_picture(tmp_path):
    pytest.importorskip("pyvista")
    newel.show((SQUARE, TRIANGLES), [0, 1, 2, 3], file=tmp_path / "picture.png", show_edges=True)
    head = (tmp_path / "picture.png").read_bytes()[:8]
    assert head == b"\x89PNG\r\n\x1a\n"
