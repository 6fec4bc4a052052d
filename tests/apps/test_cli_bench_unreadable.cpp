// SPDX-License-Identifier: Apache-2.0
// `newel bench` beside a matrix that cannot be read: what both of its commands do then.
#include "tests/catch.hpp"

#include <nlohmann/json.hpp>

#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

using Json = nlohmann::json;

namespace {

// `lines`: what the JSON calls the lines of a system.
void check_unreadable(const std::string& command, const std::string& lines) {
  INFO("bench " << command);
  const TemporaryFolder folder;
  const std::string grid = folder.write("grid.mtx", grid_system(6).text());
  const std::string bad =
      folder.write("bad.mtx", "%%MatrixMarket matrix coordinate octonion general\n1 1 1\n1 1 1 0\n");
  const Outcome outcome =
      run_newel({"bench", command, bad, grid, "--formats", "csr", "--device", "host", "--repeats", "1", "--precision",
                 "both", "--report", folder.file("r.json"), "--csv", folder.file("r.csv")});
  INFO(outcome.out << outcome.err);
  CHECK(outcome.status == 2);
  CHECK(contains(outcome.err, bad + ":1: "));
  CHECK(contains(outcome.out, "bad.mtx, single precision\n  refused: bad.mtx:1: "));
  CHECK(contains(outcome.out, "grid.mtx, single precision: 36 rows"));
  const std::string text = file_content(folder.file("r.json"));
  CHECK_FALSE(contains(text, folder.path().string()));
  const Json report = Json::parse(text);
  REQUIRE(report["systems"].size() == 4);
  for (const std::size_t k : {0, 1}) {
    const Json& system = report["systems"][k];
    CHECK(system["system"] == "bad.mtx");
    CHECK(system["precision"] == (k == 0 ? "double" : "single"));
    CHECK(contains(system["refused"].get<std::string>(), "bad.mtx:1: "));
    CHECK(system["rows"].is_null());
    CHECK(system[lines].empty());
  }
  CHECK(report["systems"][2]["rows"] == 36);
  CHECK(report["systems"][2]["refused"].is_null());
  CHECK_FALSE(report["systems"][2][lines].empty());
  // As many fields in the line of what was refused as in the header.
  const std::string csv = file_content(folder.file("r.csv"));
  const std::size_t begin = csv.find("\nbad.mtx,double,") + 1;
  REQUIRE(begin > 0);
  const std::string header = csv.substr(0, csv.find('\n')),
                    refused = csv.substr(begin, csv.find('\n', begin) - begin);
  CHECK(contains(refused, "bad.mtx:1: "));
  const std::string around_reason = refused.substr(0, refused.find('"')) + refused.substr(refused.rfind('"') + 1);
  CHECK(std::count(around_reason.begin(), around_reason.end(), ',') == std::count(header.begin(), header.end(), ','));
}

}  // namespace

TEST_CASE("bench measures the others if a matrix cannot be read, and ends in status 2", "[cli][bench]") {
  check_unreadable("spmv", "formats");
  check_unreadable("solve", "solves");
}
