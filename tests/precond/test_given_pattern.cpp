// SPDX-License-Identifier: Apache-2.0
// Patterns of the caller's own: SPAI and FSAI on them, in any order of the solver, and what is refused.
#include "tests/catch.hpp"
#include "tests/precond/fsai_support.hpp"
#include "tests/precond/spai_support.hpp"

#include <newel/solver/linear_system.hpp>

namespace {

using Entries = std::set<std::pair<Index, Index>>;

// As careless as a caller may be: rows backwards, an entry in every third row twice, no diagonal.
std::shared_ptr<const GivenPattern> given(Index n, const Entries& entries) {
  auto pattern = std::make_shared<GivenPattern>();
  pattern->rows = n;
  pattern->row_ptr.push_back(0);
  for (Index i = 0; i < n; ++i) {
    std::vector<Index> row;
    for (const auto& [r, c] : entries) {
      if (r == i && c != i) row.push_back(c);
    }
    if (i % 3 == 0 && !row.empty()) row.push_back(row.front());
    pattern->col.insert(pattern->col.end(), row.rbegin(), row.rend());
    pattern->row_ptr.push_back(static_cast<Offset>(pattern->col.size()));
  }
  return pattern;
}

Entries entries_of(const HostCsr& a, int power) {
  const Eigen::MatrixXi pattern = pattern_oracle(a, power);
  Entries entries;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = 0; j < a.cols; ++j) {
      if (pattern(i, j) != 0) entries.emplace(i, j);
    }
  }
  return entries;
}

// Some of A's places and some others, not symmetric.
Entries scattered(Index n) {
  Random random(71);
  Entries entries;
  for (Index i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) entries.emplace(i, random.index(n));
    entries.emplace(i, (i + 1) % n);
  }
  return entries;
}

PrecondOptions on_pattern(PrecondOptions options, std::shared_ptr<const GivenPattern> pattern) {
  options.of<SpaiOptions>().power = options.of<FsaiOptions>().power = 1;
  options.of<PatternOptions>().pattern = std::move(pattern);
  return options;
}

}  // namespace

TEST_BOTH("The pattern of a power of A given is that power, bit for bit", "[precond][pattern]") {
  const HostCsr any = ragged_matrix(70, 70), definite = fem_matrix("generate:elasticity:3");
  for (const int power : {1, 2}) {
    INFO("power " << power);
    const auto check = [&](const HostCsr& a, const PrecondOptions& options) {
      INFO(options.name);
      const auto there = upload_matrix<double>(ctx, a);
      const auto x = random_vector<double>(a.rows, 3);
      const auto by_power = spai<double>(ctx, there.wide(), options);
      const auto by_pattern =
          spai<double>(ctx, there.wide(), on_pattern(options, given(a.rows, entries_of(a, power))));
      CHECK(same_bits(applied(ctx, *by_pattern, x), applied(ctx, *by_power, x)));
      CHECK(by_pattern->info().nonzeros == by_power->info().nonzeros);
      CHECK(contains(by_pattern->info().detail, "pattern given"));
    };
    check(any, spai_options(PrecondSide::right, power));
    check(any, spai_options(PrecondSide::left, power));
    check(definite, spai_options(PrecondSide::right, power));
    check(definite, fsai_options(power));
  }
}

TEST_BOTH("SPAI on a pattern given has entries there, each column the best there is, in any order of the solver",
          "[precond][pattern]") {
  HostCsr a = made_definite(ragged_matrix(60, 60));  // no empty column
  for (Index i = 0; i < 60; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) a.val[k] *= a.col[k] < i ? -0.75 : 1.0;
  }
  const auto there = upload_matrix<double>(ctx, a);
  const Entries entries = scattered(60);
  Eigen::MatrixXi pattern = Eigen::MatrixXi::Identity(60, 60);
  for (const auto& [i, j] : entries) pattern(i, j) = 1;
  const auto options = on_pattern(spai_options(), given(60, entries));
  const EigenMatrix natural = eigen_of(ctx, *spai<double>(ctx, there.wide(), options));
  for (Index j = 0; j < 60; ++j) {
    const LocalOracle oracle = local_oracle(eigen_of(a), pattern, j);
    EigenVector column = EigenVector::Zero(60);
    for (std::size_t k = 0; k < oracle.columns.size(); ++k) column(oracle.columns[k]) = oracle.solution(k);
    INFO("column " << j);
    CHECK((natural.col(j) - column).norm() <= 1e-13L * oracle.condition * column.norm());
  }

  const std::vector<Index> old = random_order(60, 5);
  const RowOrder<S> order = make_row_order(ctx, old);
  const auto permuted = permute(ctx, there.wide(), order);
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
    PrecondOptions sided = options;
    sided.of<SpaiOptions>().side = side;
    const EigenMatrix here = eigen_of(ctx, *spai<double>(ctx, there.wide(), sided));
    const EigenMatrix moved = eigen_of(ctx, *spai<double>(ctx, permuted.view(), sided, order));
    for (Index i = 0; i < 60; ++i) {
      for (Index j = 0; j < 60; ++j) {
        INFO(i << ", " << j);
        CHECK(static_cast<double>(std::fabs(moved(i, j) - here(old[i], old[j]))) <=
              1e-10 * static_cast<double>(here.norm()));
        if (pattern(old[i], old[j]) == 0) CHECK(moved(i, j) == 0);
      }
    }
  }
}

TEST_BOTH("FSAI on a pattern given takes both of its triangles, below the diagonal in solver order",
          "[precond][pattern]") {
  const HostCsr a = made_definite(ragged_matrix(80, 80));
  const auto there = upload_matrix<double>(ctx, a);
  const Entries entries = scattered(80);
  for (const bool renumbered : {false, true}) {
    INFO((renumbered ? "renumbered" : "natural"));
    std::vector<Index> old = random_order(80, 6);
    if (!renumbered) std::sort(old.begin(), old.end());
    RowOrder<S> order;
    PermutedCsr<double, S> permuted;
    CsrView<double, S> view = there.wide();
    if (renumbered) {
      order = make_row_order(ctx, old);
      permuted = permute(ctx, view, order);
      view = permuted.view();
    }
    const FsaiOperator<double, S> m(ctx, view, order, on_pattern(fsai_options(), given(80, entries)), SpmvOptions{});
    const HostCsr g = factor_of(ctx, m);
    MapRows moved(80);
    std::vector<Index> place(80);
    for (Index i = 0; i < 80; ++i) place[old[i]] = i;
    for (Index i = 0; i < 80; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) moved[place[i]][place[a.col[k]]] = a.val[k];
    }
    const FactorOracle oracle = factor_oracle(from_rows(80, moved), g);
    for (Index i = 0; i < 80; ++i) {
      std::vector<Index> expected;
      for (Index j = 0; j <= i; ++j) {
        const bool in = entries.count({old[i], old[j]}) > 0 || entries.count({old[j], old[i]}) > 0;
        if (i == j || in) expected.push_back(j);
      }
      INFO("row " << i);
      REQUIRE(std::vector<Index>(g.col.begin() + g.row_ptr[i], g.col.begin() + g.row_ptr[i + 1]) == expected);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        CHECK(std::fabs(g.val[g.row_ptr[i] + k] - oracle.row[i][k]) <=
              3e-14L * oracle.condition[i] * std::fabs(oracle.row[i].back()));
      }
    }
  }
}

TEST_BOTH("A pattern of nothing leaves the diagonal", "[precond][pattern]") {
  const HostCsr a = fem_matrix("generate:diffusion:4");
  const auto there = upload_matrix<double>(ctx, a);
  const auto x = random_vector<double>(a.rows, 4);
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
    const auto m = spai<double>(ctx, there.wide(), on_pattern(spai_options(side), given(a.rows, {})));
    const auto diagonal = spai<double>(ctx, there.wide(), spai_options(side, 1, "spai0"));
    CHECK(same_bits(applied(ctx, *m, x), applied(ctx, *diagonal, x)));
  }
  const auto fsai = spai<double>(ctx, there.wide(), on_pattern(fsai_options(), given(a.rows, {})));
  const auto jacobi = spai<double>(ctx, there.wide(), spai_options(PrecondSide::right, 1, "jacobi"));
  const auto found = applied(ctx, *fsai, x), expected = applied(ctx, *jacobi, x);
  for (Index i = 0; i < a.rows; ++i) CHECK(std::fabs(found[i] - expected[i]) <= 1e-15 * std::fabs(expected[i]));
}

TEST_BOTH("A preconditioner on a pattern given is refreshed as it is rebuilt, through an order",
          "[precond][pattern]") {
  const HostCsr a = made_definite(ragged_matrix(80, 80));
  HostCsr b = a;
  for (double& value : b.val) value *= 0.75;
  const auto at_a = upload_matrix<double>(ctx, a), at_b = upload_matrix<double>(ctx, b);
  const RowOrder<S> order = make_row_order(ctx, random_order(80, 7));
  const auto permuted_a = permute(ctx, at_a.wide(), order), permuted_b = permute(ctx, at_b.wide(), order);
  const auto x = random_vector<double>(80, 5);
  for (const PrecondOptions& plain : {spai_options(), fsai_options()}) {
    INFO(plain.name);
    const PrecondOptions options = on_pattern(plain, given(80, scattered(80)));
    const auto refreshed = spai<double>(ctx, permuted_a.view(), options, order);
    refreshed->refresh(ctx, at_b.matrix.val.cspan());
    const auto rebuilt = spai<double>(ctx, permuted_b.view(), options, order);
    CHECK(same_bits(applied(ctx, *refreshed, x), applied(ctx, *rebuilt, x)));
  }
}

TEST_BOTH("A system that its format renumbers takes a pattern in the caller's numbering", "[precond][pattern]") {
  const HostCsr a = fem_matrix("generate:diffusion:6");
  const auto there = upload_matrix<double>(ctx, a);
  const auto pattern = given(a.rows, scattered(a.rows));
  const auto by_power = given(a.rows, entries_of(a, 1));
  const auto system = [&](const std::string& format, std::shared_ptr<const GivenPattern> on) {
    SystemOptions options;
    options.spmv.format = format;
    options.spmv.parts = 4;
    options.solver.name = "bicgstab";
    options.precond.name = "spai";
    options.precond.of<PatternOptions>().pattern = std::move(on);
    return LinearSystem<double, S>(ctx, there.wide(), options);
  };
  REQUIRE(system("ehyb", pattern).info().reordered);
  CHECK(inverse_residual(system("ehyb", by_power)).norm == inverse_residual(system("ehyb", nullptr)).norm);
  CHECK(inverse_residual(system("ehyb", pattern)).norm ==
        Approx(inverse_residual(system("csr", pattern)).norm).epsilon(1e-10));
}

TEST_BOTH("A pattern of another size, with bad numbers, or together with powers and drop is refused",
          "[precond][pattern]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(5));
  const auto refused = [&](const PrecondOptions& options) {
    return message_of<InputError>([&] { spai<double>(ctx, there.wide(), options); });
  };
  const GivenPattern good = *given(5, {{0, 1}, {2, 4}, {3, 1}});
  for (const PrecondOptions& plain : {spai_options(), fsai_options()}) {
    INFO(plain.name);
    const auto with = [&](auto&& change) {
      auto pattern = std::make_shared<GivenPattern>(good);
      change(*pattern);
      return refused(on_pattern(plain, pattern));
    };
    CHECK(with([](GivenPattern&) {}) == "");
    CHECK(contains(with([](GivenPattern& p) { p.rows = 4; }), "4 rows, the matrix 5"));
    CHECK(contains(with([](GivenPattern& p) { p.row_ptr.pop_back(); }), "5 row pointers"));
    CHECK(contains(with([](GivenPattern& p) { p.col.pop_back(); }), "end at the number of entries"));
    CHECK(contains(with([](GivenPattern& p) { p.row_ptr[2] = 9; }), "row 2 decrease"));
    CHECK(contains(with([](GivenPattern& p) { p.col[1] = 5; }), "column 5"));
    CHECK(contains(with([](GivenPattern& p) { p.col[1] = -1; }), "column -1"));
    PrecondOptions options = on_pattern(plain, given(5, {}));
    options.of<PatternOptions>().drop = 0.1;
    CHECK(contains(refused(options), "combined with power, drop"));
    options.of<PatternOptions>().drop = 0;
    (plain.name == "spai" ? options.of<SpaiOptions>().power : options.of<FsaiOptions>().power) = 2;
    CHECK(contains(refused(options), "combined with power"));
    if (plain.name != "spai") continue;
    options.of<SpaiOptions>() = {};
    options.of<SpaiOptions>().adaptive = 0.1;
    CHECK(contains(refused(options), "adaptive"));
  }
}
