// SPDX-License-Identifier: Apache-2.0
// Coarse levels of AMG that two cycles solve.
#include <Eigen/Eigenvalues>

#include <newel/core/vector_ops.hpp>
#include "core/vectors/column_ops.hpp"
#include "precond/amg/cycle/column_cycle.hpp"

#include "tests/precond/columns_support.hpp"
#include "tests/precond/smoother_support.hpp"

namespace {

// A grid of 18 x 18 whose couplings are random between 1 / spread and spread.
HostCsr random_grid(double spread) {
  constexpr Index side = 18, n = side * side;
  const std::vector<double> random = random_vector<double>(2 * n, 3);
  MapRows rows(n);
  const auto couple = [&](bool inside, Index i, Index j, double at) {
    if (!inside) return;
    const double c = std::pow(spread, at);
    rows[i][j] -= c, rows[j][i] -= c;
    rows[i][i] += c, rows[j][j] += c;
  };
  for (Index i = 0; i < n; ++i) {
    couple(i % side + 1 < side, i, i + 1, random[2 * i]);
    couple(i + side < n, i, i + side, random[2 * i + 1]);
    if (i % 37 == 0) rows[i][i] += 1e-2;
  }
  return from_rows(n, rows);
}

PrecondOptions symmetric_options(int degree = 2) {
  PrecondOptions options = small_levels(6);
  options.of<AmgOptions>().degree = degree;
  options.symmetric = true;
  return options;
}

// A cycle in precision C on the hierarchy of a matrix, all of whose levels are tried; none where `tries` is false.
template <class C, Space S>
class TriedCycle final : public LinearOperator<double, S> {
 public:
  TriedCycle(const Context<S>& ctx, const HostCsr& a, int degree, bool tries = true)
      : ctx_(ctx),
        m_(amg<double, S>(ctx, a, untried_options(degree))),
        there_(upload_matrix<C>(ctx, a)),
        cycle_(ctx, finest(tries), m_.hierarchy(), {}, degree) {}

  const std::vector<detail::AmgLevel<S>>& levels() const { return m_.hierarchy().levels(); }
  const detail::AmgCycle<C, S>& cycle() const { return cycle_; }

  Index rows() const override { return there_.wide().rows; }
  Index cols() const override { return rows(); }
  void apply(const Context<S>& ctx, double alpha, Span<const double, S> x, double beta,
             Span<double, S> y) const override {
    add(ctx, alpha, beta, y, [&](Span<double, S> to) { cycle_.template apply<double>(ctx, x, to, nullptr); });
  }
  void apply_columns(const Context<S>& ctx, int columns, double alpha, Span<const double, S> x, double beta,
                     Span<double, S> y, Span<char, S> work) const override {
    if (columns == 1) return apply(ctx, alpha, x, beta, y);
    detail::ColumnCycle<C, S> cycle(cycle_, columns, work);
    add(ctx, alpha, beta, y, [&](Span<double, S> to) { cycle.template apply<double>(ctx, x, to); });
  }
  void apply_dot_columns(const Context<S>& ctx, int columns, Span<const double, S> x, Span<double, S> y, double* xy,
                         Span<char, S> work) const override {
    apply_columns(ctx, columns, 1, x, 0, y, work);
    dot_columns<double, S>(ctx, columns, x, Span<const double, S>(y), xy);
  }
  std::uint64_t column_work_bytes(int columns) const override {
    return columns == 1 ? 0 : detail::ColumnCycle<C, S>(cycle_, columns).work_bytes();
  }

  void refresh(const HostCsr& a) {
    m_.refresh(ctx_, upload(ctx_, a.val).cspan());
    cycle_.refresh(ctx_, upload(ctx_, std::vector<C>(a.val.begin(), a.val.end())).cspan(), m_.hierarchy(), false);
  }

 private:
  // y = alpha M x + beta y, where make(to) makes M x.
  template <class Make>
  static void add(const Context<S>& ctx, double alpha, double beta, Span<double, S> y, const Make& make) {
    auto made = poisoned<double>(ctx, y.size);
    make(made.span());
    if (beta == 0) fill<double, S>(ctx, 0.0, y);
    axpby<double, S>(ctx, alpha, made.cspan(), beta, y);
  }
  static PrecondOptions untried_options(int degree) {
    PrecondOptions options = symmetric_options(degree);
    options.symmetric = false;
    return options;
  }
  detail::AmgFinest<C, S> finest(bool tries) const {
    detail::AmgFinest<C, S> made;
    made.a = make_spmv<C, S>(ctx_, there_.wide(), RowOrder<S>{}, SpmvOptions{});
    made.converts = !std::is_same_v<C, double>;
    made.symmetric = true;
    made.tried = tries ? detail::TriedLevels{} : detail::TriedLevels{1 << 30};
    return made;
  }

  const Context<S>& ctx_;
  AmgOperator<double, S> m_;
  decltype(upload_matrix<C>(std::declval<const Context<S>&>(), std::declval<const HostCsr&>())) there_;
  detail::AmgCycle<C, S> cycle_;
};

// The sets of levels solved by two cycles that give M.
template <Space S>
std::vector<std::set<std::size_t>> solved_twice(const Context<S>& ctx, const LinearOperator<double, S>& m,
                                                const std::vector<detail::AmgLevel<S>>& levels, int degree) {
  AmgOptions options;
  options.degree = degree;
  std::vector<std::set<std::size_t>> found;
  for (unsigned bits = 0; bits < 1u << (levels.size() - 2); ++bits) {
    std::set<std::size_t> twice;
    for (std::size_t l = 1; l + 1 < levels.size(); ++l) {
      if ((bits >> (l - 1) & 1) != 0) twice.insert(l);
    }
    if (difference_on_vectors(ctx, m, cycle_oracle(ctx, levels, 0, options, twice)) < 1e-8) found.push_back(twice);
  }
  return found;
}

// The smallest eigenvalue of M A on level l, M the cycle from there on.
template <Space S>
double slowest(const Context<S>& ctx, const std::vector<detail::AmgLevel<S>>& levels, std::size_t l, int degree) {
  AmgOptions options;
  options.degree = degree;
  const EigenDense ma = cycle_oracle(ctx, levels, l, options) * eigen_dense(ctx, levels[l].a);
  return Eigen::EigenSolver<EigenDense>(ma, false).eigenvalues().real().minCoeff();
}

}  // namespace

TEST_BOTH("AMG solves levels on which its cycle is slow by two, with Chebyshev's weights", "[amg]") {
  for (const double spread : {1e1, 1e5}) {
    for (const int degree : {1, 2, 3}) {
      const TriedCycle<double, S> m(ctx, random_grid(spread), degree);
      const auto sets = solved_twice(ctx, m, m.levels(), degree);
      INFO("spread " << spread << ", degree " << degree);
      REQUIRE(sets.size() == 1);
      CHECK(sets.front().count(1) == (spread > 100 ? 1u : 0u));
      const std::string text = sets.front().empty()       ? ""
                               : sets.front().size() == 1 ? ", two cycles on level 2"
                                                          : ", two cycles on levels 2 and 3";
      CHECK(m.cycle().levels().cycles_text() == text);
      for (const std::size_t l : sets.front()) CHECK(slowest(ctx, m.levels(), l, degree) < 0.2);
    }
  }
}

TEST_BOTH("A level that two cycles solve is solved so for several vectors at once", "[amg][columns]") {
  const TriedCycle<double, S> exact(ctx, random_grid(1e5), 2);
  const TriedCycle<float, S> rounded(ctx, random_grid(1e5), 2);
  REQUIRE(exact.cycle().levels().cycles_text() != "");
  check_columns(ctx, exact, 1e-9);
  check_columns(ctx, rounded, 1e-3);
}

TEST_BOTH("AMG with two cycles on a level is symmetric and definite, in single precision too", "[amg]") {
  const TriedCycle<double, S> exact(ctx, random_grid(1e5), 2);
  const TriedCycle<float, S> rounded(ctx, random_grid(1e5), 2);
  REQUIRE(exact.cycle().levels().cycles_text() != "");
  CHECK(rounded.cycle().levels().cycles_text() == exact.cycle().levels().cycles_text());
  const EigenDense m = dense_operator(ctx, exact), low = dense_operator(ctx, rounded);
  CHECK(largest(m - m.transpose()) < 1e-9 * largest(m));
  CHECK(Eigen::SelfAdjointEigenSolver<EigenDense>(0.5 * (m + m.transpose())).eigenvalues()(0) > 0);
  CHECK(largest(low - m) < 1e-3 * largest(m));
  CHECK(largest(low - low.transpose()) < 1e-3 * largest(m));
}

TEST_BOTH("AMG takes one cycle on small levels on a device, and where M need not be symmetric", "[amg]") {
  for (const bool symmetric : {false, true}) {
    PrecondOptions options = symmetric_options();
    options.symmetric = symmetric;
    const auto m = amg<double, S>(ctx, random_grid(1e5), options);
    const auto sets = solved_twice(ctx, m, m.hierarchy().levels(), 2);
    REQUIRE(sets.size() == 1);
    CHECK(sets.front().empty() == (S != host || !symmetric));
    CHECK(contains(m.info().detail, "two cycles") == !sets.front().empty());
  }
}

TEST_BOTH("New values reach both cycles of a level of AMG", "[amg]") {
  const HostCsr a = random_grid(1e5);
  HostCsr scaled = a;
  for (double& value : scaled.val) value *= 16;  // exact, and so is what the cycle makes of it
  const auto check = [&](auto precision) {
    TriedCycle<decltype(precision), S> m(ctx, a, 2);
    const auto x = random_vector<double>(a.rows);
    auto expected = applied(ctx, m, x);
    CHECK(same_bits(applied(ctx, m, x), expected));
    for (double& value : expected) value /= 16;
    m.refresh(scaled);
    CHECK(same_bits(applied(ctx, m, x), expected));
  };
  check(double());
  check(float());
}

TEST_BOTH("AMG counts the bytes and entries of levels that two cycles solve", "[amg]") {
  const auto check = [&](auto precision) {
    using C = decltype(precision);
    const TriedCycle<C, S> twice(ctx, random_grid(1e5), 2), once(ctx, random_grid(1e5), 2, false);
    REQUIRE(once.cycle().levels().cycles_text() == "");
    const OperatorInfo of_two = twice.cycle().levels().info(), of_one = once.cycle().levels().info();
    CHECK(of_two.bytes_per_product > of_one.bytes_per_product);
    // The kernel of coarse levels has room.
    CHECK(of_two.total_bytes() >= of_one.total_bytes() + (S == Space::host ? 1 : 0));
    return of_two.nonzeros == of_one.nonzeros && of_two.stored_slots == of_one.stored_slots;
  };
  CHECK(check(double()));
  CHECK_FALSE(check(float()));  // a matrix in double besides
}

TEST_CASE("With AMG the iterations for a thin elastic body do not grow with its mesh", "[amg][data]") {
  if (skipped_without_data()) return;
  std::vector<int> counts;
  for (const std::string refined : {"0", "1"}) {
    const MeshSystem system("mesh:" + data_folder() + "/meshes/part_wheelset.mesh.gz:elasticity:" + refined);
    counts.push_back(cg_iterations(system.a, PrecondOptions(), 1e-8, system.coordinates));
  }
  CHECK(counts[1] <= 1.25 * counts[0]);  // one cycle: 30 and 47
  CHECK(counts[1] < 30);
}
