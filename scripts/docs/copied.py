# SPDX-License-Identifier: Apache-2.0
"""What the copy button of a block of commands copies: the commands, without prompts and outputs."""

import html
import re

CONSOLE = re.compile(r'<div class="language-(?P<kind>console|pycon) highlight">(?P<block>.*?)</div>', re.DOTALL)


def commands_of(text):
    """The commands of a console: what follows each prompt, with lines that continue it."""
    found, continued = [], False
    for line in text.splitlines():
        if line.startswith("$ ") or continued:
            found.append(line if continued else line[2:])
            continued = line.endswith("\\")
    return "\n".join(found)


def statements_of(text):
    """The statements of a Python session, without its prompts."""
    lines = text.splitlines()
    return "\n".join(line[4:] for line in lines if line.startswith((">>> ", "... ")) or line in (">>>", "..."))


def with_commands(page):
    """The HTML of a page, in which each console and each Python session says in `data-copy` what is copied from it; the theme obeys that."""

    def with_attribute(match):
        text = html.unescape(re.sub(r"<[^>]*>", "", match["block"]))
        commands = commands_of(text) if match["kind"] == "console" else statements_of(text)
        head = f'<div class="language-{match["kind"]} highlight" data-copy="{html.escape(commands)}">'
        return f"{head}{match['block']}</div>"

    return CONSOLE.sub(with_attribute, page)
