# SPDX-License-Identifier: Apache-2.0
"""What the scripts that draw need beyond Python itself: one line that says how to install it, in place of a traceback."""
import importlib.util
import pathlib
import sys

PACKAGES = {"PIL": "pillow"}  # where a module is not named as its package


def need(*modules):
    """Ends the program where one of the modules is missing."""
    missing = [PACKAGES.get(name, name) for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"{pathlib.Path(sys.argv[0]).stem}: needs {', '.join(missing)}: apt-get install python3-matplotlib, or "
                 "pip install matplotlib (either brings all)")
