// SPDX-License-Identifier: Apache-2.0
// Jacobi: z = D^-1 r in both spaces, refreshed through permutations, and the diagonals that it refuses.
#include "tests/catch.hpp"
#include "tests/precond/applied.hpp"

#include <newel/precond/registry.hpp>

namespace {

template <class T, Space S>
OperatorPtr<T, S> jacobi(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order = {}) {
  return make_precond<T, S>(ctx, a, order, PrecondOptions{"jacobi"}, SpmvOptions{});
}

// The exact inverse diagonal as a matrix of its own.
std::vector<long double> inverse_diagonal(const HostCsr& a) {
  std::vector<long double> inverse(a.rows);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == i) inverse[i] = 1 / static_cast<long double>(a.val[k]);
    }
  }
  return inverse;
}

// y = alpha D^-1 x + beta y0: one rounding each of the inverse, two products, beta y0 and the sum.
template <class T>
Expected expected_jacobi(const HostCsr& a, T alpha, const std::vector<T>& x, T beta, const std::vector<T>& y0) {
  Expected e;
  const std::vector<long double> inverse = inverse_diagonal(a);
  for (Index i = 0; i < a.rows; ++i) {
    const long double product = alpha * inverse[i] * x[i];
    const long double added = beta == T(0) ? 0 : static_cast<long double>(beta) * y0[i];
    e.value.push_back(product + added);
    e.bound.push_back(5 * static_cast<long double>(std::numeric_limits<T>::epsilon()) *
                      (std::fabs(product) + std::fabs(added)));
  }
  return e;
}

// Entries of both signs down to 2^-40: none is too small to divide by.
HostCsr diagonal_of_many_sizes() {
  HostCsr a = diagonal_matrix(82);
  for (Index i = 0; i < a.rows; ++i) a.val[i] = std::ldexp(i % 2 == 0 ? 1.0 : -1.0, -i / 2);
  return a;
}

std::vector<NamedMatrix> matrices_with_diagonal() {
  std::vector<NamedMatrix> all;
  for (const Index n : {1, 31, 32, 33}) all.push_back({"tridiagonal", tridiagonal_matrix(n)});
  all.push_back({"diagonal", diagonal_matrix(1000)});
  all.push_back({"diagonal of many sizes", diagonal_of_many_sizes()});
  all.push_back({"arrow", arrow_matrix(700)});
  all.push_back({"dominant", dominant_matrix(9001)});
  all.push_back({"elasticity", fem_matrix("generate:elasticity:5")});
  return all;
}

template <class T, Space S>
void check_apply() {
  const auto ctx = make_context<S>();
  for (const auto& [name, a] : matrices_with_diagonal()) {
    INFO(name);
    const auto there = upload_matrix<T>(ctx, a);
    const auto x = random_vector<T>(a.rows, 1), y0 = random_vector<T>(a.rows, 2);
    const auto at_x = upload(ctx, x);
    for (const auto& m : {jacobi<T, S>(ctx, there.wide()).release(), jacobi<T, S>(ctx, there.narrow()).release()}) {
      const OperatorPtr<T, S> owner(m);
      for (const T alpha : {T(1), T(-1.5), T(0)}) {
        for (const T beta : {T(0), T(1), T(0.75)}) {
          auto y = beta == T(0) ? poisoned<T>(ctx, a.rows) : upload(ctx, y0);
          m->apply(ctx, alpha, at_x.cspan(), beta, y.span());
          CHECK(first_outside(download(ctx, y), expected_jacobi(a, alpha, x, beta, y0)) == "");
        }
      }
      auto y = poisoned<T>(ctx, a.rows);
      auto xy = poisoned<double>(ctx, 1);
      m->apply_dot(ctx, at_x.cspan(), y.span(), xy.data());
      const std::vector<T> found = download(ctx, y);
      CHECK(first_outside(found, expected_jacobi(a, T(1), x, T(0), y0)) == "");
      const DotOracle dot = dot_oracle(x, found);
      CHECK(std::fabs(fetch(ctx, xy.data()) - dot.value) <=
            (a.rows + 2) * std::numeric_limits<double>::epsilon() * dot.magnitude);
    }
  }
}

// What a refusal says: the row, how many, the value; row -2 where nothing was refused.
struct Refusal {
  std::int64_t row = -2, count = 0;
  double value = 0;
  std::string message;
};

template <class F>
Refusal refusal(F&& f) {
  try {
    f();
  } catch (const ZeroDiagonal& e) {
    return {e.row(), e.count(), e.value(), e.what()};
  }
  return {};
}

// A dominant matrix with other diagonal entries; the mark `missing` takes one away.
constexpr double missing = -12345;
HostCsr with_diagonal(Index n, const std::map<Index, double>& entries) {
  const HostCsr a = dominant_matrix(n);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) rows[i][a.col[k]] = a.val[k];
  }
  for (const auto& [i, value] : entries) {
    if (value == missing)
      rows[i].erase(i);
    else
      rows[i][i] = value;
  }
  return from_rows(n, rows);
}

}  // namespace

TEST_BOTH("Jacobi divides by the diagonal, with the dot product on request", "[precond]") {
  check_apply<double, S>();
  check_apply<float, S>();
}

TEST_BOTH("Jacobi of nothing does nothing", "[precond]") {
  const auto there = upload_matrix<double>(ctx, empty_matrix(0, 0));
  const auto m = jacobi<double, S>(ctx, there.wide());
  CHECK(m->rows() == 0);
  Array<double, S> none;
  auto xy = poisoned<double>(ctx, 1);
  m->apply(ctx, 1.0, none.cspan(), 0.0, none.span());
  m->apply_dot(ctx, none.cspan(), none.span(), xy.data());
  CHECK(fetch(ctx, xy.data()) == 0);
  m->refresh(ctx, none.cspan());
}

TEST_BOTH("Jacobi refreshed is Jacobi rebuilt, bit for bit", "[precond]") {
  const HostCsr a = dominant_matrix(3001);
  HostCsr b = a;
  for (double& value : b.val) value = static_cast<float>(value * 1.375 + 0.0625);
  const auto at_a = upload_matrix<double>(ctx, a), at_b = upload_matrix<double>(ctx, b);
  const auto refreshed = jacobi<double, S>(ctx, at_a.narrow());
  const std::uint64_t allocations = ctx.memory()->use().allocations;
  refreshed->refresh(ctx, at_b.matrix.val.cspan());
  CHECK(ctx.memory()->use().allocations == allocations);
  const auto x = random_vector<double>(a.rows);
  const auto rebuilt = jacobi<double, S>(ctx, at_b.wide());
  CHECK(same_bits(applied(ctx, *refreshed, x), applied(ctx, *rebuilt, x)));
}

TEST_BOTH("Jacobi of a permuted matrix is refreshed by values in the caller's order", "[precond]") {
  const HostCsr a = dominant_matrix(3001);
  HostCsr b = a;
  for (double& value : b.val) value = static_cast<float>(value * 1.375 + 0.0625);
  const auto at_a = upload_matrix<float>(ctx, a), at_b = upload_matrix<float>(ctx, b);
  const RowOrder<S> first = make_row_order(ctx, random_order(a.rows, 8));
  const RowOrder<S> second = make_row_order(ctx, random_order(a.rows, 9));
  const auto a_once = permute(ctx, at_a.wide(), first), b_once = permute(ctx, at_b.wide(), first);
  const auto a_twice = permute(ctx, a_once.view(), second), b_twice = permute(ctx, b_once.view(), second);
  const auto x = random_vector<float>(a.rows);
  const auto once = jacobi<float, S>(ctx, a_once.view(), first);
  once->refresh(ctx, at_b.matrix.val.cspan());
  CHECK(same_bits(applied(ctx, *once, x), applied(ctx, *jacobi<float, S>(ctx, b_once.view(), first), x)));
  const auto twice = jacobi<float, S>(ctx, a_twice.view(), second);
  twice->refresh(ctx, at_b.matrix.val.cspan());
  CHECK(same_bits(applied(ctx, *twice, x), applied(ctx, *jacobi<float, S>(ctx, b_twice.view(), second), x)));
}

TEST_BOTH("Jacobi refuses a diagonal entry that is missing, zero or without a finite inverse", "[precond]") {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double value : {missing, 0.0, -0.0, std::nan(""), inf, -inf, 1e-310, -5e-324}) {
    INFO("value " << value);
    for (const Index row : {0, 33, 4999}) {
      const auto there = upload_matrix<double>(ctx, with_diagonal(5000, {{row, value}}));
      const Refusal r = refusal([&] { jacobi<double, S>(ctx, there.wide()); });
      CHECK(r.row == row);
      CHECK(r.count == 1);
      CHECK(contains(r.message, "row " + std::to_string(row) + " (0-based)"));
      CHECK(contains(r.message, "preconditioner none"));
      if (value == missing || value == 0) {
        CHECK(r.value == 0);
        CHECK(contains(r.message, "zero or missing"));
      } else {
        CHECK((std::isnan(value) ? std::isnan(r.value) : r.value == value));
        CHECK(contains(r.message, "no finite inverse"));
      }
    }
  }
}

TEST_BOTH("What has no finite inverse depends on the precision", "[precond]") {
  const HostCsr a = with_diagonal(100, {{7, 1e-39}});
  const auto narrow = upload_matrix<float>(ctx, a);
  CHECK(refusal([&] { jacobi<float, S>(ctx, narrow.wide()); }).row == 7);
  const auto wide = upload_matrix<double>(ctx, a);
  CHECK(refusal([&] { jacobi<double, S>(ctx, wide.wide()); }).row == -2);
}

TEST_BOTH("Of several bad diagonal entries Jacobi names the first and counts all", "[precond]") {
  const HostCsr a = with_diagonal(5000, {{4100, 0.0}, {17, std::nan("")}, {18, missing}, {900, 1e-310}});
  const auto there = upload_matrix<double>(ctx, a);
  const Refusal r = refusal([&] { jacobi<double, S>(ctx, there.narrow()); });
  CHECK(r.row == 17);
  CHECK(r.count == 4);
  CHECK(contains(r.message, "3 more"));

  const auto stored = upload_matrix<double>(ctx, with_diagonal(5000, {{4100, 0.0}, {700, 0.0}}));
  const Refusal s = refusal([&] { jacobi<double, S>(ctx, stored.narrow()); });
  CHECK(s.row == 700);
  CHECK(s.count == 2);
  const auto none = upload_matrix<double>(ctx, empty_matrix(33, 33));
  CHECK(refusal([&] { jacobi<double, S>(ctx, none.wide()); }).count == 33);
}

TEST_BOTH("A bad row is named by the caller's number, not by the solver's", "[precond]") {
  for (const double value : {missing, 0.0, std::nan("")}) {
    const HostCsr a = with_diagonal(2000, {{150, value}, {151, value}, {1800, value}});
    const auto there = upload_matrix<double>(ctx, a);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const RowOrder<S> order = make_row_order(ctx, random_order(2000, seed));
      const auto permuted = permute(ctx, there.wide(), order);
      const Refusal r = refusal([&] { jacobi<double, S>(ctx, permuted.view(), order); });
      CHECK(r.row == 150);
      CHECK(r.count == 3);
    }
  }
}

TEST_BOTH("A refresh refuses what the construction refuses, and then takes good values again", "[precond]") {
  const HostCsr good = dominant_matrix(2000), bad = with_diagonal(2000, {{33, 0.0}, {1500, std::nan("")}});
  const RowOrder<S> order = make_row_order(ctx, random_order(2000));
  const auto at_good = upload_matrix<double>(ctx, good), at_bad = upload_matrix<double>(ctx, bad);
  const auto permuted = permute(ctx, at_good.wide(), order);
  const auto m = jacobi<double, S>(ctx, permuted.view(), order);
  const auto x = random_vector<double>(2000);
  const std::vector<double> before = applied(ctx, *m, x);
  const Refusal r = refusal([&] { m->refresh(ctx, at_bad.matrix.val.cspan()); });
  CHECK(r.row == 33);
  CHECK(r.count == 2);
  m->refresh(ctx, at_good.matrix.val.cspan());
  CHECK(same_bits(applied(ctx, *m, x), before));
}

TEST_BOTH("A refresh with another number of values is refused with both", "[precond]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(10));
  const auto m = jacobi<double, S>(ctx, there.wide());
  const auto values = upload(ctx, random_vector<double>(10));
  CHECK(contains(message_of<InputError>([&] { m->refresh(ctx, values.cspan()); }), "expected 28 values, found 10"));
}

TEST_BOTH("Jacobi says what it holds", "[precond]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(100));
  const OperatorInfo info = jacobi<double, S>(ctx, there.wide())->info();
  CHECK(info.name == "jacobi");
  CHECK(info.rows == 100);
  CHECK(info.cols == 100);
  CHECK(info.nonzeros == 100);
  CHECK(info.padding_ratio() == 0);
  CHECK(info.total_bytes() == 100 * (8 + 4));
}

TEST_BOTH("Jacobi knows whether its diagonal is constant, and the same behind a refresh", "[precond]") {
  HostCsr a = tridiagonal_matrix(3000);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == i) a.val[k] = 3;
    }
  }
  const auto even = upload_matrix<double>(ctx, a);
  const auto m = jacobi<double, S>(ctx, even.wide());
  CHECK(m->traits().multiple_of_identity);
  for (const Index row : {Index{0}, Index{1}, a.rows - 1}) {
    INFO("row " << row);
    HostCsr changed = a;
    for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      if (a.col[k] == row) changed.val[k] = 3 * 1.004;  // half a percent is nothing
    }
    const auto nearly = upload_matrix<double>(ctx, changed);
    m->refresh(ctx, nearly.wide().val);
    CHECK(m->traits().multiple_of_identity);
    for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1]; ++k) {
      if (a.col[k] == row) changed.val[k] = 3 * 1.006;
    }
    const auto uneven = upload_matrix<double>(ctx, changed);
    m->refresh(ctx, uneven.wide().val);
    CHECK(!m->traits().multiple_of_identity);
    CHECK(!jacobi<double, S>(ctx, uneven.wide())->traits().multiple_of_identity);
    m->refresh(ctx, even.wide().val);
    CHECK(m->traits().multiple_of_identity);
  }
}

TEST_BOTH("Jacobi needs a square matrix", "[precond]") {
  const auto there = upload_matrix<double>(ctx, ragged_matrix(40, 50));
  CHECK(contains(message_of<InputError>([&] { jacobi<double, S>(ctx, there.wide()); }), "square"));
}

TEST_BOTH("The preconditioner none is null, and an unknown name is refused with those there are", "[precond]") {
  const auto there = upload_matrix<double>(ctx, tridiagonal_matrix(10));
  const auto named = [&](const std::string& name) {
    return make_precond<double, S>(ctx, there.wide(), {}, PrecondOptions{name}, SpmvOptions{});
  };
  CHECK(named("none") == nullptr);
  CHECK(named("None") == nullptr);
  CHECK(named("JACOBI") != nullptr);
  const std::string message = message_of<InputError>([&] { named("ilu7"); });
  CHECK(contains(message, "ilu7"));
  CHECK(contains(message, "none"));
  for (const PrecondMethod& entry : preconditioners()) {
    CHECK(contains(message, entry.name));
    CHECK(entry.make.get<double, S>() != nullptr);
    CHECK(entry.make.get<float, S>() != nullptr);
    CHECK_FALSE(entry.summary.empty());
  }
  CHECK(PrecondOptions{}.name == "jacobi");
}
