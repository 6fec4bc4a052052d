# SPDX-License-Identifier: Apache-2.0
"""The scripts of the documentation find what is wrong: outputs that differ, links, C and Python without documentation."""

import contextlib
import gzip
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

for folder in ("scripts/docs", "scripts"):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / folder))

import c_reference  # noqa: E402
import draw_formats  # noqa: E402
import links  # noqa: E402
import python_reference  # noqa: E402
import run_commands  # noqa: E402
import sample_report  # noqa: E402


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
        self.assertTrue(
            run_commands.alike(
                "not converged (time_limit) after 10 iterations", "not converged (time_limit) after 999 iterations"
            )
        )


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
            return json.loads((links.ROOT / f"docs/results/{name}.json").read_text(encoding="utf-8"))

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
        self.assertIn(f"with multigrid {min(ratios):.1f} to {max(ratios):.1f} times as fast as CuPy's `cg`", text)
        self.assertIn(f"with the same method and Jacobi {eigen:.1f} times as fast as Eigen", text)


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
            python_reference.undocumented(["as_real", "Nothing"]),
            ["python/newel/__init__.py: Nothing is defined nowhere"],
        )


if __name__ == "__main__":
    unittest.main()
