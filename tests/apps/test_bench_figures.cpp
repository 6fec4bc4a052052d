// SPDX-License-Identifier: Apache-2.0
// The arithmetic of `newel bench spmv` on numbers that one can check by hand, and its tables and files.
#include "tests/catch.hpp"

#include "apps/common/break_even.hpp"
#include "apps/common/exit_status.hpp"
#include "bench/command/session.hpp"
#include "bench/command/spmv.hpp"

using namespace newel::cli;

namespace {

BenchLine line_of(const std::string& name, double setup, double product) {
  BenchLine line;
  line.name = line.info.name = name;
  line.format_seconds = setup;
  line.warm = {product, product, product};
  line.cold = {2 * product};
  line.refresh = {3 * product};
  line.error = 0.5;
  line.info.nonzeros = 1000;
  line.info.stored_slots = 1250;
  line.info.bytes_per_product = 16000;
  return line;
}

// A competitor of 4 ms, one of 2 ms that takes longer to set up, and a format of 1 ms.
BenchSystem small_system() {
  BenchSystem system;
  system.name = "folder/small.mtx";
  system.rows = system.cols = 100;
  system.nonzeros = 1000;
  system.lines = {line_of("fast", 0.011, 0.001), line_of("slow competitor", 0, 0.004),
                  line_of("competitor", 0.001, 0.002)};
  for (std::size_t k = 1; k < 3; ++k) system.lines[k].competitor = system.lines[k].break_even = true;
  return system;
}

bench::CopyBandwidth copy_of(double gigabytes_per_second) { return {1 << 20, {gigabytes_per_second}}; }

BenchResult result_of(const std::vector<BenchSystem>& systems) {
  BenchResult result;
  result.head = {{"processor", "a processor"}, {"threads", 2}};
  result.copy = copy_of(0.032);
  result.systems = systems;
  return result;
}

}  // namespace

TEST_CASE("Products pay a setup back once their sum is less, and never where they are not faster", "[bench]") {
  CHECK(cli::break_even(10, 1, 0, 3) == std::optional<double>(6));  // 10 + 5 = 15 is not yet less than 3 x 5
  CHECK(cli::break_even(10.5, 1, 0, 3) == std::optional<double>(6));
  CHECK(cli::break_even(12, 1, 2, 3) == std::optional<double>(6));
  CHECK(cli::break_even(1, 1, 2, 3) == std::optional<double>(0));
  CHECK(cli::break_even(2, 1, 2, 3) == std::optional<double>(1));
  CHECK(cli::break_even(0, 3, 10, 3) == std::nullopt);
  CHECK(cli::break_even(0, 4, 10, 3) == std::nullopt);
}

TEST_CASE("The geometric mean of 2 and 8 is 4, and of nothing there is none", "[bench]") {
  CHECK(geometric_mean({2, 8}) == Approx(4));
  CHECK(geometric_mean({1, 1, 8}) == Approx(2));
  CHECK(std::isnan(geometric_mean({})));
}

TEST_CASE("Figures follow from medians, bytes and the copy's bandwidth", "[bench]") {
  const BenchSystem system = small_system();
  const BenchFigures f = figures_of(system.lines[0], system, copy_of(0.032));  // 32 kB a millisecond
  CHECK(f.gflops == Approx(2e-3));
  CHECK(f.bytes_per_second == Approx(16e6));
  CHECK(f.share_of_copy == Approx(0.5));
  CHECK(f.share_of_roofline == Approx((1000 * 12 + 101 * 4 + 200 * 8) / 32e3));
  CHECK(f.beta == Approx(0.8));
  CHECK(f.code_balance == Approx(8));
  CHECK(f.p_max_gflops == Approx(0.004));
  CHECK(f.cold_seconds == Approx(0.002));
  CHECK(f.setup_in_products == Approx(11));
  CHECK(f.refresh_in_products == Approx(3));
  REQUIRE(f.speedup);
  CHECK(*f.speedup == Approx(2));
  CHECK(f.comparable);
  REQUIRE(f.break_even);
  CHECK(*f.break_even == Approx(11).margin(1));  // 11 + n against 1 + 2 n
  CHECK_FALSE(figures_of(system.lines[2], system, copy_of(1)).comparable);
  CHECK_FALSE(figures_of(system.lines[1], system, copy_of(1)).break_even);
}

TEST_CASE("Wrong and refused competitors are no measure", "[bench]") {
  BenchSystem system = small_system();
  CHECK(best_competitor(system)->name == "competitor");
  system.lines[2].error = 1.5;
  CHECK(best_competitor(system)->name == "slow competitor");
  system.lines[1].refused = "no";
  CHECK(best_competitor(system) == nullptr);
  CHECK_FALSE(figures_of(system.lines[0], system, copy_of(1)).speedup);
}

TEST_CASE("Geometric means take what was right, say of how many, and keep the precisions apart", "[bench]") {
  BenchSystem first = small_system();  // fast: 2 x
  BenchSystem second = small_system();
  second.lines[0].warm = {0.002 / 8};  // 8 x
  BenchSystem third = small_system();
  third.lines[0].error = std::numeric_limits<double>::infinity();
  BenchSystem single = small_system();
  single.single_precision = true;
  const std::vector<BenchMean> means = geometric_means({first, single, second, third});
  REQUIRE(means.size() == 6);
  CHECK(means[0].name == "fast");
  CHECK_FALSE(means[0].single_precision);
  CHECK(means[0].speedup == Approx(4));
  CHECK(means[0].systems == 2);
  CHECK(means[0].of == 3);
  CHECK(means[1].speedup == Approx(0.5));
  CHECK(means[3].single_precision);
  CHECK(means[3].speedup == Approx(2));
}

TEST_CASE("A wrong line says so, stays in table, report and CSV, and makes the exit status 1", "[bench]") {
  BenchSystem system = small_system();
  CHECK(bench_exit_status(result_of({system})) == 0);
  system.lines[0].error = std::numeric_limits<double>::infinity();
  const BenchResult result = result_of({system});
  CHECK(bench_exit_status(result) == 1);
  CHECK(contains(bench_table_text(system, result.copy), "WRONG (inf)"));
  const Json json = bench_json(result);
  CHECK(json["systems"][0]["formats"][0]["wrong"] == true);
  CHECK(json["systems"][0]["formats"][1]["wrong"] == false);
  CHECK(contains(bench_csv(result), "fast,fast,,wrong,"));
}

TEST_CASE("Products with several vectors are reckoned in products with one", "[bench][columns]") {
  BenchSystem system = small_system();
  const auto header = [&] { return contains(bench_table_text(system, copy_of(1)), "ms of 4 vectors"); };
  CHECK_FALSE(header());
  CHECK(bench_json(result_of({system}))["systems"][0]["formats"][0]["columns"].empty());
  system.lines[0].columns = {{4, {0.003, 0.0025, 0.002}}};
  CHECK(header());
  CHECK(contains(bench_table_text(system, copy_of(1)), "2.5 (2 .. 3)"));
  const Json of = bench_json(result_of({system}))["systems"][0]["formats"][0]["columns"];
  REQUIRE(of.size() == 1);
  CHECK(of[0]["columns"] == 4);
  CHECK(of[0]["milliseconds"]["median"] == Approx(2.5));
  CHECK(of[0]["in_products"] == Approx(2.5));
}

TEST_CASE("A refused line has its reason in table, report and CSV, with as many fields as any other", "[bench]") {
  BenchSystem system = small_system();
  system.lines[0].refused = "too wide, 3 \"columns\"";
  const BenchResult result = result_of({system});
  CHECK(contains(bench_table_text(system, result.copy), "refused: too wide, 3 \"columns\""));
  CHECK(bench_json(result)["systems"][0]["formats"][0]["refused"] == "too wide, 3 \"columns\"");
  std::istringstream lines(bench_csv(result));
  std::string header, refused, other;
  std::getline(lines, header);
  std::getline(lines, refused);
  std::getline(lines, other);
  const auto fields = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  CHECK(contains(refused, "\"too wide, 3 \"\"columns\"\"\""));
  CHECK(fields(refused) == fields(header) + 1);  // the one in the reason
  CHECK(fields(other) == fields(header));
  CHECK(bench_exit_status(result) == 0);
}

TEST_CASE("Reports name files without their folders", "[bench]") {
  CHECK(without_folders("newel bench spmv /a/b/A.mtx mesh:../c/d.mesh:elasticity:2 --report=/e/r.json") ==
        "newel bench spmv A.mtx mesh:d.mesh:elasticity:2 --report=r.json");
  CHECK(without_folders("generate:grid7:5") == "generate:grid7:5");
  CHECK(bench_json(result_of({small_system()}))["systems"][0]["system"] == "small.mtx");
}
