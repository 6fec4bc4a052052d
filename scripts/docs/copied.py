# SPDX-License-Identifier: Apache-2.0
"""What the copy button of a block of commands copies: the commands, without prompts and outputs."""

import html
import re

CONSOLE = re.compile(r'<div class="language-console highlight">(?P<block>.*?)</div>', re.DOTALL)


def commands_of(text):
    """The commands of a console: what follows each prompt, with lines that continue it."""
    found, continued = [], False
    for line in text.splitlines():
        if line.startswith("$ ") or continued:
            found.append(line if continued else line[2:])
            continued = line.endswith("\\")
    return "\n".join(found)


def with_commands(page):
    """The HTML of a page, in which each console says in `data-copy` what is copied from it; the theme obeys that."""

    def with_attribute(match):
        commands = commands_of(html.unescape(re.sub(r"<[^>]*>", "", match["block"])))
        head = f'<div class="language-console highlight" data-copy="{html.escape(commands)}">'
        return f"{head}{match['block']}</div>"

    return CONSOLE.sub(with_attribute, page)
