# SPDX-License-Identifier: Apache-2.0
"""The page of the Python package, whose parts mkdocstrings fills from the sources, and what lacks a docstring there."""

import ast
import re

from cpp_headers import ROOT

PACKAGE = ROOT / "python/newel"
# Classes of the compiled module, which cannot be read without compiling it, with the source that binds them.
COMPILED = {"Progress": "python/src/interrupts.cpp"}
# The package newel-jax, whose sources lie in a folder of their own, so that mkdocstrings does not find them.
JAX = ROOT / "python/jax/newel/jax"
# Modules that are imported by their own names, and what other files contain only for them.
SUBMODULES = {"torch": "_torch"}


def compiled_class(name):
    """The docstrings of a class that nanobind binds: its own, and those of its properties."""
    text = (ROOT / COMPILED[name]).read_text()
    text = text[text.index(f'"{name}"') :]
    text = text[: text.index("__repr__")]
    said = re.match(r'"\w+", "([^"]*)"', text).group(1)
    return said, re.findall(r'def(?:_prop)?_ro\(\s*"(\w+)",.*?"([^"]*)"\)', text, re.DOTALL)


def public_names(module="__init__"):
    tree = ast.parse((PACKAGE / f"{module}.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return [name for name in ast.literal_eval(node.value) if not name.startswith("_")]
    raise ValueError(f"python/newel/{module}.py has no __all__")


def all_names():
    """The public names as users write them after `newel.`."""
    names = public_names() + [f"{module}.{name}" for module in SUBMODULES for name in public_names(module)]
    return names + [name.removeprefix("newel.") for name, _, _ in jax_definitions()]


def jax_definitions():
    """(name, file, definition) for each public name of newel.jax."""
    for stem, prefix in (("_solver", "newel.jax"), ("lineax", "newel.jax.lineax")):
        listed = JAX / ("lineax.py" if stem == "lineax" else "__init__.py")
        names = re.search(r"__all__ = (\[.*\])", listed.read_text()).group(1)
        for node in ast.parse((JAX / f"{stem}.py").read_text()).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in ast.literal_eval(names):
                yield f"{prefix}.{node.name}", JAX / f"{stem}.py", node


def jax_lines():
    """The part of the page that is about newel.jax: signatures and docstrings as they are."""
    for name, _, node in jax_definitions():
        yield from (f"## {name} {{ #{name} }}", "")
        members = [m for m in getattr(node, "body", []) if isinstance(m, ast.FunctionDef)]
        for one in [node, *(m for m in members if not m.name.startswith("_"))]:
            if isinstance(one, ast.FunctionDef):
                of_property = "property" in map(ast.unparse, one.decorator_list)
                arguments = "" if of_property else f"({ast.unparse(one.args)})"
                returns = f" -> {ast.unparse(one.returns)}" if one.returns else ""
                yield from ("```py", f"{one.name}{arguments}{returns}", "```", "")
            yield from ("```text", ast.get_docstring(one), "```", "")


def definitions(module="__init__"):
    """The functions and classes of the package, or of one of its submodules, by name, with their files."""
    found = {}
    for path in sorted(PACKAGE.glob("*.py")) if module == "__init__" else [PACKAGE / f"{module}.py"]:
        if module == "__init__" and (path.stem in SUBMODULES or path.stem.startswith(tuple(SUBMODULES.values()))):
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found[node.name] = (path, node)
    return found


def undocumented(names=None):
    """Lines for those of the names, all public ones by default, that have no docstring."""
    if names is None:
        lines = [line for module in ("__init__", *SUBMODULES) for line in undocumented_in(module, public_names(module))]
        return lines + [
            f"{path.relative_to(ROOT)}:{one.lineno}: {name}"
            for name, path, node in jax_definitions()
            for one in [node, *(m for m in getattr(node, "body", []) if isinstance(m, ast.FunctionDef))]
            if (one is node or not one.name.startswith("_")) and not ast.get_docstring(one)
        ]
    return undocumented_in("__init__", names)


def undocumented_in(module, names):
    found, missing = definitions(module), []
    for name in names:
        if name in COMPILED:
            continue
        if name not in found:
            missing.append(f"python/newel/{module}.py: {name} is defined nowhere")
            continue
        path, node = found[name]
        where = path.relative_to(ROOT)
        if not ast.get_docstring(node):
            missing.append(f"{where}:{node.lineno}: {name}")
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if (
                isinstance(member, ast.FunctionDef)
                and not member.name.startswith("_")
                and "overload" not in map(ast.unparse, member.decorator_list)
                and not ast.get_docstring(member)
            ):
                missing.append(f"{where}:{member.lineno}: {name}.{member.name}")
    return missing


def page():
    names = public_names()
    functions = [name for name in names if name[0].islower()]
    first = ["solve", "Solver", "Report"]
    order = (
        first
        + [name for name in functions if name not in first]
        + [name for name in names if name[0].isupper() and name not in first]
    )
    lines = [
        "# Python",
        "",
        "Every public function and class of the package `newel`. [Newel from Python](../python.md) "
        "shows how they are used.",
        "",
    ]
    for name in order:
        if name in COMPILED:
            said, properties = compiled_class(name)
            lines += [f"## {name} {{ #newel.{name} }}", "", said, ""]
            lines += [f"-   `{member}`: {text}" for member, text in properties] + [""]
        else:
            lines += [f"::: newel.{name}", ""]
    for module in SUBMODULES:
        for name in public_names(module):
            lines += [f"::: newel.{module}.{name}", ""]
    lines += jax_lines()
    return "\n".join(lines)
