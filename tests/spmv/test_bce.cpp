// SPDX-License-Identifier: Apache-2.0
// bce as an operator: matrices that take each of its ways at once.
#include "tests/spmv/spmv_support.hpp"

namespace {

// Empty rows, blocked rows of many widths, and rows of one and of several pieces on either space.
HostCsr mixed_matrix() {
  return random_matrix(1200, 90000, 74, [](Index i) {
    if (i == 3 || i == 1100) return Offset{80000};
    if (i == 700) return Offset{6000};
    if (i % 100 == 99) return Offset{300 + i};
    return Offset{i % 5 == 0 ? 0 : i % 61};
  });
}

}  // namespace

TEST_BOTH("bce multiplies rows of every kind in one matrix", "[spmv][bce]") {
  for (const int threads : {1, 2, 5}) {
    check_product<double, S>(mixed_matrix(), "bce", threads);
    check_product<float, S>(mixed_matrix(), "bce", threads);
    if (S == Space::device) break;
  }
}

TEST_BOTH("bce leaves x.y with rows of several pieces too", "[spmv][bce]") {
  const HostCsr a =
      random_matrix(40000, 40000, 75, [](Index i) { return i % 9000 == 1 ? Offset{60000} : Offset{i % 7}; });
  for (const int threads : {1, 3, 300}) {
    check_product<double, S>(a, "bce", threads);
    check_product<float, S>(a, "bce", threads);
    if (S == Space::device) break;
  }
}

TEST_BOTH("bce says how many sets, blocks and long rows it made", "[spmv][bce]") {
  const auto there = upload_matrix<double>(ctx, mixed_matrix());
  const OperatorInfo info = make_spmv<double, S>(ctx, there.wide(), {}, SpmvOptions{"BCE"})->info();
  std::map<std::string, double> figures(info.figures.begin(), info.figures.end());
  CHECK(info.name == "bce");
  CHECK(figures.at("sets") >= 1);
  CHECK(figures.at("blocks") >= figures.at("sets"));
  // On a device also those of more than 256 entries, and shorter ones: 1200 rows leave most of it without work.
  if (S == Space::device) {
    CHECK(figures.at("long rows") >= 15);
  } else {
    CHECK(figures.at("long rows") == 3);
  }
  CHECK(figures.at("pieces of long rows") > figures.at("long rows"));
  std::vector<std::string> phases;
  for (const auto& [phase, seconds] : info.setup_seconds) phases.push_back(phase);
  CHECK(phases.back() == "upload and fill");
  CHECK((phases.front() == "download") == (S == Space::device));
}

TEST_BOTH("bce estimates the bytes of a product that it then reports", "[spmv][bce]") {
  for (const auto& [name, a] : awkward_matrices()) {
    INFO(name);
    const auto there = upload_matrix<double>(ctx, a);
    const SpmvOptions options{"bce"};
    const double bytes =
        static_cast<double>(make_spmv<double, S>(ctx, there.wide(), {}, options)->info().bytes_per_product);
    const auto at_host = upload_matrix<double>(Context<Space::host>(1), a);
    const PatternFacts facts = pattern_facts(Context<Space::host>(1), Pattern<Space::host>(at_host.wide()));
    const CostEstimate cost_estimate =
        find_spmv_format("bce").cost_estimate(facts, {"", options, machine_of(ctx), sizeof(double)});
    // What blocks, pieces and their alignment take is left out.
    CHECK(cost_estimate.product_bytes <= bytes);
    CHECK(cost_estimate.product_bytes >= 0.8 * bytes - 5000);
  }
}
