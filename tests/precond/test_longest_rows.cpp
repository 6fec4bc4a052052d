// SPDX-License-Identifier: Apache-2.0
// Long rows of patterns: which entries stay, and what a dense row or block costs SPAI and FSAI.
#include "tests/catch.hpp"
#include "tests/precond/applied.hpp"
#include "tests/precond/spai_support.hpp"

#include <newel/precond/fsai/fsai_options.hpp>
#include "precond/longest_rows.hpp"

namespace {

// A chain of n unknowns, the last `dense` of which are all joined to each other, or to all where there is one.
HostCsr chain_with_block(Index n, Index dense) {
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    rows[i][i] = 4;
    if (i > 0) rows[i][i - 1] = rows[i - 1][i] = -1;
  }
  for (Index i = n - dense; i < n; ++i) {
    for (Index j = dense == 1 ? 0 : n - dense; j < n; ++j) {
      if (i == j) continue;
      rows[i][j] = rows[j][i] = (1 + (i + j) % 7) / 8.0 / (dense == 1 ? n : dense);
    }
  }
  return from_rows(n, rows);
}

PrecondOptions named(const std::string& name) {
  PrecondOptions options;
  options.name = name;
  return options;
}

}  // namespace

TEST_CASE("Long rows keep the diagonal, then what is worth most, then what is nearest", "[precond][pattern]") {
  const Context<Space::host> ctx(1);
  // Row 2 has all of 0 .. 9, the others their diagonal.
  MapRows rows(10);
  for (Index i = 0; i < 10; ++i) rows[i][i] = rows[2][i] = 1;
  const auto there = upload_matrix<double>(ctx, from_rows(10, rows));
  detail::Sparsity pattern = detail::copy_of(ctx, there.wide());
  const auto worth = [](Index, Index j) { return j == 9 ? 5.0 : j == 2 ? 0.0 : j == 7 ? std::nan("") : 1.0; };
  Index shortened = 0;
  const detail::Sparsity cut = detail::without_long_rows(ctx, std::move(pattern), 5, worth, &shortened);
  CHECK(shortened == 1);
  const std::vector<Index> kept(cut.col.begin() + cut.row_ptr[2], cut.col.begin() + cut.row_ptr[3]);
  CHECK(kept == std::vector<Index>{0, 1, 2, 3, 9});
  for (const Index i : {0, 1, 3, 9}) CHECK(cut.row_length(i) == 1);
}

TEST_CASE("A row may be four times as long as the mean, but no large part of the matrix", "[precond][pattern]") {
  CHECK(detail::most_of_row(64, 81, 100000) == 324);
  CHECK(detail::most_of_row(64, 5, 100000) == 64);
  CHECK(detail::most_of_row(64, 450, 600) == 75);
  CHECK(detail::most_of_row(256, 300, 600) == 256);
}

TEST_BOTH("A dense row costs SPAI and FSAI a bounded multiple of other rows", "[precond][pattern]") {
  const Index n = 1500;
  for (const Index dense : {1}) {
    INFO(dense);
    const HostCsr a = chain_with_block(n, dense);
    const auto there = upload_matrix<double>(ctx, a);
    const double mean = static_cast<double>(a.nnz()) / n;
    const auto spai = make_precond<double, S>(ctx, there.wide(), {}, named("spai"), SpmvOptions{});
    CHECK(figure(spai->info(), "most local columns") <= std::max(1024.0, 4 * mean));
    CHECK(figure(spai->info(), "most local columns") <= std::max(1024.0, n / 8.0));
    CHECK(figure(spai->info(), "limited problems") >= dense);
    const auto fsai = make_precond<double, S>(ctx, there.wide(), {}, named("fsai"), SpmvOptions{});
    CHECK(figure(fsai->info(), "largest local problem") <= 1024);
    // They still are approximate inverses.
    const auto x = random_vector<double>(n);
    const auto ax = product_oracle(a, x);
    for (const MatrixOperator<double, S>* m : {spai.get(), fsai.get()}) {
      const std::vector<double> back = applied(ctx, *m, ax);
      double error = 0, norm = 0;
      for (Index i = 0; i < n; ++i) error += (back[i] - x[i]) * (back[i] - x[i]), norm += x[i] * x[i];
      CHECK(error < 0.25 * norm);
    }
  }
}
