# SPDX-License-Identifier: Apache-2.0
"""Warnings that name the caller's line and are shown every time."""

from __future__ import annotations

import os
import sys
import warnings


def warn(message: str, category: type[Warning]) -> None:
    """Warn about the line that called this package.

    Python remembers warnings by line and text and shows each once. A loop whose solves fail in the same way would
    then be silent from the second on, so this memory is not used. The user's filters still apply.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _folder:
        frame = frame.f_back
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno,
                           module=frame.f_globals.get("__name__", "__main__"))


_folder = os.path.dirname(warn.__code__.co_filename)
