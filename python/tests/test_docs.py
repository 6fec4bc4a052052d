# SPDX-License-Identifier: Apache-2.0
"""The Python in the documents runs as it is printed, and the examples of docstrings too."""

import doctest
import itertools
import json
import re
import sys
from pathlib import Path

import pytest

import newel

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts/docs"))

import run_commands  # noqa: E402
import run_python  # noqa: E402

PAGES = sorted(page for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if "```python\n" in page.read_text())

NEEDED = {"differentiate.md": ["torch", "newel.jax"], "topology.md": ["torch"]}  # what pages need and the package does not


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_python_of_a_page_can_be_pasted(page):
    for module in NEEDED.get(page.name, ()):
        pytest.importorskip(module)
    count, wrong, names = run_python.work_through(page.read_text(), page.name)
    assert count > 0 and not wrong, "\n".join(wrong)
    assert names["report"].converged and names.get("info", 0) == 0


def test_pages_with_python_are_found():
    assert {"README.md", "python.md", "scipy.md", "index.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("block", [
    "y = undefined",
    "def f():\n    a = 1\n\n    return a",  # as a file it would do; pasted, the blank line ends the function
    "for k in range(2):\n    pass\nprint(k)",
    "import warnings\nwarnings.warn('old')",
    "print(3)\n```\n\n    400\n\n```python\nprint(5)",
])
def test_python_that_cannot_be_pasted_is_found(block):
    assert len(run_python.work_through(f"```python\n{block}\n```\n", "page")[1]) == 1


def test_what_a_block_prints_is_compared_with_what_the_page_shows():
    page = "```python\nprint('a', 1000)\n```\n\n{}\nMore.\n"
    for shown, wrong in [("    a 1,010\n", 0), ("    b 1000\n", 1), ("```text\na 1000\n```\n", 0), ("```text\nc\n```\n", 1)]:
        assert len(run_python.work_through(page.format(shown), "page")[1]) == wrong


@pytest.mark.parametrize("module", ["newel", "newel._eigsh", "newel._solve", "newel._progress", "newel.torch", "newel.jax", "newel.jax.lineax"])
def test_the_examples_of_docstrings_run(module):
    results = doctest.testmod(pytest.importorskip(module))
    assert results.attempted > 0 and results.failed == 0


def test_the_tutorial_shows_what_its_program_prints():
    count, differences = run_commands.work_through(
        ROOT / "docs/tutorials/scipy.md", Path(sys.executable).parent, update=False)
    assert count == 1 and not differences, differences


def test_the_figures_of_the_document_are_those_of_its_record():
    record = json.loads((ROOT / "docs/results/python_host.json").read_text())
    overhead, systems = record["overhead"], record["systems"].values()
    both = [s for s in systems if s["newel"]["reached"] and s["scipy"]["reached"]]
    ahead = [s for s in both if s["newel"]["seconds"] < s["scipy"]["seconds"]]
    text = " ".join((ROOT / "docs/python.md").read_text().split())
    assert f"takes {overhead['beyond_solve_us']:.1f} us more" in text
    assert f"`refresh` {overhead['refresh_call_us']:.1f} us" in text
    assert f"Of {len(systems)} systems both solve {len(both)}" in text
    assert f"On all {len(ahead)} `newel.solve` was faster" in text


def test_the_costs_of_gradients_are_those_of_their_record():
    text = (ROOT / "docs/howto/differentiate.md").read_text()
    records = [json.loads(path.read_text()) for path in sorted((ROOT / "docs/results").glob("gradients_*.json"))]
    assert records
    for record, (name, title) in itertools.product(records, (("torch", "PyTorch"), ("jax", "JAX"))):
        kinds, mapped = record["kinds"], record["mapped"]
        for rows, taken in kinds[name].items():
            figures = " | ".join(f"{taken[call]:,.0f}" for call in ("plain", "forward", "gradient"))
            assert f"| {title} | {int(rows):,} | {figures} |" in text
        for rows, taken in mapped[name].items():
            assert f"| {title} | {int(rows):,} | {taken['together']:.1f} | {taken['alone']:.1f} |" in text


def test_the_times_of_eigenpairs_are_those_of_their_record():
    blocks = json.loads((ROOT / "docs/results/eigsh_host.json").read_text())["blocks"]
    text = " ".join((ROOT / "docs/python.md").read_text().split())
    assert f"block of {blocks[-1]['rows']:,} rows took {blocks[-1]['newel_seconds']:.1f} s" in text
    assert f"it was {blocks[-2]['newel_seconds']:.1f} s" in text and f"took {blocks[-2]['scipy_seconds']:.1f} s" in text


def test_the_package_for_jax_has_the_same_version():
    version = re.search(r"project\(newel VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    assert f'version = "{version}"' in (ROOT / "python/jax/pyproject.toml").read_text()


def test_every_public_name_is_documented():
    for name in newel.__all__:
        thing = getattr(newel, name)
        if name == "__version__":
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_"):
                assert value.__doc__, f"{name}.{member}"


def test_no_public_name_is_missing_from_the_document():
    text = (ROOT / "docs/python.md").read_text()
    for name in ("solve", "Solver", "cg", "minres", "bicgstab", "idrs", "gmres", "fgmres", "read", "info", "ConvergenceWarning", "ConvergenceError"):
        assert name in text
