# SPDX-License-Identifier: Apache-2.0
"""Keywords: what a signature shows, what an unknown one is answered with, and arguments of the wrong type."""

import inspect
import pydoc

import numpy as np
import pytest
import scipy.sparse.linalg as sla
from conftest import laplacian

import newel

A = laplacian(6)
B = np.ones(36)

PUBLIC = {
    "solve": newel.solve, "Solver": newel.Solver, "Solver.solve": newel.Solver.solve,
    "Solver.refresh": newel.Solver.refresh, "Solver.update": newel.Solver.update,
    "Solver.as_preconditioner": newel.Solver.as_preconditioner,
    "cg": newel.cg, "bicgstab": newel.bicgstab, "gmres": newel.gmres, "read": newel.read, "info": newel.info,
    "minres": newel.minres, "idrs": newel.idrs, "fgmres": newel.fgmres,
    "TerminalProgress": newel.TerminalProgress,
}
CALLS = {
    "solve": lambda **k: newel.solve(A, B, **k), "Solver": lambda **k: newel.Solver(A, **k),
    "Solver.solve": lambda **k: newel.Solver(A).solve(B, **k),
    "Solver.refresh": lambda **k: newel.Solver(A).refresh(A.data, **k),
    "Solver.update": lambda **k: newel.Solver(A).update(A, **k),
    "Solver.as_preconditioner": lambda **k: newel.Solver(A).as_preconditioner(**k),
    "cg": lambda **k: newel.cg(A, B, **k), "bicgstab": lambda **k: newel.bicgstab(A, B, **k),
    "minres": lambda **k: newel.minres(A, B, **k), "idrs": lambda **k: newel.idrs(A, B, **k),
    "fgmres": lambda **k: newel.fgmres(A, B, **k),
    "gmres": lambda **k: newel.gmres(A, B, **k), "read": lambda **k: newel.read("A.mtx", **k),
    "info": lambda **k: newel.info(A, **k), "TerminalProgress": lambda **k: newel.TerminalProgress(**k),
}


@pytest.mark.parametrize("name", PUBLIC)
def test_signatures_show_every_keyword(name):
    signature = inspect.signature(PUBLIC[name])
    assert not [p for p in signature.parameters.values() if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    text = pydoc.render_doc(PUBLIC[name])
    assert all(keyword in text for keyword in signature.parameters)


def test_solve_has_the_keywords_of_a_solver_and_of_its_solve():
    own = set(inspect.signature(newel.solve).parameters)
    of_both = {*inspect.signature(newel.Solver).parameters, *inspect.signature(newel.Solver.solve).parameters}
    assert own == of_both - {"self"} | {"M"}
    for keyword, parameter in inspect.signature(newel.Solver).parameters.items():
        assert inspect.signature(newel.solve).parameters[keyword].default == parameter.default


@pytest.mark.parametrize("name", PUBLIC)
def test_an_unknown_keyword_is_named(name):
    with pytest.raises(TypeError) as caught:
        CALLS[name](zzz=1)
    assert str(caught.value) == f"{name}() has no keyword 'zzz'"


@pytest.mark.parametrize("name, keyword, hint", [
    ("solve", "precond", "did you mean 'preconditioner'?"), ("solve", "tol", "did you mean 'rtol'?"),
    ("solve", "maxiter", "did you mean 'max_iterations'?"), ("solve", "max_iteration", "did you mean 'max_iterations'?"),
    ("solve", "method", "did you mean 'solver'?"), ("solve", "guess", "did you mean 'x0'?"),
    ("Solver", "precond", "did you mean 'preconditioner'?"), ("Solver", "M", "did you mean 'preconditioner'?"),
    ("Solver", "x0", "it belongs to Solver.solve()"), ("Solver", "maxiter", "did you mean 'max_iterations' of Solver.solve"),
    ("Solver.solve", "preconditioner", "it belongs to Solver()"), ("Solver.solve", "tol", "did you mean 'rtol'?"),
    ("Solver.solve", "maxiter", "did you mean 'max_iterations'?"),
    ("Solver.solve", "precond", "did you mean 'preconditioner' of Solver()?"),
    ("Solver.refresh", "keep_precond", "did you mean 'keep_preconditioner'?"),
    ("cg", "tol", "did you mean 'rtol'?"), ("bicgstab", "max_iterations", "did you mean 'maxiter'?"),
    ("gmres", "preconditioner", "did you mean 'M'?"), ("gmres", "restrt", "did you mean 'restart'?"),
    ("info", "n_threads", "did you mean 'threads'?"), ("read", "nthreads", "did you mean 'threads'?"),
])
def test_a_keyword_of_another_name_is_answered_with_the_right_one(name, keyword, hint):
    with pytest.raises(TypeError) as caught:
        CALLS[name](**{keyword: 1})
    assert f"no keyword {keyword!r}" in str(caught.value) and hint in str(caught.value)


def test_letters_that_utf8_does_not_have_are_answered_in_words():
    for keyword in ("solver", "preconditioner", "format", "decision", "plan_cache"):
        with pytest.raises(ValueError, match=f"{keyword}: expected text that UTF-8 can encode"):
            newel.solve(A, B, **{keyword: "a\udc80"})
    with pytest.raises(TypeError, match="no keyword"):
        newel.solve(A, B, **{"\udc80": 1})


def test_an_option_of_another_name_is_answered_with_the_right_one():
    with pytest.raises(ValueError, match="there is no option amg_degre; did you mean 'amg_degree'"):
        newel.solve(A, B, options={"amg_degre": 3})
    for options in ([("amg_degree", 3)], {3: 4}, "amg_degree=3"):
        with pytest.raises(TypeError, match="options: expected"):
            newel.solve(A, B, options=options)


@pytest.mark.parametrize("call, error, words", [
    (lambda: newel.solve(A, B, rtol="1e-8"), TypeError, "rtol: expected a number, found '1e-8'"),
    (lambda: newel.solve(A, B, atol=None), TypeError, "atol: expected a number, found None"),
    (lambda: newel.solve(A, B, rtol=b"1"), TypeError, "rtol: expected a number, found b'1'"),
    (lambda: newel.solve(A, B, rtol=1j), TypeError, "rtol: expected a number, found 1j"),
    (lambda: newel.solve(A, B, atol=np.ones(3)), TypeError, "atol: expected a number"),
    (lambda: newel.solve(A, B, time_limit="1"), TypeError, "time_limit: expected a number, found '1'"),
    (lambda: newel.solve(A, B, callback=3), TypeError, "callback: expected a function, found 3"),
    (lambda: newel.cg(A, B, callback=3), TypeError, "callback: expected a function, found 3"),
    (lambda: newel.Solver(A, rtol="1e-8"), TypeError, "rtol: expected a number, found '1e-8'"),
    (lambda: newel.cg(A, B, rtol="1e-8"), TypeError, "rtol: expected a number, found '1e-8'"),
    (lambda: newel.cg(A, B, atol=None), ValueError, "atol: expected a number that is not negative, found None"),
    (lambda: newel.gmres(A, B, atol="legacy"), ValueError, "atol: expected a number"),
    (lambda: newel.bicgstab(A, B, atol=-1), ValueError, "atol: expected a number that is not negative, found -1"),
    (lambda: newel.Solver(sla.LinearOperator((2**31, 2**31), matvec=lambda x: x)), ValueError,
     "A: expected at most 2,147,483,647 rows, found 2,147,483,648"),
    (lambda: newel.solve(sla.LinearOperator((2**31, 2**31), matvec=lambda x: x), np.broadcast_to(1.0, 2**31)),
     ValueError, "at most 2,147,483,647 rows"),
    (lambda: newel.solve(lambda x: x, 3.0), ValueError, r"b: expected shape \(n,\) or \(n, k\)"),
    (lambda: newel.solve(A, B, preconditioner=newel.Solver(A)), TypeError, "as_preconditioner"),
    (lambda: newel.solve(A, B, preconditioner="jacobi", M="amg"), TypeError, "M is another name"),
    (lambda: newel.info(A, threads="2"), TypeError, "threads: expected a whole number, found '2'"),
    (lambda: newel.Solver(A, plan_cache=3), TypeError, "plan_cache: expected a path, found 3"),
])
def test_what_is_wrong_is_said_in_words(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_numbers_of_other_types_are_taken():
    from fractions import Fraction

    for number in (np.float32(1e-4), np.array(1e-4), Fraction(1, 10000), 1, 0):
        _, report = newel.solve(A, B, rtol=1e-4, atol=number)
        assert report.converged and report.tolerance == pytest.approx(max(6e-4, float(number)))
    assert newel.solve(A, B, time_limit=1000, plan_cache=None)[1].converged


WEIRD = ["1", b"1", None, 1j, -1, 1.5, 2**70, True, [], [1], {}, {1: 2}, np.ones(2), np.ones((2, 2, 2)), object(),
         float("nan"), lambda: 1, np.float64, "\x00", "\udc80", A, B, np.array("x"), np.ma.masked]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PUBLIC)
def test_no_argument_is_answered_with_the_signature_of_compiled_code(name):
    for keyword in inspect.signature(PUBLIC[name]).parameters:
        if keyword in ("self", "A", "b", "path") or (name, keyword) == ("Solver.refresh", "values"):
            continue
        for value in WEIRD:
            try:
                CALLS[name](**{keyword: value})
            except (TypeError, ValueError, OSError, MemoryError) as error:
                assert "incompatible function arguments" not in str(error), (keyword, value)
                assert keyword in ("callback", "M", "preconditioner") or str(error), (keyword, value)
            except RuntimeError as error:  # there is no such device
                assert keyword == "devices" and str(error), (keyword, value)


@pytest.mark.filterwarnings("ignore")
def test_no_matrix_or_vector_is_answered_with_the_signature_of_compiled_code():
    for value in WEIRD:
        for call in (lambda: newel.solve(value, B), lambda: newel.solve(A, value), lambda: newel.Solver(value),
                     lambda: newel.Solver(A).solve(value), lambda: newel.Solver(A).refresh(value),
                     lambda: newel.cg(value, B), lambda: newel.cg(A, value), lambda: newel.info(value),
                     lambda: newel.Solver(A) @ value):
            try:
                call()
            except (TypeError, ValueError, MemoryError, RuntimeError) as error:
                assert "incompatible function arguments" not in str(error), (call, value)
                assert "bad_cast" not in str(error) and "bad cast" not in str(error), (call, value)
