# SPDX-License-Identifier: Apache-2.0
"""Errors for unknown keywords that suggest the intended one."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from . import _core

F = TypeVar("F", bound=Callable[..., Any])


def names_keywords(elsewhere: Callable[[], Mapping[str, Callable[..., Any]]] = dict) -> Callable[[F], F]:
    """Make a function answer an unknown keyword with the one that was probably meant.

    Parameters
    ----------
    elsewhere : function without arguments
        Returns other functions, by name, that may have the keyword instead.
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
    """The known word that was probably meant; empty if there is none."""
    return _core.nearest_name(word.encode(errors="replace").decode(), sorted(known))


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
