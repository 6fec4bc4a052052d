// SPDX-License-Identifier: Apache-2.0
// FSAI: G against its definition at every size of local problem, applied through every format, refreshed, refused.
#include "tests/catch.hpp"
#include "tests/precond/fsai_support.hpp"
#include "tests/spmv/spmv_support.hpp"

#include <map>
#include <set>

#include <purlin/core/error.hpp>
#include <purlin/precond/fsai/fsai_pattern.hpp>
#include <purlin/precond/sparsity.hpp>

using namespace purlin;
using namespace purlin::testing;

namespace {

PrecondOptions fsai_options(int power = 1, double drop = 0, const std::string& format = "") {
  PrecondOptions options;
  options.name = "fsai";
  options.fsai_power = power;
  options.drop = drop;
  options.format = format;
  return options;
}

template <class T, Space S>
FsaiOperator<T, S> fsai(const Context<S>& ctx, const CsrView<T, S>& a, const PrecondOptions& options = fsai_options(),
                        const RowOrder<S>& order = {}) {
  return FsaiOperator<T, S>(ctx, a, order, options, SpmvOptions{});
}

template <class T, Space S>
HostCsr factor_of(const Context<S>& ctx, const FsaiOperator<T, S>& m) {
  const CsrView<T, S> view = m.factor();
  HostCsr g;
  g.rows = g.cols = view.rows;
  g.row_ptr = to_vector(ctx, view.row_ptr64);
  g.col = to_vector(ctx, view.col);
  const std::vector<T> values = to_vector(ctx, view.val);
  g.val.assign(values.begin(), values.end());
  return g;
}

template <class T, Space S>
std::vector<T> applied(const Context<S>& ctx, const LinearOperator<T, S>& m, const std::vector<T>& x) {
  const auto at_x = upload(ctx, x);
  auto y = poisoned<T>(ctx, m.rows());
  m.apply(ctx, T(1), at_x.cspan(), T(0), y.span());
  return download(ctx, y);
}

// Each entry within 100 eps cond of the definition's, against the largest of its row.
template <class T>
void check_definition(const HostCsr& a, const HostCsr& g) {
  const FactorOracle oracle = factor_oracle(a, g);
  const long double eps = std::numeric_limits<T>::epsilon(), local = std::numeric_limits<double>::epsilon();
  for (Index i = 0; i < g.rows; ++i) {
    long double largest = 0;
    for (const long double value : oracle.row[i]) largest = std::max(largest, std::fabs(value));
    for (Offset k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
      const long double expected = oracle.row[i][k - g.row_ptr[i]];
      INFO("row " << i << ", entry " << k - g.row_ptr[i]);
      REQUIRE(std::fabs(g.val[k] - expected) <=
              eps * std::fabs(expected) + 100 * local * oracle.condition[i] * largest);
    }
  }
}

// (G A)_ij = 0 for i != j in G's pattern and (G A G^T)_ii = 1, up to what rounding a Cholesky solve of m unknowns in
// double, and G to T, leaves: each entry of the residual is within (4 m eps_double + eps) |A(J, J)| |g|.
template <class T>
void check_equations(const HostCsr& a, const HostCsr& g) {
  const long double eps = std::numeric_limits<T>::epsilon(), local = std::numeric_limits<double>::epsilon();
  for (Index i = 0; i < g.rows; ++i) {
    std::map<Index, long double> row;
    long double g_norm = 0, a_norm = 0;
    for (Offset k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
      row[g.col[k]] = g.val[k];
      g_norm += static_cast<long double>(g.val[k]) * g.val[k];
    }
    std::map<Index, long double> product;
    for (const auto& [j, value] : row) {
      for (Offset k = a.row_ptr[j]; k < a.row_ptr[j + 1]; ++k) {
        if (row.count(a.col[k]) == 0) continue;
        product[a.col[k]] += value * a.val[k];
        a_norm += static_cast<long double>(a.val[k]) * a.val[k];
      }
    }
    const long double bound = (4 * row.size() * local + eps) * std::sqrt(a_norm * g_norm);
    long double diagonal = 0;
    for (const auto& [j, value] : product) {
      diagonal += value * row[j];
      INFO("row " << i << ", column " << j);
      if (j != i) REQUIRE(std::fabs(value) <= bound);
    }
    INFO("row " << i);
    REQUIRE(std::fabs(diagonal - 1) <= bound * std::sqrt(g_norm) + 4 * eps);
  }
}

std::vector<NamedMatrix> small_definite_matrices() {
  std::vector<NamedMatrix> all;
  for (const Index n : {1, 2, 31, 32, 33}) all.push_back({"tridiagonal", tridiagonal_matrix(n)});
  all.push_back({"diagonal", diagonal_matrix(70)});
  all.push_back({"random", made_definite(ragged_matrix(90, 90))});
  all.push_back({"full", full_definite_matrix(40)});
  all.push_back({"elasticity", fem_matrix("generate:elasticity:2")});
  all.push_back({"diffusion", fem_matrix("generate:diffusion:4")});
  return all;
}

HostCsr changed(const HostCsr& a) {
  HostCsr b = a;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) b.val[k] = a.val[k] * 0.75 + (a.col[k] == i ? 0.5 : 0.0);
  }
  return b;
}

}  // namespace

TEST_BOTH("FSAI's factor is the one of the definition, for every power and in both precisions", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  for (const auto& [name, a] : small_definite_matrices()) {
    const auto there = upload_matrix<double>(ctx, a);
    const auto single = upload_matrix<float>(ctx, a);
    for (const int power : {1, 2, 3}) {
      INFO(name << ", " << a.rows << " rows, power " << power);
      const HostCsr g = factor_of(ctx, fsai(ctx, there.narrow(), fsai_options(power)));
      check_definition<double>(a, g);
      check_equations<double>(a, g);
      if (power > 2) continue;
      HostCsr rounded = a;
      for (double& value : rounded.val) value = static_cast<float>(value);
      check_definition<float>(rounded, factor_of(ctx, fsai(ctx, single.wide(), fsai_options(power))));
    }
  }
}

TEST_BOTH("FSAI's factor has the pattern of the lower triangle of a power, and its diagonal grows with it",
          "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const Context<Space::host> host;
  const HostCsr a = fem_matrix("generate:elasticity:3");
  const auto there = upload_matrix<double>(ctx, a);
  const auto on_host = upload_matrix<double>(host, a);
  std::vector<double> last(a.rows, 0.0);
  for (const int power : {1, 2, 3}) {
    const HostCsr g = factor_of(ctx, fsai(ctx, there.wide(), fsai_options(power)));
    const auto pattern = detail::power_of(host, Pattern<Space::host>(on_host.wide()), power, detail::Triangle::lower);
    CHECK(g.row_ptr == to_vector(host, pattern.row_ptr.cspan()));
    CHECK(g.col == to_vector(host, pattern.col.cspan()));
    // g_ii^2 = (A(J, J)^-1)_ii never shrinks when J grows.
    for (Index i = 0; i < a.rows; ++i) {
      const double diagonal = g.val[g.row_ptr[i + 1] - 1];
      CHECK(diagonal >= last[i] * (1 - 1e-12));
      last[i] = diagonal;
    }
  }
}

TEST_BOTH("FSAI solves local problems of every size class", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  for (const Index n : {31, 32, 33, 63, 64, 65, 127, 128, 129}) {
    INFO(n);
    const HostCsr a = bordered_matrix(n, 2);
    const auto there = upload_matrix<double>(ctx, a);
    const HostCsr g = factor_of(ctx, fsai(ctx, there.wide()));
    REQUIRE(g.row_length(n - 1) == n);
    check_equations<double>(a, g);
  }
}

TEST_BOTH("FSAI solves local problems at the end of shared memory and beyond", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const std::vector<Index> limits = detail::fsai_limits(machine_of(ctx));
  const Index last = limits.empty() ? 238 : limits.back();
  CHECK(last < 1000);
  for (const Index n : {last, last + 1, Index{240}, Index{1000}}) {
    INFO(n);
    const HostCsr a = bordered_matrix(n, 1);
    const auto there = upload_matrix<double>(ctx, a);
    check_equations<double>(a, factor_of(ctx, fsai(ctx, there.wide())));
  }
  // More rows than there is scratch for at a time take turns.
  const HostCsr a = bordered_matrix(last + 9, 9);
  const auto there = upload_matrix<float>(ctx, a);
  check_equations<float>(a, factor_of(ctx, fsai(ctx, there.wide())));
}

TEST_BOTH("Classes of local problems cover every row once, by size", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const Context<Space::host> host;
  const HostCsr a = bordered_matrix(300, 40);
  const auto there = upload_matrix<double>(host, a);
  const auto pattern = detail::make_fsai_pattern(host, Pattern<Space::host>(there.wide()), nullptr, 1);
  const std::vector<Index> limits = detail::fsai_limits(machine_of(ctx));
  const auto classes = detail::make_fsai_classes(host, pattern.g(), limits, pattern.longest);
  REQUIRE(classes.classes.size() == limits.size() + 1);
  std::vector<int> seen(300, 0);
  Index next = 0, smaller = 0;
  for (const auto& c : classes.classes) {
    CHECK(c.begin == next);
    next = c.end;
    for (Index n = c.begin; n < c.end; ++n) {
      const Index row = classes.row_list[n];
      ++seen[row];
      CHECK(pattern.g().row_length(row) <= c.largest);
      CHECK(pattern.g().row_length(row) > smaller);
    }
    smaller = c.largest;
  }
  CHECK(next == 300);
  CHECK(seen == std::vector<int>(300, 1));
}

TEST_BOTH("FSAI on the pattern of a full matrix is its inverse", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const HostCsr a = full_definite_matrix(45);
  const auto there = upload_matrix<double>(ctx, a);
  const auto m = fsai(ctx, there.wide());
  const auto x = random_vector<double>(a.rows, 3);
  const std::vector<double> found = applied(ctx, m, product_oracle(a, x));
  const Dense d = dense_of(a);
  const long double condition = frobenius(d) * frobenius(inverse_of(d));
  for (Index i = 0; i < a.rows; ++i) {
    CHECK(std::fabs(found[i] - x[i]) <= 100 * 2.3e-16L * condition * norm_oracle(x));
  }
}

TEST_BOTH("FSAI is applied as two products through every format, in the order of that format", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const HostCsr a = fem_matrix("generate:elasticity:5");
  const auto there = upload_matrix<double>(ctx, a);
  const auto x = random_vector<double>(a.rows, 4), y0 = random_vector<double>(a.rows, 5);
  for (const std::string& format : format_names<double, S>()) {
    INFO(format);
    SpmvOptions spmv;
    spmv.format = format;
    const RowOrder<S> order = plan_order<double>(ctx, Pattern<S>(there.wide()), spmv);
    PermutedCsr<double, S> permuted;
    CsrView<double, S> view = there.wide();
    if (!order.natural()) {
      permuted = permute(ctx, view, order);
      view = permuted.view();
    }
    const FsaiOperator<double, S> m(ctx, view, order, fsai_options(), spmv);
    const HostCsr g = factor_of(ctx, m);
    const Expected once = expected_fsai(g, x);
    CHECK(first_outside(applied(ctx, m, x), once) == "");

    const auto at_x = upload(ctx, x);
    auto y = upload(ctx, y0);
    m.apply(ctx, -1.5, at_x.cspan(), 0.75, y.span());
    Expected scaled = once;
    for (std::size_t i = 0; i < y0.size(); ++i) {
      scaled.value[i] = -1.5L * once.value[i] + 0.75L * y0[i];
      scaled.bound[i] = 1.5L * once.bound[i] + 4e-16L * (1.5L * std::fabs(once.value[i]) + std::fabs(y0[i]));
    }
    CHECK(first_outside(download(ctx, y), scaled) == "");

    auto z = poisoned<double>(ctx, a.rows);
    auto xz = poisoned<double>(ctx, 1);
    m.apply_dot(ctx, at_x.cspan(), z.span(), xz.data());
    CHECK(first_outside(download(ctx, z), once) == "");
    long double exact = 0, bound = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      exact += x[i] * once.value[i];
      bound += std::fabs(x[i]) * (once.bound[i] + x.size() * 2.3e-16L * std::fabs(once.value[i]));
    }
    CHECK(std::fabs(fetch(ctx, xz.cspan().data) - exact) <= bound);
    CHECK(m.info().detail.find("G as ") == 0);
  }
}

TEST_BOTH("FSAI takes the format that it is told, else that of the matrix", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(50));
  SpmvOptions spmv;
  spmv.format = "bce";
  const auto detail_of = [&](const std::string& format) {
    return make_precond<double, S>(ctx, there.wide(), {}, fsai_options(1, 0, format), spmv)->info().detail;
  };
  CHECK(contains(detail_of(""), "bce"));
  CHECK(contains(detail_of("evchyb"), "evchyb"));
  CHECK(contains(message_of<InputError>([&] { detail_of("abc"); }), "abc"));
}

TEST_BOTH("FSAI refreshed is FSAI rebuilt, bit for bit, through any order, and allocates nothing",
          "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const HostCsr a = fem_matrix("generate:elasticity:4"), b = changed(a);
  const auto at_a = upload_matrix<double>(ctx, a), at_b = upload_matrix<double>(ctx, b);
  const auto x = random_vector<double>(a.rows, 6);
  for (const int power : {1, 2}) {
    for (const bool renumbered : {false, true}) {
      INFO("power " << power << (renumbered ? ", renumbered" : ""));
      RowOrder<S> order;
      PermutedCsr<double, S> permuted_a, permuted_b;
      CsrView<double, S> view_a = at_a.narrow(), view_b = at_b.wide();
      if (renumbered) {
        order = make_row_order(ctx, random_order(a.rows, 8));
        permuted_a = permute(ctx, view_a, order);
        permuted_b = permute(ctx, view_b, order);
        view_a = permuted_a.view();
        view_b = permuted_b.view();
      }
      auto refreshed = fsai(ctx, view_a, fsai_options(power, 0, "bce"), order);
      const auto of_a = applied(ctx, refreshed, x);
      const std::uint64_t allocations = ctx.memory()->use().allocations;
      refreshed.refresh(ctx, at_b.matrix.val.cspan());
      CHECK(ctx.memory()->use().allocations == allocations);
      const auto rebuilt = fsai(ctx, view_b, fsai_options(power, 0, "bce"), order);
      CHECK(same_bits(download(ctx, make_array(ctx, refreshed.factor().val)),
                      download(ctx, make_array(ctx, rebuilt.factor().val))));
      CHECK(same_bits(applied(ctx, refreshed, x), applied(ctx, rebuilt, x)));
      CHECK_FALSE(same_bits(applied(ctx, refreshed, x), of_a));
    }
  }
}

#if PURLIN_HAS_CUDA
TEST_CASE("FSAI's factor on the device is that of the host, to rounding", "[precond][fsai][device]") {
  const Context<Space::host> host;
  const Context<Space::device> device;
  for (const HostCsr& a : {fem_matrix("generate:elasticity:4"), bordered_matrix(150, 3)}) {
    const auto here = upload_matrix<double>(host, a);
    const auto there = upload_matrix<double>(device, a);
    const HostCsr g = factor_of(host, fsai(host, here.wide())), d = factor_of(device, fsai(device, there.wide()));
    REQUIRE(g.col == d.col);
    for (Index i = 0; i < a.rows; ++i) {
      const double diagonal = g.val[g.row_ptr[i + 1] - 1];
      for (Offset k = g.row_ptr[i]; k < g.row_ptr[i + 1]; ++k) {
        REQUIRE(std::fabs(g.val[k] - d.val[k]) <= 1e-12 * diagonal);
      }
    }
  }
}
#endif

TEST_BOTH("A threshold thins FSAI's factor out, and its equations still hold on what is left", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const HostCsr a = fem_matrix("generate:elasticity:3");
  const auto there = upload_matrix<double>(ctx, a);
  double density = 1 + 1e-12;
  for (const double drop : {0.0, 0.1, 0.3}) {
    const auto m = fsai(ctx, there.wide(), fsai_options(1, drop));
    const OperatorInfo info = m.info();
    const double found = info.figures.front().second;
    CHECK(info.figures.front().first == "density");
    CHECK(found < density + (drop == 0 ? 1e-12 : 0));
    density = found;
    check_equations<double>(a, factor_of(ctx, m));
  }
  CHECK(fsai(ctx, there.wide(), fsai_options(2, 0.1)).info().figures.front().second > 1);
}

TEST_BOTH("FSAI refuses a matrix that is not symmetric and names the first pair in the caller's numbering",
          "[precond][fsai]") {
  const auto ctx = make_context<S>();
  HostCsr a = tridiagonal_matrix(200);
  const auto entry = [&](Index i, Index j) -> double& {
    return a.val[std::find(a.col.begin() + a.row_ptr[i], a.col.begin() + a.row_ptr[i + 1], j) - a.col.begin()];
  };
  entry(71, 70) = -0.5;
  entry(150, 151) = -3;
  const auto there = upload_matrix<double>(ctx, a);
  for (const bool renumbered : {false, true}) {
    const RowOrder<S> order = renumbered ? make_row_order(ctx, random_order(200, 9)) : RowOrder<S>{};
    PermutedCsr<double, S> permuted;
    CsrView<double, S> view = there.wide();
    if (renumbered) {
      permuted = permute(ctx, view, order);
      view = permuted.view();
    }
    try {
      fsai(ctx, view, fsai_options(), order);
      FAIL("not refused");
    } catch (const NotSymmetric& error) {
      CHECK(error.row() == 70);
      CHECK(error.col() == 71);
      CHECK(error.entry() == -1);
      CHECK(error.opposite() == -0.5);
      CHECK(contains(error.what(), "(70, 71)"));
      CHECK(contains(error.what(), "spai or jacobi"));
    }
  }
  // An entry without its opposite is one too.
  const auto triangle = upload_matrix<double>(ctx, from_rows(2, {{{0, 1.0}, {1, 0.5}}, {{1, 1.0}}}));
  CHECK(contains(message_of<NotSymmetric>([&] { fsai(ctx, triangle.wide()); }), "0.5 and 0"));
  CHECK(message_of<InputError>([&] { fsai(ctx, triangle.wide()); }) != "");
}

TEST_BOTH("FSAI names the first row with a pivot that is not positive, at setup and at a refresh",
          "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const HostCsr a = bordered_matrix(140, 2);
  const auto good = upload_matrix<double>(ctx, a);
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const auto x = random_vector<double>(a.rows);
  for (const double value : {0.0, -1.0, nan, inf, -inf}) {
    for (const bool renumbered : {false, true}) {
      INFO("value " << value << (renumbered ? ", renumbered" : ""));
      HostCsr b = a;
      for (const Index row : {17, 90}) {
        for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
          if (a.col[k] == row) b.val[k] = value;
        }
      }
      const auto bad = upload_matrix<double>(ctx, b);
      const RowOrder<S> order = renumbered ? make_row_order(ctx, random_order(a.rows, 9)) : RowOrder<S>{};
      PermutedCsr<double, S> permuted, permuted_bad;
      CsrView<double, S> view = good.wide(), bad_view = bad.wide();
      if (renumbered) {
        permuted = permute(ctx, view, order);
        permuted_bad = permute(ctx, bad_view, order);
        view = permuted.view();
        bad_view = permuted_bad.view();
      }
      // The rows that reach a bad one: itself and those behind it in solver order that have it in their pattern.
      const std::vector<Index> old = renumbered ? random_order(a.rows, 9) : std::vector<Index>();
      std::vector<Index> place(a.rows);
      for (Index i = 0; i < a.rows; ++i) place[renumbered ? old[i] : i] = i;
      std::set<Index> reached;
      for (Index i = 0; i < a.rows; ++i) {
        for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
          const bool bad_column = a.col[k] == 17 || a.col[k] == 90;
          if (bad_column && place[a.col[k]] <= place[i]) reached.insert(i);
        }
      }
      const auto check = [&](auto&& f) {
        try {
          f();
          FAIL("not refused");
        } catch (const NotPositiveDefinite& error) {
          CHECK(error.row() == *reached.begin());
          CHECK(error.count() == static_cast<std::int64_t>(reached.size()));
          CHECK(contains(error.what(), "row " + std::to_string(*reached.begin()) + " (0-based)"));
          CHECK(contains(error.what(), "spai or jacobi"));
        }
      };
      check([&] { fsai(ctx, bad_view, fsai_options(), order); });
      auto m = fsai(ctx, view, fsai_options(1, 0, "bce"), order);
      const auto before = applied(ctx, m, x);
      check([&] { m.refresh(ctx, bad.matrix.val.cspan()); });
      CHECK(same_bits(applied(ctx, m, x), before));  // what is not finite never reaches an apply
      m.refresh(ctx, good.matrix.val.cspan());
      CHECK(same_bits(applied(ctx, m, x), before));
    }
  }
}

TEST_BOTH("FSAI refuses a singular matrix and a missing diagonal entry", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const auto singular = upload_matrix<double>(ctx, from_rows(2, {{{0, 1.0}, {1, -1.0}}, {{0, -1.0}, {1, 1.0}}}));
  CHECK(contains(message_of<NotPositiveDefinite>([&] { fsai(ctx, singular.wide()); }), "row 1 "));
  const auto missing = upload_matrix<double>(ctx, from_rows(3, {{{0, 1.0}}, {{2, 0.5}}, {{1, 0.5}, {2, 1.0}}}));
  const std::string message = message_of<NotPositiveDefinite>([&] { fsai(ctx, missing.wide()); });
  CHECK(contains(message, "row 1 "));
  CHECK(contains(message, "1 more"));
}

TEST_BOTH("FSAI refuses rows with too large a local problem, rectangles and options out of range",
          "[precond][fsai]") {
  const auto ctx = make_context<S>();
  HostCsr arrow = arrow_matrix(5000);
  const auto there = upload_matrix<double>(ctx, arrow);
  CHECK(fsai(ctx, there.wide()).info().figures.back().second == 2);
  // The other way round the full row comes last.
  std::vector<Index> backwards(5000);
  for (Index i = 0; i < 5000; ++i) backwards[i] = 4999 - i;
  const RowOrder<S> order = make_row_order(ctx, backwards);
  const auto permuted = permute(ctx, there.wide(), order);
  const std::string message = message_of<InputError>([&] { fsai(ctx, permuted.view(), fsai_options(), order); });
  CHECK(contains(message, "row 0 (0-based)"));
  CHECK(contains(message, "5000 entries"));

  const auto rectangle = upload_matrix<double>(ctx, ragged_matrix(40, 50));
  CHECK(contains(message_of<InputError>([&] { fsai(ctx, rectangle.wide()); }), "square"));
  const auto sound = upload_matrix<double>(ctx, tridiagonal_matrix(9));
  const auto refused = [&](const PrecondOptions& options) {
    return message_of<InputError>([&] { make_precond<double, S>(ctx, sound.wide(), {}, options, SpmvOptions{}); });
  };
  CHECK(contains(refused(fsai_options(0)), "at least 1"));
  CHECK(contains(refused(fsai_options(1, -1)), "drop"));
  CHECK(contains(refused(fsai_options(1, std::nan(""))), "drop"));
}

TEST_BOTH("FSAI of nothing does nothing", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const auto there = upload_matrix<double>(ctx, empty_matrix(0, 0));
  auto m = fsai(ctx, there.wide());
  CHECK(m.rows() == 0);
  Array<double, S> none;
  auto xy = poisoned<double>(ctx, 1);
  m.apply(ctx, 1.0, none.cspan(), 0.0, none.span());
  m.apply_dot(ctx, none.cspan(), none.span(), xy.data());
  CHECK(fetch(ctx, xy.data()) == 0);
  m.refresh(ctx, none.cspan());
}

TEST_BOTH("FSAI tells its density, its phases and every byte that it holds", "[precond][fsai]") {
  const auto ctx = make_context<S>();
  const HostCsr a = tridiagonal_matrix(100);
  const auto there = upload_matrix<double>(ctx, a);
  for (const int power : {1, 2}) {
    const std::uint64_t before = ctx.memory()->use().bytes;
    const auto m = fsai(ctx, there.wide(), fsai_options(power));
    const OperatorInfo info = m.info();
    CHECK(info.name == "fsai");
    CHECK(info.rows == 100);
    CHECK(info.nonzeros == (power == 1 ? 2 * 199 : 2 * 297));
    CHECK(info.figures.front().second == Approx(power == 1 ? 1.0 : 494.0 / 298));
    CHECK(info.figures.back().second == power + 1);
    CHECK(info.total_bytes() == ctx.memory()->use().bytes - before);
    CHECK(info.bytes_per_product > 0);
    CHECK(info.setup_seconds.size() == 5);
  }
}
