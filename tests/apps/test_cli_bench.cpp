// SPDX-License-Identifier: Apache-2.0
// `newel bench spmv` as a program: its options, its tables, its files.

#include <nlohmann/json.hpp>

#include "bench/contender.hpp"
#include "bench/command/progress.hpp"
#include "tests/apps/bench_words.hpp"
#include "tests/apps/cli_report.hpp"
#include "tests/apps/cli_systems.hpp"
#include "tests/apps/process.hpp"

using newel::cli::BenchOptions;
using newel::cli::UsageError;
using Json = nlohmann::json;

namespace {

BenchOptions parsed(const std::string& line) { return parsed_bench<BenchOptions>("spmv " + line); }

}  // namespace

TEST_CASE("Options of bench spmv are taken as typed, in the table's spelling", "[cli][bench]") {
  const BenchOptions o = parsed(
      "a.mtx generate:grid7:9 --formats CSR:ALG2,e-hyb --precision single --device "
      "host --threads 3 --repeats 5 --columns 8,2 --report r.json --csv r.csv");
  CHECK(o.systems == std::vector<std::string>{"a.mtx", "generate:grid7:9"});
  CHECK(o.formats == std::vector<std::string>{"csr:alg2", "ehyb"});
  CHECK(o.single_precision);
  CHECK_FALSE(o.double_precision);
  CHECK(o.device == "host");
  CHECK(o.threads == 3);
  CHECK(o.repeats == 5);
  CHECK(o.report == "r.json");
  CHECK(o.csv == "r.csv");
  CHECK(o.columns == std::vector<int>{8, 2});
  const BenchOptions defaults = parsed("a.mtx");
  CHECK(defaults.formats.empty());
  CHECK(defaults.columns.empty());
  CHECK(defaults.single_precision);
  CHECK(defaults.double_precision);
  CHECK(defaults.device == "auto");
  CHECK(parsed("a.mtx --formats all").formats.empty());
}

TEST_CASE("bench spmv refuses what makes no sense", "[cli][bench]") {
  CHECK_THROWS_AS(parsed(""), UsageError);
  check_refused_bench<BenchOptions>(
      "spmv a.mtx", {"--columns 3", "--columns 2,2", "--formats xyz", "--formats csr,", "--formats csr,csr",
                     "--formats ehyb:paperr", "--precision half", "--repeats 0", "--repeats x", "--threads -1",
                     "--time-limit 5", "--format csr"});
}

TEST_IN_FOLDER("bench spmv prints each format of each system and writes every figure", "[cli][bench]") {
  const std::string file = folder.write("grid.mtx", grid_system(12).text());
  const std::string wide =
      folder.write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 1\n1 3 2\n2 2 1\n");
  const Outcome outcome =
      run_well({"bench", "spmv", file, "generate:elasticity:4", wide, "--device", "host", "--threads", "2",
                "--repeats", "2", "--report", folder.file("r.json"), "--csv", folder.file("r.csv")});
  std::vector<std::string> names = newel::bench::all_format_names();
  // A row of its own, or a name beside that of the row.
  for (const std::string& name : names) {
    INFO(name);
    const std::string::size_type at = outcome.out.find(' ' + name);
    REQUIRE(at != std::string::npos);
    CHECK(contains(" ,\n", outcome.out.substr(at + 1 + name.size(), 1)));
  }
  CHECK(contains(outcome.out, "3 x 3 blocks"));
  CHECK(contains(outcome.out, "geometric mean"));
  CHECK(contains(outcome.out, "square"));  // why ehyb refuses the last one
  CHECK_FALSE(contains(outcome.out, "WRONG"));

  const std::string text = file_content(folder.file("r.json"));
  CHECK_FALSE(contains(text, folder.path().string()));
  CHECK(begins_as_report(text, "newel bench spmv"));
  const Json report = Json::parse(text);
  for (const char* field : {"command", "date", "processor", "cores", "load_average", "compiler", "threads", "space",
                            "repeats", "copy", "displacing_bytes", "systems", "geometric_means"}) {
    INFO(field);
    CHECK(report.contains(field));
  }
  // One row for each different operator: those of the first system, double precision, stand before the empty line.
  std::set<std::string> different, rows;
  for (const Json& format : report["systems"][0]["formats"]) {
    if (format["refused"].is_null()) {
      const Json key = {format["built"], format["stored_slots"], format["bytes_per_product"], format["bytes"],
                        format["order"]["method"]};
      different.insert(key.dump());
    }
  }
  std::istringstream table(outcome.out.substr(outcome.out.find("grid.mtx, double precision")));
  std::string row;
  int count = -2;  // the system, the names of the columns
  for (; std::getline(table, row) && !row.empty(); ++count) CHECK(rows.insert(row.substr(0, 20)).second);
  CHECK(count == static_cast<int>(different.size()));
  CHECK(different.size() < report["systems"][0]["formats"].size());

  CHECK(report["copy"]["gigabytes_per_second"]["samples"].size() == 2);
  REQUIRE(report["systems"].size() == 6);
  CHECK(report["systems"][0]["system"] == "grid.mtx");
  CHECK(report["systems"][1]["precision"] == "single");
  CHECK(report["systems"][2]["block"] == 3);
  CHECK(report["systems"][5]["cols"] == 3);
  for (const Json& format : report["systems"][2]["formats"]) {
    INFO(format);
    CHECK(format["refused"].is_null());
    for (const std::string& field :
         words("name built detail competitor same_as wrong error_in_bounds warm cold refresh "
               "gflops bytes_per_product gigabytes_per_second percent_of_copy "
               "percent_of_csr_roofline stored_slots padding beta code_balance p_max_gflops "
               "cached_share bytes figures order setup_seconds plan_phases format_phases "
               "setup_in_products refresh_in_products speedup break_even")) {
      INFO(field);
      CHECK(format.contains(field));
    }
    for (const char* phase : {"plan", "permute", "format", "total"}) CHECK(format["setup_seconds"].contains(phase));
    CHECK(format["warm"]["milliseconds"]["median"] > 0);
    CHECK(format["error_in_bounds"] <= 1);
  }
  const std::string csv = file_content(folder.file("r.csv"));
  const auto lines = std::count(csv.begin(), csv.end(), '\n');
  CHECK(lines == 1 + 6 * static_cast<std::ptrdiff_t>(report["systems"][0]["formats"].size()));
}

TEST_CASE("A bench says on a terminal whose turn it is, takes the line away, and says nothing in a pipe",
          "[cli][bench]") {
  const Words spmv =
      words("bench spmv generate:grid7:6 --formats csr,bce --repeats 2 --columns 2 --precision double --device host");
  const Words solve = words(
      "bench solve generate:grid7:6 --formats csr,bce --repeats 2 --precision double "
      "--device host");
  const Outcome piped = run_newel(spmv);
  CHECK(piped.status == 0);
  CHECK(piped.err.empty());
  CHECK_FALSE(contains(piped.out, "\x1b"));
  constexpr int columns = 60;
  for (const auto& [arguments, last] :
       {std::pair(spmv, "with 2 vectors  csr  1 of "), {solve, "solves  newel cg "}}) {
    const auto ran = run_newel_on_terminal(arguments, columns);
    if (!ran) {
      WARN("this system gives no pseudo-terminal: the live line is not tested");
      return;
    }
    INFO(ran->out);
    CHECK(ran->status == 0);
    const std::string clear = "\r\x1b[K";
    CHECK(contains(ran->out, clear + "setting up  "));
    CHECK(contains(ran->out, clear + last));
    // Behind the last line taken away stands the table.
    CHECK(contains(ran->out.substr(ran->out.rfind(clear)), "bce"));
  }
  CHECK(newel::cli::format_bench_line("warm products", "ehyb:halo", 17, 264, 12.3, 80) ==
        "warm products  ehyb:halo  17 of 264  12.3 s");
  CHECK(newel::cli::format_bench_line("warm products", "ehyb:halo", 17, 264, 12.3, 20) == "warm products  ehyb:");
}
