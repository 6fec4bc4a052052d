# SPDX-License-Identifier: Apache-2.0
"""scripts/prose.py counts what it says: sentences, paragraphs and words of the dialect, and nothing in code or tables."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))

import prose  # noqa: E402

LONG = "Word " + "word " * 30 + "end."  # 32 words
SHORT = "A solve ends. "


def run(text):
    """The exit status of the script for a file with this text, and what it prints."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        path = pathlib.Path(folder) / "page.md"
        path.write_text(text, encoding="utf-8")
        return prose.main([str(path)]), out.getvalue()


class Sentences(unittest.TestCase):
    def test_a_sentence_of_30_words_is_short_and_of_31_long(self):
        for words, long in ((30, 0), (31, 1)):
            found = prose.Findings("word " * (words - 1) + "end.\n")
            self.assertEqual((found.sentences, found.long_sentences), (1, long), words)

    def test_sentences_end_at_full_stops_before_capitals_and_run_over_lines(self):
        found = prose.Findings("One is\nhere. `two` is there (e.g. with 0.5 in it). Three!\n\nFour\n")
        self.assertEqual(found.sentences, 4)

    def test_code_counts_as_one_word_and_a_link_as_its_text(self):
        line = "word " * 27 + "`many words in some code` [one](a.md#b-c) end.\n"
        self.assertEqual(prose.Findings(line).long_sentences, 0)
        self.assertEqual(prose.Findings("more " + line).long_sentences, 1)

    def test_items_of_a_list_are_paragraphs_of_their_own(self):
        self.assertEqual(prose.Findings("* " + "word " * 20 + "\n* " + "word " * 20 + "\n").long_sentences, 0)


class Paragraphs(unittest.TestCase):
    def test_a_paragraph_of_seven_lines_is_long(self):
        self.assertEqual(prose.Findings("A line.\n" * 6).long_paragraphs, 0)
        self.assertEqual(prose.Findings("A line.\n" * 7).long_paragraphs, 1)

    def test_lines_that_are_not_wrapped_count_as_they_would_be(self):
        self.assertEqual(prose.Findings("A line of words. " * 60 + "\n").long_paragraphs, 1)


class Dialect(unittest.TestCase):
    def test_every_expression_of_the_table_is_found_with_better_words(self):
        found = prose.Findings("A solve goes on, as a rule.\n")
        self.assertEqual(found.dialect, 2)
        self.assertEqual(found.lines[0], (1, '"as a rule": write usually'))

    def test_an_expression_is_found_over_a_line_break_once(self):
        found = prose.Findings("A block in the\nplace of a row.\n")
        self.assertEqual((found.dialect, found.lines), (1, [(1, '"in the place of": write instead of, replaces')]))

    def test_where_is_dialect_if_it_means_if_and_not_if_it_is_a_place(self):
        self.assertEqual(prose.Findings("Jacobi is left out where it changes nothing.\n").dialect, 1)
        self.assertEqual(prose.Findings("See where the time is lost, and where to read.\n").dialect, 0)

    def test_letter_case_is_ignored_and_parts_of_words_are_not_found(self):
        self.assertEqual(prose.Findings("Mostly here. A mushroom.\n").dialect, 1)

    def test_a_sentence_that_begins_with_a_clause_is_found_and_a_question_or_a_title_is_not(self):
        self.assertEqual(prose.Findings("It ends. What a rank refuses is agreed on.\n").dialect, 1)
        self.assertEqual(prose.Findings("What is the status? What auto does is a page. See what a rank is.\n").dialect, 0)

    def test_words_that_a_reader_translates_are_found(self):
        for line in ("It hardly falls.", "Take some 20 rows.", "Both work alike.", "The rows are set up anew.",
                     "Values go by way of the host.", "It has paid for its setup.", "This page is of the beam."):
            self.assertEqual(prose.Findings(line + "\n").dialect, 1, line)
        self.assertEqual(prose.Findings("Some rows are empty, and all are of one length.\n").dialect, 0)


class LeftOut(unittest.TestCase):
    def test_code_and_comments_are_no_prose(self):
        text = f"```\n{LONG} goes on\n```\n\n    {LONG}\n\n<!-- {LONG}\ngoes on -->\n"
        found = prose.Findings(text)
        self.assertEqual((found.sentences, found.dialect, found.lines), (0, 0, []))

    def test_of_tables_only_the_dialect_counts_and_places_are_none(self):
        found = prose.Findings(f"| {LONG} | where it is | `goes on` |\n|---|---|---|\n| it goes on | it ends |\n")
        self.assertEqual((found.sentences, found.dialect), (0, 1))
        self.assertEqual(found.lines, [(3, '"goes on": write continues')])

    def test_pages_that_a_script_writes_are_not_read(self):
        self.assertEqual(run("# A\n\n<!-- Written by x.py -->\n\nIt goes on.\n")[0], 0)
        self.assertEqual(run("# A\n\n<!-- A remark -->\n\nIt goes on.\n")[0], 1)

    def test_a_part_that_a_script_writes_is_not_read(self):
        found = prose.Findings("It goes on.\n\n<!-- a: written by x.py -->\n\nIt goes on.\n\n<!-- end of a -->\nOne.\n")
        self.assertEqual((found.sentences, found.dialect), (2, 1))


class Status(unittest.TestCase):
    def test_one_long_sentence_is_permitted_in_a_short_file_and_two_are_not(self):
        self.assertEqual(run(LONG + "\n")[0], 0)
        status, printed = run(f"{LONG}\n\n{LONG}\n")
        self.assertEqual(status, 1)
        self.assertIn("page.md:3: 32 words", printed)

    def test_two_in_a_hundred_are_permitted(self):
        self.assertEqual(run(f"{LONG} {LONG} \n\n" + (SHORT + "\n\n") * 98)[0], 0)
        self.assertEqual(run(f"{LONG} {LONG} \n\n" + (SHORT + "\n\n") * 97)[0], 1)

    def test_a_word_of_the_dialect_is_not_permitted(self):
        self.assertEqual(run("It continues.\n")[0], 0)
        status, printed = run("It goes on.\n")
        self.assertEqual(status, 1)
        self.assertIn('page.md:1: "goes on": write continues', printed)

    def test_three_long_paragraphs_are_too_many(self):
        paragraph = "A line.\n" * 7 + "\n"
        self.assertEqual((run(2 * paragraph)[0], run(3 * paragraph)[0]), (0, 1))


if __name__ == "__main__":
    unittest.main()
