# SPDX-License-Identifier: Apache-2.0
"""The scripts of the documentation find what is wrong: outputs that differ, links, C and Python without documentation."""

import contextlib
import gzip
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

for folder in ("scripts/docs", "scripts", "bench", "bench/pages"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / folder))

import automatic_rules  # noqa: E402
import c_reference  # noqa: E402
import copied  # noqa: E402
import compact_results  # noqa: E402
import draw_decision  # noqa: E402
import draw_formats  # noqa: E402
import links  # noqa: E402
import python_reference  # noqa: E402
import reports  # noqa: E402
import run_commands  # noqa: E402
import sample_report  # noqa: E402
import slim_svg  # noqa: E402


class Outputs(unittest.TestCase):
    def test_times_and_sizes_may_differ(self):
        self.assertTrue(run_commands.alike("read 4.5 ms of 2.02 MB", "read 12 us of 1.35 kB"))
        self.assertTrue(run_commands.alike("  0.2 s, 90 times faster", "  11.0 s,  3.5 times slower"))

    def test_words_may_not(self):
        self.assertFalse(run_commands.alike("converged after 20 iterations", "diverged after 20 iterations"))
        self.assertFalse(run_commands.alike("x1", "x2"))

    def test_counts_differ_a_little_and_residuals_within_a_factor(self):
        self.assertTrue(run_commands.alike("after 1,000 iterations at 8e-09", "after 1,100 iterations at 2e-09"))
        self.assertFalse(run_commands.alike("after 1,000 iterations", "after 1,300 iterations"))
        self.assertFalse(run_commands.alike("residual 8.1e-09", "residual 8.1e-06"))
        self.assertFalse(run_commands.alike("mean 1.0", "mean -1.0"))

    def test_choices_of_the_machine_are_left_out_and_missing_lines_are_not(self):
        self.assertTrue(run_commands.same_output(["a", "  format          csr"], ["a"]))
        self.assertFalse(run_commands.same_output(["a", "b"], ["a"]))

    def test_phases_that_take_long_and_methods_have_to_be_there(self):
        start = "  start           150 ms before the first step: launch 87.6 ms, equation 33.3 ms, mesh 2.5 ms"
        self.assertEqual(run_commands.long_phases(start), {"launch", "equation"})
        self.assertEqual(run_commands.long_phases("  shares          product 43%, assembly 20%, output 14%"),
                         {"product", "assembly"})
        self.assertTrue(run_commands.same_output([start], [start.replace("mesh 2.5 ms", "reading 1 us")]))
        self.assertFalse(run_commands.same_output([start], [start.replace("equation", "equations")]))
        self.assertFalse(run_commands.same_output([start], []))
        system = "  system          cg with jacobi, matrix as bce: pays back after about 430 iterations (estimated)"
        self.assertTrue(run_commands.same_output([system], [system.replace("bce: pays", "csr: never pays")]))
        self.assertFalse(run_commands.same_output([system], [system.replace("jacobi", "amg")]))

    def test_an_update_keeps_times_in_lines_that_say_the_same(self):
        self.assertEqual(run_commands.renewed_lines(["a  3 ms", "b 1"], ["a  9 ms", "b 2"]), ["a  3 ms", "b 2"])
        self.assertEqual(run_commands.renewed_lines(["a  3 ms"], ["a  9 ms", "c 1"]), ["a  9 ms", "c 1"])

    def test_what_was_cut_short_by_time_may_be_longer(self):
        shown = "not converged (time_limit) after 10 iterations"
        for printed in ("999 iterations", "1 iteration"):
            self.assertTrue(run_commands.alike(shown, f"not converged (time_limit) after {printed}"), printed)
        self.assertFalse(run_commands.alike(shown, "not converged (time_limit) after 10 products"))


class SampleReport(unittest.TestCase):
    PAGE = (
        '<style>a</style><script type="application/json" id="report">{"format": "csr"}</script><noscript><pre>\n'
        "  set up   3 ms\n  result   converged after 150 iterations\n</pre></noscript><script>draw()</script>"
    )

    def test_a_page_with_other_times_says_the_same(self):
        other = self.PAGE.replace("3 ms", "9 s").replace("150", "158").replace("csr", "ehyb")
        self.assertEqual(sample_report.difference(self.PAGE, other), "")
        self.assertEqual(sample_report.chosen_format(other), "ehyb")

    def test_other_words_counts_or_templates_are_a_difference(self):
        for old, new in (("set up", "setup"), ("150", "186"), (">a<", ">b<"), ("draw()", "paint()"), ("  set up   3 ms\n", "")):
            self.assertTrue(sample_report.difference(self.PAGE, self.PAGE.replace(old, new)), new)


class Links(unittest.TestCase):
    def test_code_is_not_prose(self):
        text = "a\n```\n[b](c)\n```\nd\n````\n```\n````\ne\n"
        self.assertEqual([line for line, prose in links.without_code(text) if prose], ["a\n", "d\n", "e\n"])

    def test_links_to_sources_lead_to_pages_that_show_them(self):
        self.assertEqual(
            links.rewritten("[a](../include/newel/core/span.hpp#L3) [b](glossary.md) [c](x.md)", "docs/a.md", "a.md"),
            "[a](source/include/newel/core/span.hpp.md#L3) [b](glossary.md) [c](x.md)",
        )
        self.assertEqual(links.site_path("spmv/ehyb/README.md"), "source/spmv/ehyb.md")


class Copied(unittest.TestCase):
    def test_prompts_and_outputs_are_not_copied(self):
        self.assertEqual(copied.commands_of("$ a b\n  result\n$ c \\\n  d\nout"), "a b\nc \\\n  d")
        page = '<div class="language-console highlight"><pre><code><span>$ </span>a &lt; "b"\nout</code></pre></div>'
        self.assertIn('highlight" data-copy="a &lt; &quot;b&quot;"><pre>', copied.with_commands(page))

    def test_a_picture_of_its_own_line_is_a_link_to_itself(self):
        alone, among = '<p><img alt="a" src="b.svg" /></p>', '<p>See <img src="b.svg" /></p>'
        self.assertEqual(links.with_large_pictures(alone), '<p><a href="b.svg"><img alt="a" src="b.svg" /></a></p>')
        self.assertEqual(links.with_large_pictures(among), among)

    def test_prompts_of_python_are_not_copied(self):
        self.assertEqual(copied.statements_of(">>> for i in a:\n...     b\n...\n3\n>>> c"), "for i in a:\n    b\n\nc")
        page = '<div class="language-pycon highlight"><pre>&gt;&gt;&gt; a\n1</pre></div>'
        self.assertIn('pycon highlight" data-copy="a"><pre>', copied.with_commands(page))

    def test_other_blocks_are_copied_as_they_are(self):
        page = '<div class="language-sh highlight"><pre><code>$ a\n</code></pre></div>'
        self.assertEqual(copied.with_commands(page), page)


class Tables(unittest.TestCase):
    def test_every_page_of_tables_begins_with_three_sentences_and_a_picture(self):
        docs = links.ROOT / "docs"
        found = sorted(docs.glob("performance-*.md")) + [docs / "matrices.md", docs / "preconditioners-measured.md"]
        self.assertGreater(len(found), 8)
        for page in found:
            lead, picture, rest = page.read_text(encoding="utf-8").partition("\n![")
            self.assertTrue(picture, page.name)
            self.assertTrue((docs / rest[rest.index("(") + 1 : rest.index(")")]).is_file(), page.name)
            prose = " ".join(line for line in lead.splitlines() if not line.startswith(("#", "<!--")))
            self.assertGreaterEqual(len(re.findall(r"[a-z0-9)][.](?: |$)", prose.strip())), 3, page.name)
            self.assertNotIn("|", prose, page.name)  # before any table


class Results(unittest.TestCase):
    FILES = sorted(path for path in (links.ROOT / "docs/results").iterdir())

    def test_the_pages_are_those_that_are_written_from_the_results(self):
        with tempfile.TemporaryDirectory() as folder:
            for part in ("bench/pages", "scripts", "docs"):
                shutil.copytree(links.ROOT / part, pathlib.Path(folder) / part)
            subprocess.run([sys.executable, pathlib.Path(folder) / "bench/pages/write_all.py", "--without-pictures"], check=True,
                           stdout=subprocess.DEVNULL)
            for written in [*pathlib.Path(folder).glob("docs/*.md"), *pathlib.Path(folder).glob("docs/pictures/*.svg")]:
                kept = links.ROOT / written.relative_to(folder)
                self.assertEqual(written.read_text(encoding="utf-8"), kept.read_text(encoding="utf-8"), written.name)

    def test_results_are_compact(self):
        for path in self.FILES:
            if path.suffix == ".json":
                report = reports.load(path)
                short = compact_results.text(compact_results.kept(report, compact_results.rules_of(path.name)))
                self.assertEqual(path.read_text(encoding="utf-8"), short, path.name)
            elif path.suffix == ".svg":
                self.assertLess(path.stat().st_size, 150_000, path.name)
        self.assertLess(sum(path.stat().st_size for path in self.FILES), 3_000_000)

    def test_every_result_is_in_the_table_of_the_laboratory_and_no_other(self):
        rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", (links.ROOT / "bench/README.md").read_text(encoding="utf-8"), re.M)
        self.assertEqual(sorted(re.findall(r"\w+", " ".join(rows))),
                         sorted(path.name.partition(".")[0] for path in self.FILES if path.suffix != ".svg"))

    def test_figures_are_cut_so_that_pages_round_them_as_from_all_digits(self):
        for value, short in ((1.2345651, 1.23456), (1.23450001, 1.23451), (-0.123455001, -0.123456), (12.5, 12.5), (0.0, 0.0)):
            self.assertEqual(compact_results.shortened(value), short)

    def test_pictures_keep_their_places_to_a_tenth_of_a_point(self):
        self.assertEqual(slim_svg.relative("M 1 2 \nL 1 3.52 \nL 0.04 2 \nQ 1 1 2 2.26 \nz"), "M1 2v1.5l-1-1.5q1-1 2 .3z")

    def test_a_gzipped_report_is_read_by_the_name_without_its_suffix(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.json"
            (path.parent / "a.json.gz").write_bytes(gzip.compress(b'{"schema": 1, "program": "x"}'))
            self.assertEqual(reports.load(path)["program"], "x")


class Systems(unittest.TestCase):
    def test_the_included_systems_are_those_that_their_scripts_write(self):
        with tempfile.TemporaryDirectory() as folder:
            for script in ("make_bone.py", "make_systems.py"):
                subprocess.run([sys.executable, links.ROOT / "apps/data" / script, folder], check=True)
            written = sorted(pathlib.Path(folder).iterdir())
            self.assertEqual(len(written), 6)
            for path in written:
                kept = links.ROOT / "apps/data" / path.name
                read = (lambda file: gzip.decompress(file.read_bytes())) if path.suffix == ".gz" else pathlib.Path.read_bytes
                self.assertEqual(read(path), read(kept), path.name)
                self.assertIn(f"`{path.name}`", (links.ROOT / "apps/data/README.md").read_text(encoding="utf-8"))

    def test_the_commands_of_pages_need_nothing_that_is_not_included(self):
        for page in links.ROOT.glob("docs/**/*.md"):
            for block in run_commands.BLOCK.findall(page.read_text(encoding="utf-8")):
                self.assertNotRegex(block, r"(?<![\w/])(?:matrices|meshes)/|\.\./shared", page.name)


class Readme(unittest.TestCase):
    def test_the_factors_of_the_first_picture_are_those_of_the_results(self):
        def results(name):
            return reports.load(links.ROOT / f"docs/results/{name}.json")

        def first_solves(system, by):
            return [
                1e3 * line["setup_seconds"] * (by != "cupy") + line["solve"]["milliseconds"]["median"]
                for line in system["solves"]
                if (line["by"], line["solver"], line["precond"]) == (by, "cg", "jacobi") and line["converged"]
            ]

        device = {s["system"]: s for s in results("solve_h200")["systems"] if s["precision"] == "double"}
        ratios = []
        for system in results("amg_h200")["systems"]:
            ours = [
                line["setup_milliseconds"] + line["solve"]["milliseconds"]["median"]
                for line in system["solves"]
                if line["precond"] == "amg"
            ]
            if system["system"] in device:
                ratios += [first_solves(device[system["system"]], "cupy")[0] / min(ours)]
        host = next(s for s in results("solve_host")["systems"] if "elasticity" in s["system"])
        eigen = first_solves(host, "eigen")[0] / min(first_solves(host, "newel"))
        text = " ".join((links.ROOT / "README.md").read_text(encoding="utf-8").split())
        self.assertIn(f"Newel with multigrid is {min(ratios):.1f} to {max(ratios):.1f} times as fast as CuPy's `cg`", text)
        self.assertIn(f"with the same method as Eigen (CG with Jacobi), it is {eigen:.1f} times as fast", text)


class Builds(unittest.TestCase):
    BUILD = re.compile(r"cmake --build (?!.*--parallel (?:[0-9]|\"\$\())|(?:make|ninja) -j(?! ?[0-9$\"])")

    def test_every_build_command_says_how_many_compilers_it_starts(self):
        self.assertTrue(self.BUILD.search("cmake --build build -j"))
        self.assertTrue(self.BUILD.search("cmake --build build --parallel --target newel_heat"))
        self.assertTrue(self.BUILD.search("cmake --build build && ctest --parallel"))
        self.assertFalse(self.BUILD.search('cmake --build build --parallel "$(nproc)" && ctest'))
        self.assertFalse(self.BUILD.search("cmake --build build --target x --parallel 2"))
        for page in [*links.ROOT.glob("*.md"), *links.ROOT.glob("docs/**/*.md"), *links.ROOT.glob("examples/*.md")]:
            for line in page.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
                self.assertFalse(self.BUILD.search(line), f"{page.name}: {line}")


class Formats(unittest.TestCase):
    def test_the_pictures_of_the_formats_are_those_that_the_script_draws(self):
        for name, draw in draw_formats.PICTURES.items():
            with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(None):
                path = pathlib.Path(folder) / "drawn.svg"
                draw().save(path, f"a small matrix in {name}")
                drawn = path.read_text(encoding="utf-8")
            self.assertEqual(drawn, (links.ROOT / f"docs/pictures/format_{name}.svg").read_text(encoding="utf-8"))

    def test_every_value_is_stored_once_and_a_pair_of_opposite_ones_once(self):
        letters = sorted(letter for row in draw_formats.MATRIX.values() for letter in row.values())
        for name, draw in draw_formats.PICTURES.items():
            words = re.findall(r">([a-z])</text>", "".join(draw().parts))
            pairs = {"ehyb-symmetric": 6}.get(name, 0)
            names_of_arrays = {"ehyb-symmetric": 4}.get(name, 0)  # i and j of both parts
            self.assertEqual(len(words), 2 * len(letters) - pairs + names_of_arrays, name)  # in the matrix and in an array
            self.assertEqual(sorted(set(words)), letters, name)


class Decision(unittest.TestCase):
    def test_the_picture_of_the_decision_is_that_of_its_page(self):
        drawn = (links.ROOT / "docs/pictures/which_solver.svg").read_text(encoding="utf-8")
        self.assertEqual(draw_decision.picture(), drawn)
        self.assertLess(len(drawn), 150000)

    def test_rows_are_read_without_the_marks_of_markdown(self):
        text = "# A\n\n## B\n\n| x | take | why |\n|---|---|---|\n| a **b** [c](d.md) | `cg`, then `amg` | e |\n\n## C\n"
        self.assertEqual(draw_decision.rows_of("B", text), [("a b c", "cg, then amg")])


class Rules(unittest.TestCase):
    HEADER = """/// Of a solve.
struct Some {
  /// The first.
  static constexpr double a = 0.45, b = 1.0 / 8;
  static constexpr int c = 3;  ///< the third
};
/// Alone.
inline constexpr double lone = 2.5;
"""

    def test_constants_are_read_with_their_comments(self):
        lone, some = automatic_rules.read_structs(self.HEADER)
        self.assertEqual((lone.name, lone.fields), ("", [({"lone": "2.5"}, "Alone.")]))
        self.assertEqual((some.name, some.comment), ("Some", "Of a solve."))
        self.assertEqual(some.fields, [({"a": "0.45", "b": "1.0 / 8"}, "The first."), ({"c": "3"}, "the third")])
        self.assertEqual(automatic_rules.value_of("1.0 / 8"), 0.125)

    def test_fitted_values_are_read_with_their_remarks(self):
        text = "// Two threads.\nconstexpr A fit() {\n  A f;\n  f.x = {1, 2};  // on a mesh\n  f.y = 3e-9;\n}\n"
        values, comments = automatic_rules.read_fitted(text)
        self.assertEqual(values, {"A": {"x": ("{1, 2}", "on a mesh"), "y": ("3e-9", "")}})
        self.assertEqual(comments, {"A": "Two threads."})

    def test_a_changed_constant_changes_the_page(self):
        numbers = automatic_rules.constants()
        self.assertEqual(numbers["least_missed"], 0.45)
        self.assertEqual(numbers["WholeSolveConstants.solves_to_leave"], 2)
        text = automatic_rules.page()
        with unittest.mock.patch.object(automatic_rules, "constants", lambda: {**numbers, "least_missed": 0.3}):
            self.assertNotEqual(automatic_rules.page(), text)

    def test_a_constant_that_the_sources_do_not_have_is_an_error(self):
        with unittest.mock.patch.object(automatic_rules, "constants", dict), self.assertRaises(automatic_rules.Missing):
            automatic_rules.page()


class References(unittest.TestCase):
    HEADER = """/* Newel from C: x. */
enum { NEWEL_OK = 0 };

/* One.
 *   first line  of a list */
NEWEL_API int newel_one(int a,
                          int b);
NEWEL_API int newel_two(void);

NEWEL_API int newel_three(void);
#ifdef __cplusplus
"""

    def test_declarations_stand_under_the_comment_before_them(self):
        comments = {
            name: comment
            for comment, code in c_reference.sections(self.HEADER)
            for name in c_reference.declared_names(code)
        }
        self.assertEqual(comments["newel_one"], "One.\n  first line  of a list")
        self.assertEqual(comments["newel_two"], comments["newel_one"])
        self.assertEqual(comments["newel_three"], "")

    def test_functions_without_comment_are_named(self):
        self.assertEqual(c_reference.undocumented(self.HEADER), ["c/newel.h: newel_three"])
        self.assertEqual(c_reference.undocumented(), [])

    def test_every_public_python_name_has_a_docstring(self):
        self.assertEqual(python_reference.undocumented(), [])
        self.assertEqual(
            python_reference.undocumented(["as_dtype", "Nothing"]),
            ["python/newel/__init__.py: Nothing is defined nowhere"],
        )


if __name__ == "__main__":
    unittest.main()
