# SPDX-License-Identifier: Apache-2.0
"""Links of the documents as the repository has them, and where the site has what they name.

What is in docs/ keeps its path. What else a page links to, a source or another folder's README, is shown by a page
under source/."""

import posixpath
import re

from cpp_headers import ROOT

LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCE = re.compile(r"^ *(`{3,}|~{3,})")
LANGUAGES = {
    ".hpp": "cpp",
    ".cpp": "cpp",
    ".cu": "cpp",
    ".cuh": "cpp",
    ".h": "c",
    ".c": "c",
    ".py": "python",
    ".sh": "bash",
    ".json": "json",
    ".f90": "fortran",
}
PICTURES = (".png", ".gif", ".svg")


def without_code(text):
    """Pairs of a line and whether it is prose: not within a fence, nor indented as code."""
    fence = None
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark.group(1)
            yield line, False
        elif mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
            fence = None
            yield line, False
        else:
            yield line, fence is None


def repository_path(target, page):
    """The path from the root that a link of the page at that path names; None for addresses and anchors alone."""
    if re.match(r"[a-z]+:", target) or target.startswith("#"):
        return None
    path = target.partition("#")[0]
    if path.startswith("/"):
        return path[1:].rstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path))


def site_path(path):
    """Where the site's sources have what is at `path` in the repository."""
    if path == "docs" or path.startswith("docs/"):
        return path.removeprefix("docs").lstrip("/")
    if (ROOT / path).is_dir():
        return f"source/{path}.md"
    if path.endswith("/README.md"):  # not an index, which the navigation would take for its folder
        return f"source/{path.removesuffix('/README.md')}.md"
    return f"source/{path}" if path.endswith(".md") or path.endswith(PICTURES) else f"source/{path}.md"


def with_names(text, addresses, site_page):
    """The text with links from `code` to what it names: the first mention of each name on the page."""
    waiting = dict(addresses)

    def linked_code(match):
        address = waiting.pop(match.group(1), None)
        if address is None:
            return match.group(0)
        page, _, anchor = address.partition("#")
        return f"[{match.group(0)}]({posixpath.relpath(page, posixpath.dirname(site_page))}#{anchor})"

    def linked_line(line):
        if line.startswith("#"):
            return line
        parts = re.split(r"(\[[^\]]*\]\([^)]*\))", line)  # links stand between what is none
        return "".join(part if at % 2 else re.sub(r"`([^`]+)`", linked_code, part) for at, part in enumerate(parts))

    return "".join(linked_line(line) if prose else line for line, prose in without_code(text))


def rewritten(text, page, site_page):
    """The text of the page at `page` with its links as the site needs them on `site_page`."""

    def replaced(match):
        target = match.group(2)
        path = repository_path(target, page)
        if path is None or not (path.startswith("docs/") or (ROOT / path).exists()):
            return match.group(0)
        anchor = target.partition("#")[2]
        new = posixpath.relpath(site_path(path), posixpath.dirname(site_page))
        return f"{match.group(1)}{new}{'#' + anchor if anchor else ''}{match.group(3)}"

    return "".join(LINK.sub(replaced, line) if prose else line for line, prose in without_code(text))


def linked(text, page):
    """Paths in the repository, outside docs/, that the page links to."""
    for line, prose in without_code(text):
        for match in LINK.finditer(line) if prose else ():
            path = repository_path(match.group(2), page)
            if path and not path.startswith("docs/") and path != "docs" and (ROOT / path).exists():
                yield path


def source_page(path):
    """The page that shows a source, a README or a folder, and the path that links in it start from."""
    file = ROOT / path
    if file.is_dir():
        readme = file / "README.md"
        if readme.exists():
            return readme.read_text(), f"{path}/README.md"
        names = sorted(
            entry.name + ("/" if entry.is_dir() else "")
            for entry in file.iterdir()
            if not entry.name.startswith((".", "__"))
        )
        rows = [
            f"-   [{name}](/{path}/{name})" if (file / name / "README.md").exists() else f"-   `{name}`"
            for name in names
        ]
        return f"# {path}/\n\n" + "\n".join(rows) + "\n", path + "/README.md"
    if path.endswith(".md"):
        return file.read_text(), path
    language = LANGUAGES.get(file.suffix, "text")
    head = "---\nsearch:\n  exclude: true\n---\n\n"
    return f"{head}# {path}\n\n``````{language}\n{file.read_text()}``````\n", path


def with_large_pictures(page):
    """The HTML of a page, in which a picture on a line of its own is a link to itself: it opens in its own size."""
    return re.sub(r'<p>(<img [^>]*src="([^"]+)"[^>]*>)</p>', r'<p><a href="\2">\1</a></p>', page)
