// SPDX-License-Identifier: Apache-2.0
// SPAI on ranks against the M of one.
#include "tests/catch.hpp"

#include <cmath>

#include "tests/distributed/precond_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

PrecondOptions spai_of(PrecondSide side, int power = 1, double drop = 0, bool symmetric = false) {
  PrecondOptions options;
  options.name = "spai";
  options.symmetric = symmetric;
  options.of<SpaiOptions>().side = side;
  options.of<SpaiOptions>().power = power;
  options.of<PatternOptions>().drop = drop;
  return options;
}

void check_against_one(const HostCsr& a, const PrecondOptions& options, const std::vector<int>& sizes) {
  const Context<host> ctx(1);
  const auto there = upload_matrix<double>(ctx, a);
  const SpaiOperator<double, host> one(ctx, there.wide(), RowOrder<host>{}, options, SpmvOptions{"csr"});
  const std::vector<double> x = random_vector<double>(a.rows);
  for (const int size : sizes) {
    INFO(size << " ranks, power " << options.of<SpaiOptions>().power);
    const std::vector<double> y = precond_on_ranks(size, a, options, x);
    CHECK(outside_product(y, x, {{csr_of(one), false}}) == "");
    CHECK(same_bits(y, precond_on_ranks(size, a, options, x)));
  }
}

}  // namespace

TEST_CASE("SPAI on ranks has the M of one", "[distributed]") {
  const HostCsr a = fem_matrix("generate:convection:5");
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
    check_against_one(a, spai_of(side), {1, 2, 3, 5, 7});
    check_against_one(a, spai_of(side, 2), {3});
    check_against_one(a, spai_of(side, 2, 0.2), {2, 7});
    check_against_one(a, spai_of(side, 1, 0, true), {1, 3, 5});
  }
}

TEST_CASE("SPAI on ranks works with a row a rank, more ranks than rows, and zeros", "[distributed]") {
  HostCsr a = tridiagonal_matrix(7);
  a.val[static_cast<std::size_t>(a.row_ptr[3])] = 0;
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left})
    check_against_one(a, spai_of(side), {7, 8, 12});
  const HostCsr holes = from_rows(6, Rows{{{0, 1.0}}, {{1, 2.0}, {4, 1.0}}, {{3, 2.0}}, {{2, 1.0}}, {{4, 1.0}}, {}});
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left})
    check_against_one(holes, spai_of(side), {1, 2, 3});
}

TEST_CASE("SPAI on ranks leaves out the dense rows that one leaves out", "[distributed]") {
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
    check_against_one(dense_edge_matrix(1300), spai_of(side), {3});
  }
}

TEST_CASE("The diagonal SPAI on ranks has the bits of one", "[distributed]") {
  const HostCsr a = fem_matrix("generate:convection:5");
  const Context<host> ctx(1);
  const auto there = upload_matrix<double>(ctx, a);
  const std::vector<double> x = random_vector<double>(a.rows);
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
    PrecondOptions options = spai_of(side);
    options.name = "spai0";
    const Spai0Operator<double, host> one(ctx, there.wide(), RowOrder<host>{}, options, SpmvOptions{"csr"});
    std::vector<double> y(x.size());
    one.apply(ctx, 1, Span<const double, host>(x), 0, Span<double, host>(y));
    for (const int size : {1, 2, 3, 5, 7}) CHECK(same_bits(precond_on_ranks(size, a, options, x), y));
  }
}

TEST_CASE("New values of SPAI on ranks are those of a new one", "[distributed]") {
  const HostCsr a = fem_matrix("generate:convection:5");
  HostCsr changed = a;
  for (Offset k = 0; k < a.nnz(); ++k) changed.val[k] *= 1 + 0.25 * static_cast<double>(k % 5);
  const std::vector<double> values(changed.val.begin(), changed.val.end()), x = random_vector<double>(a.rows);
  for (const bool symmetric : {false, true}) {
    for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
      const PrecondOptions options = spai_of(side, 1, 0, symmetric);
      CHECK(same_bits(precond_on_ranks(3, a, options, x, &values), precond_on_ranks(3, changed, options, x)));
    }
  }
}
