# SPDX-License-Identifier: Apache-2.0
"""Keywords that a function does not have: an error that says which it has instead."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

# What other packages, and other functions of this one, call the same thing.
_synonyms = [
    ("rtol", "tol", "reltol", "rel_tol", "tolerance", "eps"),
    ("atol", "abstol", "abs_tol"),
    ("max_iterations", "maxiter", "max_iter", "maxit", "max_it", "maxits", "itmax", "niter", "iterations"),
    ("preconditioner", "M", "precond", "prec", "pc", "pc_type", "M1", "Pl"),
    ("solver", "method", "accel", "krylov", "ksp_type", "linear_solver"),
    ("x0", "guess", "initial_guess", "x", "start"),
    ("b", "rhs", "B"),
    ("A", "matrix", "operator"),
    ("time_limit", "timeout", "max_time", "time"),
    ("restart", "restrt", "inner_m", "gmres_restart"),
    ("threads", "num_threads", "n_threads", "nthreads", "n_jobs", "workers"),
    ("near_null_space", "near_nullspace", "modes"),
    ("null_space", "nullspace"),
    ("coordinates", "coords", "nodes", "points", "vertices"),
    ("callback", "cb", "monitor", "progress"),
    ("precision", "dtype"),
    ("device", "backend"),
    ("options", "parameters", "params", "amg_options"),
    ("raise_on_failure", "raise_on_error", "check"),
    ("values", "data"),
]


def names_keywords(elsewhere: Callable[[], Mapping[str, Callable[..., Any]]] = dict) -> Callable[[F], F]:
    """Make a function answer a keyword that it does not have with the one that was meant.

    Parameters
    ----------
    elsewhere : function without arguments
        By name, functions that may have the keyword instead.
    """
    def decorate(function: F) -> F:
        known = keywords_of(function)
        # As users know it: Products is a base of Solver.
        name = function.__qualname__.replace(".__init__", "").replace("Products.", "Solver.")

        @functools.wraps(function)
        def checked(*args: Any, **keywords: Any) -> Any:
            if not known.issuperset(keywords):
                raise _error(name, [word for word in keywords if word not in known], known, elsewhere())
            return function(*args, **keywords)

        return checked  # type: ignore[return-value]

    return decorate


def keywords_of(function: Callable[..., Any]) -> frozenset[str]:
    """The names of the parameters, without self."""
    return frozenset(inspect.signature(function).parameters) - {"self"}


def likely(word: str, known: Iterable[str]) -> str:
    """Which of the known words was meant; empty: none of them."""
    known = sorted(known)
    for row in _synonyms:
        if word in row or word.lower() in row:
            for name in row:
                if name in known:
                    return name
    close = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.65)
    return close[0] if close else ""


def _error(name: str, unknown: list[str], known: frozenset[str], elsewhere: Mapping[str, Callable[..., Any]]
           ) -> TypeError:
    parts = []
    for word in unknown:
        hint = _hint(word, known, elsewhere)
        parts.append(f"{name}() has no keyword {word!r}" + (f"; {hint}" if hint else ""))
    return TypeError(". ".join(parts))


def _hint(word: str, known: frozenset[str], elsewhere: Mapping[str, Callable[..., Any]]) -> str:
    places = {place: keywords_of(function) for place, function in elsewhere.items()}
    for place, keywords in places.items():
        if word in keywords:
            return f"it belongs to {place}()"
    meant = likely(word, known)
    if meant:
        return f"did you mean {meant!r}?"
    for place, keywords in places.items():
        meant = likely(word, keywords)
        if meant:
            return f"did you mean {meant!r} of {place}()?"
    return ""
