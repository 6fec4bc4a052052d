// SPDX-License-Identifier: Apache-2.0
// FSAI on ranks against the factor of one.
#include "tests/catch.hpp"

#include <cmath>

#include "tests/distributed/precond_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

PrecondOptions fsai_of(int power = 1, double drop = 0) {
  PrecondOptions options;
  options.name = "fsai";
  options.of<FsaiOptions>().power = power;
  options.of<PatternOptions>().drop = drop;
  return options;
}

void check_against_one(const HostCsr& a, const PrecondOptions& options, const std::vector<int>& sizes) {
  const Context<host> ctx(1);
  const auto there = upload_matrix<double>(ctx, a);
  const FsaiOperator<double, host> one(ctx, there.wide(), RowOrder<host>{}, options, SpmvOptions{"csr"});
  const std::vector<double> x = random_vector<double>(a.rows);
  for (const int size : sizes) {
    INFO(size << " ranks, power " << options.of<FsaiOptions>().power << ", drop "
              << options.of<PatternOptions>().drop);
    const std::vector<double> y = precond_on_ranks(size, a, options, x);
    CHECK(outside_product(y, x, {{one.factor(), false}, {one.factor(), true}}) == "");
    CHECK(same_bits(y, precond_on_ranks(size, a, options, x)));
  }
}

}  // namespace

TEST_CASE("FSAI on ranks has the factor of one", "[distributed]") {
  for (const std::string system : {"generate:diffusion:6", "generate:elasticity:4"}) {
    INFO(system);
    const HostCsr a = fem_matrix(system);
    for (const int power : {1, 2, 3}) check_against_one(a, fsai_of(power), {1, 2, 3, 5, 7});
    check_against_one(a, fsai_of(1, 0.2), {2, 5});
    check_against_one(a, fsai_of(2, 0.2), {3, 7});
  }
}

TEST_CASE("FSAI on ranks works with a row a rank, and with more ranks than rows", "[distributed]") {
  const HostCsr a = tridiagonal_matrix(7);
  for (const int power : {1, 2}) check_against_one(a, fsai_of(power), {6, 7, 8, 12});
}

TEST_CASE("FSAI on ranks shortens the rows that one shortens", "[distributed]") {
  check_against_one(dense_edge_matrix(1300), fsai_of(), {3});
}

TEST_CASE("New values of FSAI on ranks are those of a new one", "[distributed]") {
  const HostCsr a = fem_matrix("generate:elasticity:4");
  HostCsr changed = a;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      changed.val[k] *= a.col[k] == i ? 3 + i % 3 : 2;  // still definite
    }
  }
  const std::vector<double> x = random_vector<double>(a.rows);
  for (const int size : {1, 3, 5}) {
    const std::vector<double> values(changed.val.begin(), changed.val.end());
    CHECK(
        same_bits(precond_on_ranks(size, a, fsai_of(2), x, &values), precond_on_ranks(size, changed, fsai_of(2), x)));
  }
}

TEST_CASE("What FSAI refuses is refused on all ranks with the same words", "[distributed]") {
  HostCsr indefinite = tridiagonal_matrix(20), lopsided = tridiagonal_matrix(20);
  for (const Index row : {Index{9}, Index{17}}) {
    for (Offset k = indefinite.row_ptr[row]; k < indefinite.row_ptr[row + 1]; ++k) {
      if (indefinite.col[k] == row) indefinite.val[k] = 0.1;
    }
  }
  lopsided.val[static_cast<std::size_t>(lopsided.row_ptr[12])] = -0.75;  // row 12, column 11
  const Context<host> ctx(1);
  for (const HostCsr& a : {indefinite, lopsided}) {
    const auto there = upload_matrix<double>(ctx, a);
    const std::string words = message_of<InputError>(
        [&] { FsaiOperator<double, host>(ctx, there.wide(), RowOrder<host>{}, fsai_of(), SpmvOptions{"csr"}); });
    CHECK(words != "");
    for (const int size : {1, 2, 3, 5, 25}) {
      const auto thrown = on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
        const OwnRows own = share_of(a, ranks->rank(), size);
        SystemOptions options;
        options.precond = fsai_of();
        DistributedSystem<double> system(Context<host>(1), ranks, own.view(), options);
      });
      for (const std::string& what : thrown) CHECK(what.find(words) != std::string::npos);
    }
  }
}
