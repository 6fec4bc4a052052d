# SPDX-License-Identifier: Apache-2.0
"""SciPy's own tests of cg, minres, bicgstab and gmres, as installed, run with those of this package."""

import pytest
import scipy
import scipys_iterative_tests


@pytest.mark.skipif(tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15), reason="older tests, of older arguments")
def test_scipys_tests_of_its_solvers_pass_but_for_what_is_listed():
    try:
        found = scipys_iterative_tests.outcomes()
    except FileNotFoundError:
        pytest.skip("this SciPy was installed without its tests")
    assert len(found) > 200
    assert scipys_iterative_tests.changes(found) == []


def test_a_new_difference_and_one_that_has_gone_are_seen(monkeypatch):
    monkeypatch.setattr(scipys_iterative_tests, "DIFFERENCES", {"test_a.*": "a reason", "test_b": "another"})
    monkeypatch.setattr(scipys_iterative_tests, "ROUNDING", {"test_e": "rounding"})
    found = {"test_a[1]": ("failed", ""), "test_a[2]": ("passed", ""), "test_c": ("failed", "assert 0"),
             "test_d": ("skipped", ""), "test_e": ("failed", "")}
    assert scipys_iterative_tests.changes(found) == [
        "test_a[2] passes and is in the table: a reason", "test_c fails and is not in the table: assert 0",
        "there is no test test_b"]
