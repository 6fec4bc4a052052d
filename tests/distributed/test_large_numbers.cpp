// SPDX-License-Identifier: Apache-2.0
// Ranks of systems with more than 2^32 rows and entries: planted counts, and rows numbered from 2^33 on as if other
// ranks had those before.
#include "tests/catch.hpp"

#include <limits>

#include "distributed/precond/near_rows.hpp"
#include "distributed/precond/rank_traits.hpp"
#include "distributed/rows/distributed_operator.hpp"
#include "distributed/rows/halo.hpp"
#include "distributed/rows/rank_info.hpp"
#include "tests/distributed/rank_support.hpp"

using namespace newel;
using namespace newel::testing;

namespace {

constexpr std::int64_t far = std::int64_t{1} << 33;

// A rank's rows and the first rows of all, with numbers that are `shift` larger than those of a small system.
struct Shifted {
  OwnRows own;
  std::vector<std::int64_t> first_rows;
  Context<host> ctx;

  Shifted(const std::shared_ptr<Communicator>& ranks, const HostCsr& a, std::int64_t shift)
      : own(share_of(a, ranks->rank(), ranks->size())),
        first_rows(detail::first_rows(*ranks, own.rows())),
        ctx(Context<host>(1).with_ranks({ranks, own.first + shift, a.rows + shift})) {
    for (std::int64_t& row : first_rows) row += shift;
    for (std::int64_t& column : own.col) column += shift;
  }
};

std::vector<std::string> nothing(int size) { return std::vector<std::string>(static_cast<std::size_t>(size)); }

}  // namespace

TEST_CASE("Sizes and bytes of ranks add up beyond 32 bits", "[distributed]") {
  CHECK(on_ranks(3, [](const std::shared_ptr<Communicator>& ranks) {
          const Context<host> ctx = Context<host>(1).with_ranks({ranks, ranks->rank() * far, 3 * far});
          OperatorInfo own;
          own.nonzeros = far + ranks->rank();
          own.stored_slots = 2 * far + 1;
          own.bytes_per_product = 12 * static_cast<std::uint64_t>(far) + 5;
          own.bytes = {{"values", 8 * static_cast<std::uint64_t>(far) + 3}};
          const OperatorInfo all = detail::over_all_ranks(ctx, own);
          RANK_CHECK(all.nonzeros == 3 * far + 3);
          RANK_CHECK(all.stored_slots == 6 * far + 3);
          RANK_CHECK(all.bytes_per_product == 36 * static_cast<std::uint64_t>(far) + 15);
          RANK_CHECK(all.bytes[0].second == 24 * static_cast<std::uint64_t>(far) + 9);
          RANK_CHECK(all.rows == std::numeric_limits<Index>::max());  // more than it can say
        }) == nothing(3));
}

TEST_CASE("First rows of ranks go beyond 32 bits", "[distributed]") {
  CHECK(on_ranks(3, [](const std::shared_ptr<Communicator>& ranks) {
          const std::vector<std::int64_t> first = detail::first_rows(*ranks, far + ranks->rank());
          RANK_CHECK(first == std::vector<std::int64_t>{0, far, 2 * far + 1, 3 * far + 3});
        }) == nothing(3));
}

TEST_CASE("Products of rows with numbers beyond 32 bits have the bits of the same rows from 0 on", "[distributed]") {
  const HostCsr a = fem_matrix("generate:elasticity:5");
  const std::vector<double> x = random_vector<double>(a.rows, 4);
  for (const int size : {2, 3, 5}) {
    CHECK(on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
            std::vector<double> products[2];
            for (const std::int64_t shift : {std::int64_t{0}, far}) {
              const Shifted s(ranks, a, shift);
              const detail::DistributedOperator<double> A(s.ctx, s.own.view(), s.first_rows);
              const std::vector<double> own = s.own.part_of(x);
              std::vector<double> in_order(own.size()), y(own.size(), 0.0);
              for (Index i = 0; i < A.rows(); ++i) {
                const Index old = A.order().natural() ? i : A.order().old_of_new[i];
                in_order[static_cast<std::size_t>(i)] = own[static_cast<std::size_t>(old)];
              }
              A.apply(s.ctx, 1.0, in_order, 0.0, y);
              products[shift == 0 ? 0 : 1] = y;
            }
            RANK_CHECK(products[0] == products[1]);
          }) == nothing(size));
  }
}

TEST_CASE("Near rows with numbers beyond 32 bits are those of the same rows from 0 on", "[distributed]") {
  const HostCsr a = fem_matrix("generate:convection:6");
  CHECK(on_ranks(3, [&](const std::shared_ptr<Communicator>& ranks) {
          const Shifted small(ranks, a, 0), large(ranks, a, far);
          const detail::NearRows<double> near(small.ctx, small.first_rows, small.own.view(), 2);
          const detail::NearRows<double> there(large.ctx, large.first_rows, large.own.view(), 2);
          const auto one = near.view(), other = there.view();
          RANK_CHECK(one.rows == other.rows);
          for (Index i = 0; i < one.rows; ++i) RANK_CHECK(there.number(i) == near.number(i) + far);
          RANK_CHECK(std::equal(one.col.begin(), one.col.end(), other.col.begin(), other.col.end()));
          RANK_CHECK(std::equal(one.val.begin(), one.val.end(), other.val.begin(), other.val.end()));
          const MatrixTraits traits = detail::rank_traits(large.ctx, there);
          RANK_CHECK(traits.rows == std::numeric_limits<Index>::max());
          RANK_CHECK(traits.max_abs == detail::rank_traits(small.ctx, near).max_abs);
          RANK_CHECK(traits.pattern_symmetric);
        }) == nothing(3));
}

TEST_CASE("A wrong column of a row beyond 32 bits is named", "[distributed]") {
  const HostCsr a = fem_matrix("generate:diffusion:4");
  CHECK(on_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
          Shifted s(ranks, a, far);
          s.own.col.back() = far + a.rows;
          std::string message;
          try {
            detail::check_rank_rows(s.ctx, s.own.view().row_ptr, s.own.view().col, s.own.first + far, far + a.rows);
          } catch (const InputError& error) {
            message = error.what();
          }
          RANK_CHECK(message.find("column " + std::to_string(far + a.rows)) != std::string::npos);
          RANK_CHECK(message.find("row " + std::to_string(far + s.own.first + s.own.rows() - 1)) !=
                     std::string::npos);
        }) == nothing(2));
}
