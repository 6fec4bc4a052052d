# SPDX-License-Identifier: Apache-2.0
"""The tutorial that optimises a bracket: its gradient against a formula, and its notebook, executed as Jupyter does."""

import json
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", minversion="2.5")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorials/topology.md"
sys.path.insert(0, str(ROOT / "scripts/docs"))

import notebook  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support", "ignore:Sparse invariant checks",
                                        "ignore:.*torch.jit.script.*")


def test_the_gradient_is_that_of_the_energy_of_each_element():
    """d c / d modulus_e = -u_e K u_e, and the filter is linear: its transpose by finite sums."""
    blocks = [match["code"] for match in notebook.BLOCK.finditer(PAGE.read_text())]
    names = {}
    for block in blocks[:[i for i, code in enumerate(blocks) if "def updated" in code][0]]:
        exec(block, names)
    density = (0.3 + 0.4 * torch.rand(names["x"].size, dtype=torch.float64, generator=torch.Generator().manual_seed(2)))
    density.requires_grad_()
    solver = names["new_solver"]()
    energy = names["compliance"](solver, density)
    (found,) = torch.autograd.grad(energy, density)
    u = torch.zeros(names["free"].size, dtype=torch.float64)
    u[torch.from_numpy(names["free"])] = solver.solve(names["values_for"](density).detach(), names["load"])
    of_elements = u[torch.from_numpy(names["dofs"])]
    energies = torch.einsum("ei,ij,ej->e", of_elements, names["square"].reshape(8, 8), of_elements)
    assert torch.isclose(energy, ((1e-6 + names["smooth"](density) ** 3) * energies).sum(), rtol=1e-6)
    smoothed = names["smooth"](density).detach()
    of_smoothed = -3 * smoothed**2 * energies
    image = torch.zeros(60, 60, dtype=torch.float64)
    image[names["x"], names["y"]] = of_smoothed
    weights = torch.zeros(60, 60, dtype=torch.float64)
    radius = [(i, j, 2.5 - (i * i + j * j) ** 0.5) for i in range(-2, 3) for j in range(-2, 3) if i * i + j * j < 6.25]
    inside, expected = names["inside"], torch.zeros(60, 60, dtype=torch.float64)

    def shifted(of, i, j):
        padded = torch.nn.functional.pad(of, (2, 2, 2, 2))
        return padded[2 + i:62 + i, 2 + j:62 + j]

    for i, j, weight in radius:
        weights += weight * shifted(inside, i, j)
    for i, j, weight in radius:
        expected += weight * shifted(torch.where(inside > 0, image / weights, 0.0), i, j)
    expected = expected[names["x"], names["y"]]
    assert float((found - expected).abs().max()) <= 1e-6 * float(expected.abs().max())


def test_the_notebook_is_that_of_the_page():
    assert PAGE.with_suffix(".ipynb").read_text(encoding="utf-8") == notebook.notebook(PAGE.read_text(encoding="utf-8"))
    cells = json.loads(PAGE.with_suffix(".ipynb").read_text())["cells"]
    assert sum(cell["cell_type"] == "code" for cell in cells) == PAGE.read_text().count("```py")
    assert not any("```py" in "".join(cell["source"]) for cell in cells)


def test_the_notebook_runs_in_jupyter_and_repeats_its_bits():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    for module in ("ipykernel", "matplotlib"):
        pytest.importorskip(module)
    book = nbformat.read(PAGE.with_suffix(".ipynb"), as_version=4)
    nbclient.NotebookClient(book, timeout=1800, kernel_name="python3").execute()
    outputs = [output for cell in book.cells for output in cell.get("outputs", ())]
    printed = "".join(output.get("text", "") for output in outputs)
    assert "True True" in printed
    first, _, last = (float(word) for word in printed.splitlines()[1].split())
    assert last < first / 6
    assert any("image/png" in output.get("data", ()) for output in outputs)
