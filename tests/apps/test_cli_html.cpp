// SPDX-License-Identifier: Apache-2.0
// `newel solve --html`: where the page goes, and what it is made of. html_page.py reads whole pages.
#include "tests/catch.hpp"

#include "apps/newel/solve/html_page.hpp"
#include "apps/newel/solve/timeline.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

using newel::Progress;
using newel::cli::Timeline;

TEST_IN_FOLDER("A page is written without a report, and nothing but it", "[cli][html]") {
  const std::string matrix = folder.write("A.mtx", grid_system(6).text());
  REQUIRE(run_newel({"solve", matrix, "--device", "host", "--quiet", "--html", folder.file("r.html")}).status == 0);
  const std::string page = file_content(folder.file("r.html"));
  CHECK(page.rfind("<!DOCTYPE html>\n", 0) == 0);
  CHECK(page.size() > 16);
  CHECK(page.substr(page.size() - 8) == "</html>\n");
}

TEST_CASE("Neither report ends its place in the page", "[html]") {
  const std::string hostile = "</script></noscript><!-- @TEXT@ @REPORT@ &";
  const std::string page = newel::cli::html_page("{\"matrix\": \"" + hostile + "\"}", hostile);
  CHECK(contains(page, "{\"matrix\": \"\\u003c/script>\\u003c/noscript>\\u003c!-- @TEXT@ @REPORT@ &\"}</script>"));
  CHECK(contains(page, "&lt;/script>&lt;/noscript>&lt;!-- @TEXT@ @REPORT@ &amp;</pre></noscript>"));
}

TEST_CASE("A timeline keeps the last sample and an even choice of the others", "[html]") {
  double now = 0;
  Timeline timeline(2, 10, [&] { return now; });
  CHECK(timeline.of(0).empty());
  const auto add = [&](int iteration, newel::Index column) {
    Progress progress;
    progress.iteration = iteration;
    progress.relative_residual = 1.0 / (1 + iteration);
    progress.column = column;
    timeline.add(progress);
    now += 0.5;
  };
  for (int i = 0; i <= 100; ++i) add(i, 0);
  const auto samples = timeline.of(0);
  CHECK(samples.size() >= 5);
  CHECK(samples.size() <= 11);
  CHECK(samples.front().iteration == 0);
  CHECK(samples.back().iteration == 100);
  const int step = samples[1].iteration;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (i + 1 < samples.size()) CHECK(samples[i].iteration == static_cast<int>(i) * step);
    CHECK(samples[i].seconds == 0.5 * samples[i].iteration);
    CHECK(samples[i].relative_residual == 1.0 / (1 + samples[i].iteration));
  }
  // A second attempt of the other column counts on from the first.
  for (int i = 0; i <= 3; ++i) add(i, 1);
  for (int i = 0; i <= 2; ++i) add(i, 1);
  CHECK(timeline.of(1).back().iteration == 5);
  CHECK(timeline.of(0).size() == samples.size());
}
