# SPDX-License-Identifier: Apache-2.0
"""The Python in the documents runs as it is printed, and the examples of docstrings too."""

import doctest
import json
import re
import sys
import warnings
from pathlib import Path

import pytest
import scipy.sparse.linalg

import purlin

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["README.md", "docs/python.md"])
def test_the_python_of_a_document_runs(name, capsys):
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / name).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    names = {"scipy": scipy}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for block in blocks:
            exec(compile(block, name, "exec"), names)
    assert names["report"].converged and names["info"] == 0
    assert "converged after" in capsys.readouterr().out


@pytest.mark.parametrize("module", [purlin, purlin._solve, purlin._progress])
def test_the_examples_of_docstrings_run(module):
    results = doctest.testmod(module)
    assert results.attempted > 0 and results.failed == 0


def test_the_tutorial_shows_what_its_program_prints():
    sys.path.insert(0, str(ROOT / "scripts/docs"))
    import run_commands

    count, differences, _ = run_commands.work_through(
        ROOT / "docs/tutorials/scipy.md", Path(sys.executable).parent, update=False)
    assert count == 1 and not differences, differences


def test_the_figures_of_the_document_are_those_of_its_record():
    record = json.loads((ROOT / "docs/results/python_host.json").read_text())
    overhead, systems = record["overhead"], record["systems"].values()
    both = [s for s in systems if s["purlin"]["reached"] and s["scipy"]["reached"]]
    ahead = [s for s in both if s["purlin"]["seconds"] < s["scipy"]["seconds"]]
    text = " ".join((ROOT / "docs/python.md").read_text().split())
    assert f"takes {overhead['beyond_solve_us']:.1f} us more" in text
    assert f"`refresh` {overhead['refresh_call_us']:.1f} us" in text
    assert f"Of {len(systems)} systems both solve {len(both)}" in text
    assert f"ahead on {len(ahead)}." in text


def test_every_public_name_is_documented():
    for name in purlin.__all__:
        thing = getattr(purlin, name)
        if name == "__version__":
            continue
        assert thing.__doc__, name
        for member, value in vars(thing).items() if isinstance(thing, type) else ():
            if not member.startswith("_"):
                assert value.__doc__, f"{name}.{member}"


def test_no_public_name_is_missing_from_the_document():
    text = (ROOT / "docs/python.md").read_text()
    for name in ("solve", "Solver", "cg", "bicgstab", "gmres", "read", "info", "ConvergenceWarning", "ConvergenceError"):
        assert name in text
