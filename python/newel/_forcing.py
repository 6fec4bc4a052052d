# SPDX-License-Identifier: Apache-2.0
"""ForcingTerms: how exactly the steps of Newton's method have to be solved."""

from __future__ import annotations

from . import _core
from ._choices import real_number, whole_number


class ForcingTerms:
    """Relative tolerances for the linear systems of Newton's method.

    For F(x) = 0, solved by ``F'(x_k) s_k = -F(x_k)`` and ``x_{k+1} = x_k + s_k``. `next` returns eta_k, and step k may
    end when ``|F(x_k) + F'(x_k) s_k| <= eta_k |F(x_k)|``: pass it as ``rtol`` of a solve that starts from zero. The
    choices are those of S. Eisenstat and H. Walker, "Choosing the forcing terms in an inexact Newton method", SIAM J.
    Sci. Comput. 17 (1996), with their safeguards.

    Parameters
    ----------
    choice : {1, 2}
        1: how well the linear model predicted ``|F|``, equation (2.2). 2: how far ``|F|`` has fallen, equation (2.6).
    first : float
        Of the first step.
    most : float
        The largest of all steps.
    gamma, alpha : float
        Of choice 2: ``gamma (|F(x_k)| / |F(x_{k-1})|)**alpha``. gamma from 0 to 1, alpha above 1 and at most 2.
    outer_tolerance : float
        ``|F|`` at which Newton's method ends; no step is solved to less than half of that. 0: not known.

    Raises
    ------
    ValueError
        For numbers out of range.

    Examples
    --------
    >>> import newel
    >>> terms = newel.ForcingTerms()
    >>> terms.next(1.0)
    0.5
    >>> round(terms.next(0.01), 3)
    0.225
    """

    def __init__(self, choice: int = 2, *, first: float = 0.5, most: float = 0.9, gamma: float = 0.9,
                 alpha: float = 2.0, outer_tolerance: float = 0.0) -> None:
        self._terms = _core.ForcingTerms(whole_number(choice, "choice", 1), real_number(first, "first"),
                                         real_number(most, "most"), real_number(gamma, "gamma"),
                                         real_number(alpha, "alpha"), real_number(outer_tolerance, "outer_tolerance"))

    def next(self, residual: float, linear_residual: float = 0.0) -> float:
        """The relative tolerance of the next step.

        Parameters
        ----------
        residual : float
            ``|F(x_k)|``.
        linear_residual : float
            ``|F(x_{k-1}) + F'(x_{k-1}) s_{k-1}|``, what the last solve left: `Report.true_residual`. Only choice 1
            reads it, from the second step on.

        Raises
        ------
        ValueError
            For numbers that are negative or not finite.
        """
        return float(self._terms.next(real_number(residual, "residual"),
                                      real_number(linear_residual, "linear_residual")))

    def restart(self) -> None:
        """The next step is the first of another system F(x) = 0."""
        self._terms.restart()
