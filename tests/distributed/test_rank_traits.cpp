// SPDX-License-Identifier: Apache-2.0
// Facts, near rows and transposes of a matrix on ranks, beside those of the whole.
#include "tests/catch.hpp"

#include <algorithm>

#include "distributed/rows/halo.hpp"
#include "distributed/precond/rank_sparsity.hpp"
#include "distributed/precond/rank_traits.hpp"
#include "distributed/precond/rank_transpose.hpp"
#include "tests/distributed/rank_support.hpp"

using namespace newel;
using namespace newel::testing;
using detail::NearRows;
using detail::RankTranspose;

namespace {

// f(context, rows of this rank, first rows of all).
template <class F>
std::vector<std::string> with_shares(int size, const HostCsr& a, F&& f) {
  return on_ranks(size, [&](const std::shared_ptr<Communicator>& ranks) {
    const OwnRows own = share_of(a, ranks->rank(), size);
    const std::vector<std::int64_t> first = detail::first_rows(*ranks, own.rows());
    f(Context<host>(1).with_ranks({ranks, own.first, a.rows}), own, first);
  });
}

std::vector<std::string> nothing(int size) { return std::vector<std::string>(static_cast<std::size_t>(size)); }

}  // namespace

TEST_CASE("Facts of a matrix on ranks are those of the whole", "[distributed]") {
  std::vector<NamedMatrix> matrices = awkward_square_matrices();
  matrices.push_back({"diffusion", fem_matrix("generate:diffusion:6")});
  matrices.push_back({"convection", fem_matrix("generate:convection:6")});
  for (const NamedMatrix& named : matrices) {
    const Context<host> alone(1);
    const auto there = upload_matrix<double>(alone, named.matrix);
    const MatrixTraits whole = matrix_traits(alone, there.wide());
    for (const int size : {1, 2, 3, 5, 7}) {
      INFO(named.name << " on " << size << " ranks");
      CHECK(with_shares(size, named.matrix, [&](const Context<host>& ctx, const OwnRows& own, const auto& first) {
              const MatrixTraits found = detail::rank_traits(ctx, NearRows<double>(ctx, first, own.view(), 1));
              rank_check_traits(found, whole);
            }) == nothing(size));
    }
  }
}

TEST_CASE("Near rows are whole rows of the matrix, as far as a rank reaches", "[distributed]") {
  const HostCsr a = tridiagonal_matrix(20);
  CHECK(with_shares(4, a, [&](const Context<host>& ctx, const OwnRows& own, const auto& first) {
          for (const int reach : {0, 1, 3, 30}) {
            const NearRows<double> near(ctx, first, own.view(), reach);
            const CsrView<double, host> view = near.view();
            RANK_CHECK(near.own_rows() == own.rows());
            for (Index i = 0; i < view.rows; ++i) {
              const auto row = static_cast<Index>(near.number(i));
              RANK_CHECK(near.row_of(row) == i);
              const bool reached = own.rows() > 0 && row >= own.first - reach && row < own.first + own.rows() + reach;
              const Offset length = a.row_ptr[row + 1] - a.row_ptr[row];
              RANK_CHECK(view.row_begin(i + 1) - view.row_begin(i) == (reached ? length : 0));
              for (Offset k = 0; reached && k < length; ++k) {
                RANK_CHECK(near.number(view.col[view.row_begin(i) + k]) == a.col[a.row_ptr[row] + k]);
                RANK_CHECK(view.val[view.row_begin(i) + k] == a.val[a.row_ptr[row] + k]);
              }
            }
          }
        }) == nothing(4));
}

TEST_CASE("Ranks shorten the rows that one shortens, by the mean of all", "[distributed]") {
  // Long rows have equal entries: few of them on the left, where they are far apart, and others on the right after a
  // gap. A part of the matrix lacks most columns in between, so that its own distances are others.
  Rows rows(80);
  for (Index i = 0; i < 80; ++i) {
    rows[i][i] = 4;
    if (i % 10 != 0) continue;
    for (Index j = 0; j < i; j += 5) rows[i][j] = 1;
    for (Index j = i + 20; j < std::min<Index>(80, i + 35); ++j) rows[i][j] = 1;
  }
  const HostCsr a = from_rows(80, rows);
  const Context<host> alone(1);
  const auto there = upload_matrix<double>(alone, a);
  const auto worth_in = [](const CsrView<double, host>& view) {
    return [view](Index i, Index j) {
      const Index* const at =
          std::lower_bound(view.col.data + view.row_begin(i), view.col.data + view.row_begin(i + 1), j);
      return view.val[at - view.col.data];
    };
  };
  const Offset most = detail::most_of_row(1, static_cast<double>(a.nnz()) / 80, 80);
  Index shortened = 0;
  const detail::Sparsity whole = detail::without_long_rows(alone, detail::copy_of(alone, there.wide()), most,
                                                           worth_in(there.wide()), &shortened);
  CHECK(shortened > 4);
  for (const int size : {1, 2, 3, 5}) {
    CHECK(with_shares(size, a, [&](const Context<host>& ctx, const OwnRows& own, const auto& first) {
            const NearRows<double> near(ctx, first, own.view(), 1);
            const detail::Sparsity found = detail::without_long_rows_on_ranks(
                ctx, near,
                detail::only_own(ctx, near, detail::copy_of(ctx, near.view()), detail::OtherRows::diagonal), 1,
                worth_in(near.view()));
            const detail::RankPattern mine = detail::in_whole(near, found.row_ptr.cspan(), found.col.cspan());
            for (Index i = 0; i < own.rows(); ++i) {
              const Index row = own.first + i;
              RANK_CHECK(mine.row_ptr[static_cast<std::size_t>(i) + 1] - mine.row_ptr[static_cast<std::size_t>(i)] ==
                         whole.row_length(row));
              for (Offset k = 0; k < whole.row_length(row); ++k) {
                const auto at = static_cast<std::size_t>(mine.row_ptr[static_cast<std::size_t>(i)] + k);
                RANK_CHECK(mine.col[at] == whole.col[whole.row_ptr[row] + k]);
              }
            }
          }) == nothing(size));
  }
}

TEST_CASE("A transpose on ranks has each entry in its place", "[distributed]") {
  for (const NamedMatrix& named : awkward_square_matrices()) {
    const HostCsr& a = named.matrix;
    for (const int size : {1, 2, 3, 7}) {
      INFO(named.name << " on " << size << " ranks");
      CHECK(with_shares(size, a, [&](const Context<host>& ctx, const OwnRows& own, const auto& first) {
              const RankRows<double> rows = own.view();
              RankTranspose<double> transpose(ctx, first, rows.row_ptr, rows.col);
              std::vector<double> values(static_cast<std::size_t>(transpose.entries()));
              transpose.values(rows.val, Span<double, host>(values));
              const detail::RankPattern pattern = transpose.take_pattern();
              RANK_CHECK(pattern.rows() == own.rows());
              std::vector<std::vector<std::pair<std::int64_t, double>>> expected(
                  static_cast<std::size_t>(own.rows()));
              for (Index i = 0; i < a.rows; ++i) {
                for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
                  const Index j = a.col[k] - own.first;
                  if (j >= 0 && j < own.rows()) expected[static_cast<std::size_t>(j)].emplace_back(i, a.val[k]);
                }
              }
              for (std::size_t j = 0; j < expected.size(); ++j) {
                std::vector<std::pair<std::int64_t, double>> found;
                for (Offset k = pattern.row_ptr[j]; k < pattern.row_ptr[j + 1]; ++k) {
                  found.emplace_back(pattern.col[static_cast<std::size_t>(k)], values[static_cast<std::size_t>(k)]);
                }
                RANK_CHECK(found == expected[j]);
              }
            }) == nothing(size));
    }
  }
}
