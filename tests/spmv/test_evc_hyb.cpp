// SPDX-License-Identifier: Apache-2.0
// evchyb as an operator: matrices that take each of its ways at once, and the variant that renumbers.
#include "tests/spmv/spmv_support.hpp"

namespace {

// Empty rows, ELL parts of many lengths with one, two and four rows a thread, CSR rows of every number of threads,
// and rows for several blocks.
HostCsr mixed_matrix(Index n) {
  return random_matrix(n, n, 84, [n](Index i) {
    if (i == 3 || i == n - 2) return Offset{40000};
    if (i == 700) return Offset{12000};
    if (i % 100 == 99) return Offset{20 + i % 9000};
    return Offset{i % 11 == 0 ? 0 : i % 140};
  });
}

}  // namespace

TEST_BOTH("evchyb multiplies rows of every kind in one matrix", "[spmv][evchyb]") {
  const HostCsr a = mixed_matrix(20000);
  for (const std::string format : {"evchyb:listed", "evchyb:renumbered"}) {
    for (const int threads : {1, 2, 5, 300}) {
      check_product<double, S>(a, format, threads);
      check_product<float, S>(a, format, threads);
      if (S == Space::device) break;
    }
  }
}

TEST_BOTH("evchyb multiplies around the size of a warp", "[spmv][evchyb]") {
  for (const Index n : {1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025}) {
    INFO("n = " << n);
    for (const std::string format : {"evchyb:listed", "evchyb:renumbered"}) {
      check_product<double, S>(tridiagonal_matrix(n), format, 1);
      check_product<float, S>(random_matrix(n, n, 85, [](Index i) { return Offset{i % 40}; }), format, 1);
    }
  }
}

TEST_BOTH("evchyb renumbers rows by length, equal ones by first column, and then writes y in place",
          "[spmv][evchyb]") {
  const HostCsr a = power_law_matrix(3000);
  const auto there = upload_matrix<double>(ctx, a);
  const SpmvOptions options{"EVC-HYB:renumbered"};
  CHECK(plan_order<double>(ctx, Pattern<S>(there.wide()), SpmvOptions{"evchyb"}).natural());
  const RowOrder<S> order = plan_order<double>(ctx, Pattern<S>(there.wide()), options);
  const std::vector<Index> old_of_new = download(ctx, order.old_of_new);
  const std::vector<Index> new_of_old = download(ctx, order.new_of_old);
  REQUIRE(old_of_new.size() == 3000);
  for (Index i = 0; i < a.rows; ++i) CHECK(new_of_old[old_of_new[i]] == i);
  for (Index i = 1; i < a.rows; ++i) {
    const Index before = old_of_new[i - 1], here = old_of_new[i];
    REQUIRE(a.row_length(before) <= a.row_length(here));
    if (a.row_length(before) == a.row_length(here)) CHECK(a.col[a.row_ptr[before]] <= a.col[a.row_ptr[here]]);
  }
  const PermutedCsr<double, S> permuted = permute(ctx, there.wide(), order);
  const OperatorInfo planned = make_spmv<double, S>(ctx, permuted.view(), order, options)->info();
  CHECK(planned.name == "evchyb:renumbered");
  // In any other order it keeps a list, and says so.
  const OperatorInfo other = make_spmv<double, S>(ctx, there.wide(), {}, options)->info();
  CHECK(other.name == "evchyb:listed");
  std::map<std::string, std::uint64_t> bytes(planned.bytes.begin(), planned.bytes.end());
  CHECK(bytes.at("row list") == 0);
}

TEST_BOTH("evchyb reports what Table 3 and the model of section 3.2 need", "[spmv][evchyb]") {
  const HostCsr a = mixed_matrix(20000);
  const auto there = upload_matrix<double>(ctx, a);
  const OperatorInfo info = make_spmv<double, S>(ctx, there.wide(), {}, SpmvOptions{"evchyb"})->info();
  std::map<std::string, double> figures(info.figures.begin(), info.figures.end());
  CHECK(info.name == "evchyb:listed");
  CHECK(static_cast<int>(figures.at("Isplit")) % 32 == 0);
  // On a device 20,000 rows of up to 140 entries leave most of it without work, so that fewer of them are short.
  CHECK(figures.at("LCmax") <= 128);
  CHECK(figures.at("Isplit") > (S == Space::device ? 1000 : 10000));
  CHECK(figures.at("slots of ELL") + figures.at("slots of CSR") == static_cast<double>(info.stored_slots));
  CHECK(figures.at("beta") == Approx(1 / (1 + info.padding_ratio())));
  CHECK(figures.at("entries a row") == Approx(static_cast<double>(a.nnz()) / a.rows));
  CHECK(figures.at("rows in pieces") >= 2);
}

TEST_BOTH("evchyb estimates the bytes of a product that it then reports", "[spmv][evchyb]") {
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    const auto there = upload_matrix<double>(ctx, a);
    const SpmvOptions options{"evchyb"};
    const double bytes =
        static_cast<double>(make_spmv<double, S>(ctx, there.wide(), {}, options)->info().bytes_per_product);
    const auto at_host = upload_matrix<double>(Context<Space::host>(1), a);
    const PatternFacts facts = pattern_facts(Context<Space::host>(1), Pattern<Space::host>(at_host.wide()));
    const CostEstimate cost_estimate =
        find_spmv_format("evchyb").cost_estimate(facts, {"", options, machine_of(ctx), sizeof(double)});
    // The last warp of short rows is taken to be as long as its longest.
    CHECK(cost_estimate.product_bytes <= bytes + 31 * 128 * 12.0);
    CHECK(cost_estimate.product_bytes >= 0.9 * bytes - 5000);
  }
}
