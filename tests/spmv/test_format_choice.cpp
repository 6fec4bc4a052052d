// SPDX-License-Identifier: Apache-2.0
// Which format is chosen, and the grounds that are given.
#include "tests/spmv/spmv_support.hpp"
#include "tests/solver/options.hpp"

#include <newel/solver/linear_system.hpp>
#include <newel/spmv/format_choice.hpp>
#include "spmv/ehyb/ehyb_plan.hpp"
#include "spmv/ehyb_symmetric/ehyb_symmetric.hpp"

namespace {

bool has_trial(const FormatChoice& choice, const std::string& format) {
  for (const FormatTrial& trial : choice.trials) {
    if (trial.format == format) return true;
  }
  return false;
}

// Groups of `lanes` rows, longest first, each as wide as its longest.
Offset slots_by_hand(const HostCsr& a, Index lanes) {
  std::vector<Offset> lengths;
  for (Index i = 0; i < a.rows; ++i) lengths.push_back(a.row_length(i));
  std::sort(lengths.rbegin(), lengths.rend());
  Offset slots = 0;
  for (std::size_t i = 0; i < lengths.size(); i += static_cast<std::size_t>(lanes)) slots += lengths[i] * lanes;
  return slots;
}

// The share of all pairs of rows that differ in length.
double unlike_by_hand(const HostCsr& a) {
  double unlike = 0;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.rows; ++j) unlike += a.row_length(i) != a.row_length(j) ? 1 : 0;
  }
  return a.rows == 0 ? 0 : unlike / a.rows / a.rows;
}

}  // namespace

TEST_CASE("A host's CSR takes longer where rows differ in length, unless they are few", "[format-choice]") {
  const SpmvFormat& csr = find_spmv_format("csr");
  const Machine machine = machine_of(Context<Space::host>(2));
  const auto seconds = [&](Index of_each, std::initializer_list<Index> lengths) {
    RowLengths counted;
    Index rows = 0;
    Offset entries = 0;
    for (const Index length : lengths) {
      counted.emplace_back(length, of_each);
      rows += of_each;
      entries += Offset{length} * of_each;
    }
    const PatternFacts facts = facts_of_lengths(rows, rows, entries, counted);
    return csr.cost_estimate(facts, {"", {}, machine, sizeof(double)}).product_seconds(machine);
  };
  CHECK(seconds(20000, {8, 10, 14, 16}) > 1.05 * seconds(80000, {12}));
  CHECK(seconds(2000, {8, 10, 14, 16}) == Approx(seconds(8000, {12})));
  const PatternFacts mostly = facts_of_lengths(40000, 40000, 480000, {{11, 2500}, {12, 35000}, {13, 2500}});
  CHECK(csr.cost_estimate(mostly, {"", {}, machine, sizeof(double)}).product_seconds(machine) <
        1.1 * seconds(40000, {12}));
}

// On two threads of an EPYC, 469,399 rows of a mesh with 6.98 million entries: 2.1 to 2.7 ms in CSR and 1.85 in
// single precision, 2.0 to 2.3 and 1.75 ms in ELL-WARP.
TEST_CASE("On a host a product of a large mesh takes in CSR what it took on an EPYC", "[format-choice]") {
  RowLengths lengths;
  Offset entries = 0;
  for (Index length = 9; length <= 20; ++length) {
    lengths.emplace_back(length, 39116 + (length == 20 ? 7 : 0));
    entries += Offset{length} * lengths.back().second;
  }
  const PatternFacts facts = facts_of_lengths(469399, 469399, entries, lengths);
  Machine host;
  host.processors = 2;
  host.bytes_per_second = 4.5e10;
  const SpmvOptions options;
  const auto seconds = [&](const char* format, std::size_t value_bytes) {
    return find_spmv_format(format).cost_estimate(facts, {"", options, host, value_bytes}).product_seconds(host);
  };
  CHECK(seconds("csr", sizeof(double)) == Approx(2.5e-3).epsilon(0.15));
  CHECK(seconds("csr", sizeof(float)) == Approx(1.85e-3).epsilon(0.15));
  CHECK(seconds("ellwarp", sizeof(double)) < seconds("csr", sizeof(double)));
  CHECK(seconds("ellwarp", sizeof(float)) < seconds("csr", sizeof(float)));
}

TEST_CASE("Facts of a pattern: lengths, the longest row, blocks, and slots of sorted rows", "[format-choice]") {
  const Context<Space::host> ctx(2);
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    const auto there = upload_matrix<double>(ctx, a);
    const PatternFacts facts = pattern_facts(ctx, Pattern<Space::host>(there.narrow()));
    CHECK(facts.nonzeros == a.nnz());
    Offset rows = 0, entries = 0;
    for (const auto& [length, count] : facts.lengths) {
      rows += count;
      entries += Offset{length} * count;
    }
    CHECK(rows == a.rows);
    CHECK(entries == a.nnz());
    for (const int lanes : {1, 4, 32}) CHECK(facts.sorted_slots(lanes) == slots_by_hand(a, lanes));
    CHECK(facts.unevenness() == Approx(unlike_by_hand(a)).margin(1e-12));
  }
  const auto elasticity = upload_matrix<double>(ctx, fem_matrix("generate:elasticity:5"));
  CHECK(pattern_facts(ctx, Pattern<Space::host>(elasticity.wide())).block == 3);
}

TEST_CASE("A dearer setup is earned back after its price over its gain", "[format-choice]") {
  const FormatTrial base{"csr", 2e-3, 0.5, ""};
  CHECK(break_even({"fast", 1e-3, 1.5, ""}, base) == Approx(1000));
  CHECK(break_even({"fast and cheap", 1e-3, 0.25, ""}, base) == 0);
  CHECK(std::isinf(break_even({"slow", 3e-3, 0.1, ""}, base)));
  CHECK(std::isinf(break_even({"as fast and dearer", 2e-3, 0.6, ""}, base)));
  CHECK(break_even(base, base) == 0);
}

TEST_CASE("The iterations of a solve grow with the side of the mesh, the unknowns of a node and the digits",
          "[format-choice]") {
  PatternFacts facts;
  facts.rows = 1000;
  CHECK(expected_iterations(facts, 1e-8) == Approx(std::round(0.5 * std::log(1e8) * 10)));
  CHECK(expected_iterations(facts, 1e-4) < expected_iterations(facts, 1e-8));
  const double small = expected_iterations(facts, 1e-8);
  facts.rows = 8000;
  CHECK(expected_iterations(facts, 1e-8) == Approx(2 * small).epsilon(0.01));
  facts.rows = 3000;
  facts.block = 3;
  CHECK(expected_iterations(facts, 1e-8) == Approx(3.2 * small).epsilon(0.01));
  facts.rows = 0;
  CHECK(expected_iterations(facts, 0) == 1);
}

TEST_BOTH("Few products take csr, many take what reads fewer bytes, and the reason names both", "[format-choice]") {
  const auto there = upload_matrix<double>(ctx, fem_matrix("generate:elasticity:20"));
  const Pattern<S> pattern(there.wide());
  const FormatChoice few = choose_format_by_cost<double>(ctx, pattern, {}, FormatUse{1});
  CHECK(few.format == "csr");
  CHECK(contains(few.reason, "1 is expected"));
  CHECK(few.trials.front().format == "csr");
  const FormatChoice many = choose_format_by_cost<double>(ctx, pattern, {}, FormatUse{1e8});
  CHECK(many.format == "ehyb");
  CHECK(contains(many.reason, "pays back after about "));
  CHECK(contains(many.reason, "100,000,000 are expected"));
  CHECK_FALSE(many.measured);
  // The same question has the same answer.
  CHECK(choose_format_by_cost<double>(ctx, pattern, {}, FormatUse{1e8}).reason == many.reason);
}

TEST_CASE("A matrix that stays in a host's caches is judged by its entries, a larger one by its bytes",
          "[format-choice]") {
  const Machine machine = machine_of(Context<Space::host>(2));
  CostEstimate cost_estimate;
  cost_estimate.product_bytes = 5e6;
  CHECK(cost_estimate.product_seconds(machine) == Approx(5e6 / machine.bytes_per_second).epsilon(0.05));
  cost_estimate.cached_seconds = 2e-4;
  CHECK(cost_estimate.product_seconds(machine) == Approx(1e-4).margin(1e-5));  // two threads
  PatternFacts facts;
  const auto with_entries = [&](Offset entries) {
    facts.nonzeros = entries;
    CostEstimate cost;
    cost.product_bytes = 5e6;
    cost.set_thread_seconds(facts, machine, 8, 2e-4);
    return cost;
  };
  CHECK(with_entries(1000000).cached_seconds == 2e-4);
  CHECK(with_entries(1000000).least_seconds == 0);
  CHECK(with_entries(1000001).cached_seconds == 0);  // of 12 bytes each
  CHECK(with_entries(1000001).least_seconds == 2e-4);
  CostEstimate bound = with_entries(1000001);
  const double by_bytes = 5e6 / machine.bytes_per_second;
  CHECK(bound.product_seconds(machine) == Approx(std::max(by_bytes, 1e-4)).epsilon(0.05));
  bound.least_seconds = 100 * by_bytes;
  CHECK(bound.product_seconds(machine) == Approx(50 * by_bytes).epsilon(0.05));

  // A mesh of 14,000 nodes: every format moves about as many bytes from the caches, but lanes sum faster than rows.
  const Context<Space::host> ctx(2);
  const auto diffusion = upload_matrix<double>(ctx, fem_matrix("generate:diffusion:24"));
  const Pattern<Space::host> pattern(diffusion.wide());
  CHECK(choose_format_by_cost<double>(ctx, pattern, SpmvOptions{"auto"}, FormatUse{1e6, true}).format != "csr");
  CHECK(choose_format_by_cost<double>(ctx, pattern, SpmvOptions{"auto"}, FormatUse{1, true}).format == "csr");
}

// docs/results/spmv_h200.json
TEST_CASE("EHYB's setup on a device is estimated to within a factor of two", "[format-choice]") {
  struct Measured {
    Index rows;
    Offset entries;
    int block;
    double milliseconds;
  };
  for (const Measured& m : {Measured{930930, 36741096, 3, 22.5}, Measured{310310, 4082344, 1, 12.0},
                            Measured{2408311, 32326183, 1, 51.4}, Measured{5832000, 40629600, 1, 133.9},
                            Measured{3604629, 150494607, 3, 42.5}, Measured{9144799, 130758307, 1, 137.5}}) {
    INFO(m.rows << " rows");
    PatternFacts facts;
    facts.rows = facts.cols = m.rows;
    facts.nonzeros = m.entries;
    facts.block = m.block;
    const SpmvOptions options;
    const Machine gpu = large_gpu();
    const auto seconds = [&](Index longest) {
      facts.longest_row = longest;
      return detail::ehyb_cost(facts, {"", options, gpu, sizeof(double)}).setup_seconds(gpu, m.entries, 16);
    };
    const double here = seconds(static_cast<Index>(3 * m.entries / m.rows));
    CHECK(here > 0.5e-3 * m.milliseconds);
    CHECK(here < 2e-3 * m.milliseconds);
    CHECK(seconds(m.rows / 2) > here);  // a hub: the host makes the arrays
  }
}

// docs/results/spmv_h200.json
TEST_CASE("Opposite blocks read once are chosen for large elastic bodies on a device only", "[format-choice]") {
  PatternFacts facts;
  facts.rows = facts.cols = 930930;
  facts.nonzeros = 36741096;
  facts.longest_row = 81;
  facts.block = 3;
  SpmvOptions options;
  options.equal_opposites = true;
  Machine machine = large_gpu();
  const auto cost_estimate = [&] { return ehyb_symmetric_cost(facts, {"", options, machine, sizeof(double)}); };
  const auto chosen = [&] { return !std::isinf(cost_estimate().product_bytes); };
  REQUIRE(chosen());
  const double seconds = cost_estimate().product_seconds(machine), measured = 57e-6;
  CHECK(seconds > 0.8 * measured);
  CHECK(seconds < 1.3 * measured);
  const CostEstimate ehyb = detail::ehyb_cost(facts, {"", options, machine, sizeof(double)});
  CHECK(seconds < 0.8 * ehyb.product_seconds(machine));
  CHECK(cost_estimate().setup_seconds(machine, facts.nonzeros, 16) > ehyb.setup_seconds(machine, facts.nonzeros, 16));
  SECTION("not where opposite values may differ") { options.equal_opposites = false; }
  SECTION("not with one row a node") { facts.block = 1; }
  SECTION("not where CG with EHYB stays on the chip") { facts.rows = facts.cols = 300000; }
  SECTION("not where the host would pair them") { facts.longest_row = 125; }
  SECTION("not on a host") { machine = machine_of(Context<Space::host>(2)); }
  CHECK_FALSE(chosen());
}

TEST_BOTH("Where rows may not be renumbered only formats that take any order are candidates", "[format-choice]") {
  const auto square = upload_matrix<double>(ctx, fem_matrix("generate:diffusion:12"));
  const auto wide = upload_matrix<double>(ctx, ragged_matrix(300, 5000));
  CHECK(has_trial(choose_format_by_cost<double>(ctx, Pattern<S>(square.wide()), {}, FormatUse{1e8}), "ehyb"));
  CHECK_FALSE(
      has_trial(choose_format_by_cost<double>(ctx, Pattern<S>(square.wide()), {}, FormatUse{1e8, false}), "ehyb"));
  CHECK_FALSE(has_trial(choose_format_by_cost<double>(ctx, Pattern<S>(wide.wide()), {}, FormatUse{1e8}), "ehyb"));
}

TEST_BOTH("Measuring builds every format and takes the cheapest", "[format-choice]") {
  const auto there = upload_matrix<float>(ctx, fem_matrix("generate:diffusion:8"));
  const FormatChoice choice = measure_formats(ctx, there.wide(), {}, 100);
  CHECK(choice.measured);
  for (const SpmvFormat& format : spmv_formats()) {
    if (format.make.get<float, S>() != nullptr) CHECK(has_trial(choice, format.name));
  }
  double least = std::numeric_limits<double>::infinity();
  for (const FormatTrial& trial : choice.trials) {
    INFO(trial.format);
    CHECK(trial.failure == "");
    CHECK(trial.product_seconds > 0);
    CHECK(trial.setup_seconds > 0);
    least = std::min(least, trial.seconds_of(100));
  }
  for (const FormatTrial& trial : choice.trials) {
    if (trial.format == choice.format) CHECK(trial.seconds_of(100) == least);
  }
  CHECK(contains(choice.reason, "(measured)"));
}

TEST_BOTH("A measured choice is kept and found", "[format-choice]") {
  const TemporaryFolder folder;
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(500));
  SpmvOptions options;
  options.plan_cache = folder.path().string();
  const FormatChoice first = measure_formats(ctx, there.wide(), options, 100);
  const FormatChoice second = measure_formats(ctx, there.narrow(), options, 100);
  CHECK(second.format == first.format);
  CHECK(contains(second.reason, "from the plan cache"));
  CHECK(second.trials.empty());
  CHECK_FALSE(measure_formats(ctx, there.wide(), options, 200).trials.empty());
}

TEST_BOTH("A system chooses its format, says why, and solves in it", "[format-choice]") {
  const HostCsr a = fem_matrix("generate:elasticity:12");
  const auto there = upload_matrix<double>(ctx, a);
  const auto x_true = random_vector<double>(a.rows);
  const auto b_host = product_oracle(a, x_true);
  const auto b = upload(ctx, b_host);
  for (const double products : {1.0, 1e8}) {
    SystemOptions options;
    options.expected_products = products;
    LinearSystem<double, S> system(ctx, there.wide(), options);
    const SystemInfo info = system.info();
    CHECK(info.format.format == (products == 1 ? "csr" : "ehyb"));
    CHECK(contains(info.format.reason, "expected"));
    CHECK(info.reordered == (products != 1));
    CHECK(info.order.method.empty() == (products == 1));
    CHECK(checked_solve(ctx, system, a, b_host).converged());
  }
  SystemOptions own;
  own.expected_products = 1e8;
  own.old_of_new = random_order(a.rows);
  CHECK(LinearSystem<double, S>(ctx, there.wide(), own).info().matrix.name.substr(0, 4) != "ehyb");
  SystemOptions asked = system_options("auto", "auto", "ehyb:halo");
  const SystemInfo info = LinearSystem<double, S>(ctx, there.wide(), asked).info();
  CHECK(info.format.format == "ehyb:halo");
  CHECK(info.format.reason == "");
}

TEST_CASE("auto and measure choose among the formats and are none", "[format-choice]") {
  CHECK(is_format_choice("auto"));
  CHECK(is_format_choice("Measure"));
  CHECK_FALSE(is_format_choice("csr"));
  CHECK_THROWS_AS(find_spmv_format("auto"), InputError);
}
