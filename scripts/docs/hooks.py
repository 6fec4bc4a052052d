# SPDX-License-Identifier: Apache-2.0
"""What MkDocs calls while it builds the site: adds the pages of the references, and pages for the sources that others
link to. A public name without documentation ends the build."""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import c_reference  # noqa: E402
import copied  # noqa: E402
import cpp_model  # noqa: E402
import cpp_pages  # noqa: E402
import links  # noqa: E402
import python_reference  # noqa: E402
from cpp_headers import ROOT  # noqa: E402
from mkdocs.exceptions import PluginError  # noqa: E402
from mkdocs.structure.files import File  # noqa: E402

PYTHON_PAGES = ("python.md", "tutorials/scipy.md")  # where names are those of the package, not of the library

pages = {}  # by path in the site's sources: the text of each page that is made here
addresses = {}  # by name in prose: where the references describe it
origins = {}  # and the path in the repository that its links start from


def on_config(config):
    headers = cpp_model.read_headers(os.environ["NEWEL_DOXYGEN_XML"])
    silent = cpp_model.undocumented(headers) + c_reference.undocumented() + python_reference.undocumented()
    if silent:
        raise PluginError("public names without documentation:\n  " + "\n  ".join(silent))
    cpp = cpp_pages.Pages(headers)
    pages["reference/cpp/index.md"] = cpp.index()
    for header in headers:
        pages[cpp_pages.page_of(header.name)] = cpp.page(header)
    addresses.update(cpp.addresses())
    pages["reference/c.md"] = c_reference.page()
    addresses.update(c_reference.addresses("reference/c.md"))
    pages["reference/python.md"] = python_reference.page()
    addresses.update(
        (f"newel.{name}", f"reference/python.md#newel.{name}") for name in python_reference.all_names()
    )
    for path in pages:
        origins[path] = f"docs/{path}"
    fill_navigation(config.nav, headers)
    return config


def fill_navigation(nav, headers):
    """Puts the pages of the headers where the navigation names the index of C++."""
    for entry in nav:
        for title, content in entry.items() if isinstance(entry, dict) else ():
            if content == "reference/cpp/index.md":
                entry[title] = [
                    content,
                    *(
                        {
                            folder_title: [
                                {header.name: cpp_pages.page_of(header.name)}
                                for header in headers
                                if header.name.startswith(folder + "/")
                            ]
                        }
                        for folder, folder_title in cpp_pages.FOLDERS.items()
                    ),
                ]
            elif isinstance(content, list):
                fill_navigation(content, headers)


def on_files(files, config):
    pending = []
    for file in files.documentation_pages():
        origins[file.src_uri] = f"docs/{file.src_uri}"
        pending += links.linked(file.content_string, origins[file.src_uri])
    for path, text in pages.items():
        pending += links.linked(text, origins[path])
    pending += sources_of(config.nav)
    while pending:
        path = pending.pop()
        place = links.site_path(path)
        if place in pages or (place.endswith(links.PICTURES)):
            continue
        pages[place], origins[place] = links.source_page(path)
        pending += links.linked(pages[place], origins[place])
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def sources_of(nav):
    for entry in nav:
        for content in entry.values() if isinstance(entry, dict) else (entry,):
            if isinstance(content, list):
                yield from sources_of(content)
            elif content.startswith("source/"):
                path = content.removeprefix("source/")
                yield path if (ROOT / path).exists() else path.removesuffix(".md")


def version_line(repository):
    """What the home page says of version and repository."""
    version = re.search(r"project\(newel VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    sources = f" The [repository]({repository}) has the sources." if repository else ""
    return f"Version {version.group(1)}, under the [Apache License 2.0](cite-and-license.md).{sources}"


def on_page_markdown(markdown, page, config, files):
    path = page.file.src_uri
    text = links.rewritten(markdown, origins[path], path)
    if path == "index.md":
        text = text.replace("<!-- version -->", version_line(config.repo_url))
    if not path.startswith("reference/"):
        own = {
            name: address
            for name, address in addresses.items()
            if path not in PYTHON_PAGES or address.startswith("reference/python.md")
        }
        text = links.with_names(text, own, path)
    return text.replace("<details>", '<details markdown="1">').replace("<summary>", '<summary markdown="1">')


def on_page_content(content, page, config, files):
    return links.with_large_pictures(copied.with_commands(content))


def on_serve(server, config, builder):
    """Pages that come from sources are made again when these change."""
    for folder in ("c", "python/newel", "scripts/docs"):
        server.watch(str(ROOT / folder))
    return server
