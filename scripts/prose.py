#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what makes the documents hard to read: long sentences, long paragraphs, and words that only this project used.

    scripts/prose.py [FILE.md...]       every page of the repository by default; --totals prints no places

One line for each finding, FILE:LINE and what was found, then the totals. Code, pictures and files that scripts write are
left out, and of tables only the dialect counts. The exit status is 1 if a file has more than its share: no word of the dialect, at most 2 % of the
sentences (and at least one) longer than 30 words, and at most two paragraphs longer than six lines.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LONG_SENTENCE = 30  # words
LONG_PARAGRAPH = 6  # lines of at most COLUMNS
COLUMNS = 130
SHARE_OF_LONG_SENTENCES = 0.02
LONG_PARAGRAPHS = 2
GENERATED = "<!-- Written by"
WRITTEN_PART = re.compile(r"<!-- (\w+): written by ")

# Expression and better words. A place is no dialect: "see where", "at the point where", "where to".
PLACES = "".join(f"(?<!\\b{word} )" for word in ("see", "say", "says", "is", "show", "shows", "know", "from",
                                                             "point", "place", "step"))
DIALECT = [
    (PLACES + r"\bwhere\b(?! to\b)", "if, when"),
    (r"\bbehind\b(?! the (?:chart|picture)s?\b)", "after"),
    (r"\bmakes? (?:one )?expect\b|\bmakes? sure of\b", "is estimated at"),
    (r"\b(?:is|are) sure\b", "at least"),
    (r"\bto come\b(?! (?:from|to)\b)", "remain"),
    (r"\bas a rule\b|\bmostly\b", "usually"),
    (r"\bno more than\b", "at most"),
    (r"\bgo(?:es)? on\b|\bwent on\b", "continues"),
    (r"\bbegins? again\b", "restarts"),
    (r"\bcomes? back\b|\bbring that back\b", "returns to"),
    (r"\bhas missed\b|\bis missed\b", "setup cost not yet recovered"),
    (r"\bin the place of\b|\btakes? the place of\b|\btook the place of\b", "instead of, replaces"),
    (r"\bin the manner of\b", "like"),
    (r"\bpays\b(?! back)|\bpays? for\b", "is worth its cost"),
    (r"\b(?:its|their) price\b|\bprice of\b", "its cost"),
    (r"\bbought\b|\bbuys?\b", "set up"),
    (r"\btells? of\b|\bsays? so\b|\bis told\b|\bare told\b|\bwhat is told\b|\btold apart\b", "reports"),
    (r"\bof a matrix nothing\b|\bnothing is known\b", "the matrix is unknown"),
    (r"\bnew numbers\b|\bnumbers of (?:a|the) matrix\b", "new values, values"),
    (r"\bthe card\b|\bgraphics card\b", "the device, the GPU"),
    (r"\bmeetings?\b|\brooms?\b", "grid synchronisation, buffers, folders"),
    (r"\bjournal\b", "convergence monitor"),
    (r"\bin doubt\b|\bdoubts?\b|\bin vain\b", "stagnation test"),
    (r"\bforecasts?\b", "cost model"),
    (r"\bmakeup\b|\bidle options?\b|\bbeside\b", "configuration, unused options, next to"),
    (r"\bcould not be told\b", "cannot be reported"),
    (r"\b(?:limit|time) is over\b", "time limit exceeded"),
    (r"\bproducts that are planned\b", "expected matrix-vector products"),
    (r"\bmends?\b|\bsurveys?\b|\bread on\b", "fix, benchmark, continue"),
    (r"\badd up to nothing\b|\bfor nothing\b", "are zero, without use"),
    (r"\bis due\b|\bfalls due\b", "is worth its cost now"),
    (r"\bwhat is more\b|\bsees to\b", "also, checks"),
    (r"\bhardly\b|\bseldom\b", "almost not, rarely"),
    (r"\bsome (?:\d|ten\b|hundreds?\b|thousands?\b)", "about, a few hundred"),
    (r"\balike\b|\banew\b|\blearnt\b", "in the same way, again, learned"),
    (r"\bis believed\b|\bfor want of\b|\bbesides\b", "is used, because there is no, also"),
    (r"\bby way of\b|\bwithout notice\b|\bmakes? no sense\b", "through, without a warning, is wrong"),
    (r"\b(?:paid|pay) for (?:its|their|the) setup\b|\bthe latter\b|\bthe former\b", "recovered its setup; name it again"),
    (r"\b(?:is|are) of (?:the|its|other)\b|\bthe one of\b", "belongs to, shows, whichever"),
]
# A sentence that begins with a clause, "What a rank refuses is agreed on": titles of pages are none.
DIALECT.append((r"(?:^|(?<=[.:;!] ))(?-i:W)hat (?!auto )(?:[^\s.?:;]+ ){1,7}"
                r"(?:is|are|was|were|goes|costs?|takes?|counts?|needs?) (?!called\b)[^?.;:]+[.;:]",
                "a noun, or make you or the program the subject"))
DIALECT = [(re.compile(pattern, re.IGNORECASE), better) for pattern, better in DIALECT]
IN_TABLES = DIALECT[1:-1]  # cells are no sentences, and name places

ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|cf|vs|etc|approx|Fig|Sec|et al)\.", re.IGNORECASE)
SENTENCE_END = re.compile(r"(?<=[.!?])[*_)\"”]*\s+(?=[*_(\[\"“]*[A-Z0-9`|*])")
ITEM = re.compile(r"\s*(?:[-*+]|\d+\.) +")


class Paragraph:
    """Consecutive lines of prose: (number, text) of each."""

    def __init__(self, lines, heading=False, table=False):
        self.lines = lines
        self.heading = heading
        self.table = table

    def wrapped_lines(self):
        return sum(max(1, -(-len(text) // COLUMNS)) for _, text in self.lines)

    def sentences(self):
        """(line number, words) of each sentence."""
        text, begins = "", []
        for number, line in self.lines:
            begins.append((len(text), number))
            text += line + " "
        at = 0
        for end in [match.end() for match in SENTENCE_END.finditer(text)] + [len(text)]:
            words = re.findall(r"\S*\w\S*", text[at:end])
            if words:
                first = at + len(text[at:end]) - len(text[at:end].lstrip())
                yield max(number for begin, number in begins if begin <= first), words
            at = end


def plain(line):
    """A line without the marks of Markdown: code becomes one word, a link its text."""
    line = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", line)
    line = re.sub(r"`+[^`]*`+", "`code`", line)
    line = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)
    line = re.sub(r"<[^>]*>", "", line)
    return ABBREVIATION.sub(lambda match: match.group().replace(".", ""), line)


def paragraphs(text):
    """The prose of a page: no code, no comments, and no part between the marks of a script that writes it."""
    found, current, fence, comment, after_blank, indented_item = [], [], None, False, True, False
    written = None  # the name of the part that a script writes

    def close(heading=False):
        if any(text.strip() for _, text in current):
            found.append(Paragraph(list(current), heading))
        current.clear()

    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if fence or mark:
            close()
            if not fence:
                fence = mark.group(1)
            elif mark and mark.group(1).startswith(fence) and line.strip() == mark.group(1):
                fence = None
            continue
        mark = WRITTEN_PART.match(line)
        if mark:
            written = mark.group(1)
        if written:
            close()
            written = None if line.startswith(f"<!-- end of {written} -->") else written
            continue
        if comment or line.lstrip().startswith("<!--"):
            close()
            comment = "-->" not in line
            continue
        if re.match(r" {4,}\S", line) and after_blank and not indented_item:
            close()
            continue  # an indented block of code
        if not line.strip() or line.lstrip().startswith(("|", "<", "===", "---", "$$")):
            close()
            after_blank = True
            if line.startswith("|"):
                found.append(Paragraph([(number, plain(line).replace("|", ";"))], table=True))
            continue
        after_blank = False
        if re.match(r"#+ ", line):
            close()
            current.append((number, plain(line.lstrip("# "))))
            close(heading=True)
            indented_item, after_blank = False, True
            continue
        if ITEM.match(line):
            close()
            indented_item = True
            line = ITEM.sub("", line, count=1)
        elif not line.startswith(" ") and not current:
            indented_item = False
        current.append((number, plain(line.lstrip("> "))))
    close()
    return found


class Findings:
    def __init__(self, text):
        self.sentences = self.long_sentences = self.long_paragraphs = self.dialect = 0
        self.lines = []
        for paragraph in paragraphs(text):
            for number, line in paragraph.lines:
                self.find_dialect(number, line, IN_TABLES if paragraph.table else DIALECT)
            self.find_split_dialect(paragraph)
            if paragraph.heading or paragraph.table:
                continue
            for number, words in paragraph.sentences():
                self.sentences += 1
                if len(words) > LONG_SENTENCE:
                    self.long_sentences += 1
                    self.lines.append((number, f"{len(words)} words: {' '.join(words[:8])} ..."))
            if paragraph.wrapped_lines() > LONG_PARAGRAPH:
                self.long_paragraphs += 1
                self.lines.append((paragraph.lines[0][0], f"a paragraph of {paragraph.wrapped_lines()} lines"))
        self.lines.sort()

    def find_dialect(self, number, line, expressions):
        for pattern, better in expressions:
            for match in pattern.finditer(line):
                self.dialect += 1
                self.lines.append((number, f'"{match.group()}": write {better}'))

    def find_split_dialect(self, paragraph):
        """Expressions that a line break splits."""
        for (number, line), (_, following) in zip(paragraph.lines, paragraph.lines[1:]):
            joined = line.rstrip() + " " + following.lstrip()
            border = len(line.rstrip())
            for pattern, better in DIALECT:
                for match in pattern.finditer(joined):
                    if match.start() < border < match.end():
                        self.dialect += 1
                        self.lines.append((number, f'"{match.group()}": write {better}'))

    def too_much(self):
        return (
            self.dialect > 0
            or self.long_sentences > max(1, SHARE_OF_LONG_SENTENCES * self.sentences)
            or self.long_paragraphs > LONG_PARAGRAPHS
        )

    def total(self):
        return (f"{self.sentences} sentences, {self.long_sentences} long; {self.long_paragraphs} long paragraphs; "
                f"{self.dialect} words of the dialect")


def default_files():
    names = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "scripts/docs/automatic_rules.md.in")
    folders = ("apps", "bench", "examples", "precond", "spmv", "tests")  # each with pages of its own
    files = [ROOT / name for name in names]
    files += [page for folder in folders for page in sorted((ROOT / folder).rglob("README.md"))]
    return [path for path in files if path.exists()] + sorted((ROOT / "docs").rglob("*.md"))


def shown(path):
    try:
        return path.resolve().relative_to(ROOT)
    except ValueError:
        return path


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--totals", action="store_true", help="the totals of each file only")
    parser.add_argument("--leave-out", action="append", default=[], metavar="FILE", help="of the default files")
    options = parser.parse_args(arguments)
    sums = [0, 0, 0, 0]
    failed = []
    left_out = {(ROOT / name).resolve() for name in options.leave_out}
    for path in options.files or [path for path in default_files() if path not in left_out]:
        text = path.read_text(encoding="utf-8")
        if any(line.startswith(GENERATED) for line in text.splitlines()[:6]):
            continue
        found = Findings(text)
        name = shown(path)
        if not options.totals:
            for number, what in found.lines:
                print(f"{name}:{number}: {what}")
        else:
            print(f"{name}: {found.total()}{': too much' if found.too_much() else ''}")
        if found.too_much():
            failed.append(str(name))
        counts = (found.sentences, found.long_sentences, found.long_paragraphs, found.dialect)
        sums = [total + count for total, count in zip(sums, counts)]
    print(f"{sums[0]} sentences, {sums[1]} of more than {LONG_SENTENCE} words; {sums[2]} paragraphs of more than "
          f"{LONG_PARAGRAPH} lines; {sums[3]} words of the dialect")
    if failed:
        print("more than their share: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
