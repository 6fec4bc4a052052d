// SPDX-License-Identifier: Apache-2.0
// Patterns for approximate inverses: against sets built entry by entry, whatever the number of threads.
#include "tests/catch.hpp"

#include "precond/sparsity.hpp"

using detail::Sparsity;

namespace {

constexpr Space H = Space::host;
using Sets = std::vector<std::set<Index>>;

Sets sets_of(const HostCsr& a) {
  Sets sets(a.rows);
  for (Index i = 0; i < a.rows; ++i) sets[i].insert(a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1]);
  return sets;
}

// The rows as sets; the columns must ascend strictly and the row pointers begin at 0.
Sets sets_of(const Sparsity& p) {
  REQUIRE(p.row_ptr[0] == 0);
  REQUIRE(p.row_ptr[p.rows] == p.nnz());
  Sets sets(p.rows);
  for (Index i = 0; i < p.rows; ++i) {
    for (Offset k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) {
      REQUIRE((k == p.row_ptr[i] || p.col[k - 1] < p.col[k]));
      sets[i].insert(p.col[k]);
    }
  }
  return sets;
}

// (I + A)^power, one step of neighbours after the other.
Sets power_oracle(const HostCsr& a, int power) {
  const Sets step = sets_of(a);
  Sets reached(a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    reached[i] = {i};
    for (int k = 0; k < power; ++k) {
      std::set<Index> next = reached[i];
      for (const Index j : reached[i]) next.insert(step[j].begin(), step[j].end());
      reached[i] = next;
    }
  }
  return reached;
}

Sets lower_part(Sets sets) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    sets[i].erase(sets[i].upper_bound(static_cast<Index>(i)), sets[i].end());
  }
  return sets;
}

std::vector<NamedMatrix> square_matrices() {
  std::vector<NamedMatrix> all;
  for (const Index n : {0, 1, 2, 33}) all.push_back({"tridiagonal", tridiagonal_matrix(n)});
  all.push_back({"ragged, with empty rows and missing diagonals", ragged_matrix(2100, 2100)});
  all.push_back({"arrow", arrow_matrix(300)});
  all.push_back({"dense row", dense_row_matrix(300, 150)});
  all.push_back({"no entry", empty_matrix(40, 40)});
  all.push_back({"elasticity", fem_matrix("generate:elasticity:4")});
  return all;
}

// Calls f(context, view) with both widths of row pointers and several threads.
template <class F>
void for_contexts(const HostCsr& a, F&& f) {
  for (const int threads : {1, 3}) {
    const Context<H> ctx(threads);
    const auto there = upload_matrix<double>(ctx, a);
    f(ctx, there.wide());
    f(ctx, there.narrow());
  }
}

}  // namespace

TEST_CASE("The pattern of a power reaches as many steps, with the diagonal", "[precond][sparsity]") {
  for (const NamedMatrix& named : square_matrices()) {
    const HostCsr& a = named.matrix;
    INFO(named.name);
    for (const int power : {1, 2, 3}) {
      const Sets expected = power_oracle(a, power);
      for_contexts(a, [&](const auto& ctx, const auto& view) {
        CHECK(sets_of(detail::power_of(ctx, Pattern<H>(view), power)) == expected);
        CHECK(sets_of(detail::power_of(ctx, Pattern<H>(view), power, detail::Triangle::lower)) ==
              lower_part(expected));
      });
    }
  }
  const Context<H> ctx;
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(5));
  CHECK(contains(message_of<InputError>([&] { detail::power_of(ctx, Pattern<H>(there.wide()), 0); }), "at least 1"));
  const auto wide = upload_matrix<double>(ctx, ragged_matrix(5, 6));
  CHECK(contains(message_of<InputError>([&] { detail::power_of(ctx, Pattern<H>(wide.wide()), 1); }), "square"));
}

TEST_CASE("The lower part ends every row with its diagonal entry and knows where each entry stood",
          "[precond][sparsity]") {
  for (const NamedMatrix& named : square_matrices()) {
    const HostCsr& a = named.matrix;
    INFO(named.name);
    Sets expected = sets_of(a);
    for (Index i = 0; i < a.rows; ++i) expected[i].insert(i);
    expected = lower_part(expected);
    for_contexts(a, [&](const auto& ctx, const auto& view) {
      const detail::SourcedSparsity lower = detail::lower_of(ctx, Pattern<H>(view));
      const Sparsity& p = lower.pattern;
      REQUIRE(sets_of(p) == expected);
      REQUIRE(lower.source.size() == p.nnz());
      for (Index i = 0; i < a.rows; ++i) {
        for (Offset k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) {
          const Offset from = lower.source[k];
          if (from < 0) {
            REQUIRE(p.col[k] == i);
            REQUIRE(std::count(a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1], i) == 0);
          } else {
            REQUIRE((from >= a.row_ptr[i] && from < a.row_ptr[i + 1]));
            REQUIRE(a.col[from] == p.col[k]);
          }
        }
      }
    });
  }
}

TEST_CASE("A transposed pattern knows where each entry stood", "[precond][sparsity]") {
  std::vector<NamedMatrix> all = square_matrices();
  all.push_back({"wide", ragged_matrix(500, 3000)});
  all.push_back({"tall", ragged_matrix(3000, 70)});
  for (const NamedMatrix& named : all) {
    const HostCsr& a = named.matrix;
    INFO(named.name);
    Sets expected(a.cols);
    for (Index i = 0; i < a.rows; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) expected[a.col[k]].insert(i);
    }
    for_contexts(a, [&](const auto& ctx, const auto& view) {
      const detail::SourcedSparsity t = detail::transpose_of(ctx, Pattern<H>(view));
      REQUIRE(t.pattern.rows == a.cols);
      REQUIRE(t.pattern.cols == a.rows);
      REQUIRE(sets_of(t.pattern) == expected);
      for (Index j = 0; j < a.cols; ++j) {
        for (Offset k = t.pattern.row_ptr[j]; k < t.pattern.row_ptr[j + 1]; ++k) {
          const Index i = t.pattern.col[k];
          REQUIRE(a.col[t.source[k]] == j);
          REQUIRE((t.source[k] >= a.row_ptr[i] && t.source[k] < a.row_ptr[i + 1]));
        }
      }
    });
  }
}

TEST_CASE("A threshold drops what is small against both diagonal entries, and never the diagonal",
          "[precond][sparsity]") {
  //  |a_ij| / sqrt(|a_ii a_jj|):  (0,1): 2 / sqrt(4 * 9) = 1/3; (1,2): 0.3 / 3; (0,2): 0.1 / 2; (2,0): -1 / 2
  const HostCsr a = from_rows(4, {{{0, 4.0}, {1, 2.0}, {2, 0.1}},
                                  {{0, 2.0}, {1, -9.0}, {2, 0.3}},
                                  {{0, -1.0}, {2, 1.0}, {3, 1e-30}},
                                  {{1, 1e-30}, {2, 0.0}}});
  const auto kept = [&](double drop) {
    Sets sets;
    for_contexts(a, [&](const auto& ctx, const auto& view) {
      const Sets found = sets_of(detail::thresholded(ctx, view, drop));
      REQUIRE((sets.empty() || sets == found));
      sets = found;
    });
    return sets;
  };
  // Row 3 has no diagonal entry: nothing of it is small, but for a stored zero.
  CHECK(kept(0) == Sets{{0, 1, 2}, {0, 1, 2}, {0, 2, 3}, {1}});
  CHECK(kept(0.07) == Sets{{0, 1}, {0, 1, 2}, {0, 2, 3}, {1}});
  CHECK(kept(0.2) == Sets{{0, 1}, {0, 1}, {0, 2, 3}, {1}});
  CHECK(kept(0.4) == Sets{{0}, {1}, {0, 2, 3}, {1}});
  CHECK(kept(100) == Sets{{0}, {1}, {2, 3}, {1}});
}

TEST_CASE("A copied pattern is the pattern", "[precond][sparsity]") {
  const HostCsr a = ragged_matrix(700, 900);
  for_contexts(a, [&](const auto& ctx, const auto& view) {
    CHECK(sets_of(detail::copy_of(ctx, Pattern<H>(view))) == sets_of(a));
  });
}
