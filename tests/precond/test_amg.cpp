// SPDX-License-Identifier: Apache-2.0
// AMG as an operator: the V-cycle against dense algebra, its symmetry, what it refuses, its refreshes.
#include <purlin/precond/amg/amg.hpp>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <purlin/core/error.hpp>
#include <purlin/precond/registry.hpp>

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

namespace purlin::testing {
namespace {

constexpr Space host = Space::host;

template <class T, Space S>
AmgOperator<T, S> amg(const Context<S>& ctx, const HostCsr& a, const PrecondOptions& options = amg_options(),
                      std::shared_ptr<const NodeCoordinates> coordinates = nullptr,
                      const std::vector<Index>& old_of_new = {}) {
  SpmvOptions spmv;
  spmv.coordinates = std::move(coordinates);
  const auto there = upload_matrix<T>(ctx, a);
  if (old_of_new.empty()) return AmgOperator<T, S>(ctx, there.wide(), {}, options, spmv);
  const RowOrder<S> order = make_row_order(ctx, old_of_new);
  const PermutedCsr<T, S> permuted = permute(ctx, there.wide(), order);
  return AmgOperator<T, S>(ctx, permuted.view(), order, options, spmv);
}

PrecondOptions small_levels(int max_coarse = 12) {
  PrecondOptions options = amg_options();
  options.of<AmgOptions>().max_coarse = max_coarse;
  return options;
}

template <class T, Space S>
std::vector<T> applied(const Context<S>& ctx, const LinearOperator<T, S>& m, const std::vector<T>& x) {
  const auto at_x = upload(ctx, x);
  auto y = poisoned<T>(ctx, m.rows());
  m.apply(ctx, T(1), at_x.cspan(), T(0), y.span());
  return download(ctx, y);
}

template <class T, Space S>
Dense dense_operator(const Context<S>& ctx, const LinearOperator<T, S>& m) {
  Dense result(m.rows(), m.rows());
  for (Index j = 0; j < m.rows(); ++j) {
    std::vector<T> unit(static_cast<std::size_t>(m.rows()), T(0));
    unit[j] = 1;
    const std::vector<T> column = applied(ctx, m, unit);
    for (Index i = 0; i < m.rows(); ++i) result(i, j) = column[i];
  }
  return result;
}

double largest(const Dense& m) { return m.size() == 0 ? 0.0 : m.cwiseAbs().maxCoeff(); }

// The polynomial smoother from 0 as a matrix B with x = B b: Chebyshev's p_k by its three-term recurrence, the error
// (I - B A) being p_k(A) with p_k(t) = W_k(1 - 2 t / lambda) / (2 k + 1), W_k the fourth-kind polynomial.
Dense smoother_oracle(const Dense& a, double lambda, AmgSmoother kind, int degree) {
  const auto n = a.rows();
  const Dense identity = Dense::Identity(n, n);
  const Dense scaled = a.diagonal().cwiseInverse().asDiagonal() * a / lambda;
  Dense error;
  if (kind == AmgSmoother::jacobi) {
    error = identity;
    for (int i = 0; i < degree; ++i) error = (identity - 4.0 / 3.0 * scaled) * error;
  } else {
    const Dense x = identity - 2 * scaled;
    Dense before = identity, now = 2 * x + identity;
    for (int i = 1; i < degree; ++i) {
      const Dense next = 2 * x * now - before;
      before = now;
      now = next;
    }
    error = now / (2 * degree + 1);
  }
  return (identity - error) * a.inverse();
}

Dense cycle_oracle(const std::vector<detail::AmgLevel>& levels, std::size_t l, const AmgOptions& options) {
  const Dense a = dense_of(levels[l].a);
  if (levels[l].smoother_diagonal.empty()) return a.inverse();
  const Dense b = smoother_oracle(a, levels[l].lambda, options.smoother, options.degree);
  if (levels[l].last()) return b;
  const Dense p = dense_of(levels[l].p), identity = Dense::Identity(a.rows(), a.rows());
  const Dense coarse = p * cycle_oracle(levels, l + 1, options) * p.transpose();
  const Dense error = (identity - b * a) * (identity - coarse * a) * (identity - b * a);
  return (identity - error) * a.inverse();
}

}  // namespace

TEST_BOTH("AMG's cycle is smoother, coarse correction and smoother on each level", "[amg]") {
  const auto ctx = make_context<S>();
  const HostCsr a = fem_matrix("generate:diffusion:7");
  for (const AmgSmoother smoother : {AmgSmoother::chebyshev, AmgSmoother::jacobi}) {
    for (const int degree : {1, 2, 3}) {
      PrecondOptions options = small_levels();
      options.of<AmgOptions>().smoother = smoother;
      options.of<AmgOptions>().degree = degree;
      const auto m = amg<double, S>(ctx, a, options);
      REQUIRE(m.hierarchy().levels().size() >= 2);
      const Dense expected = cycle_oracle(m.hierarchy().levels(), 0, options.of<AmgOptions>());
      INFO("degree " << degree);
      CHECK(largest(dense_operator(ctx, m) - expected) < 1e-12 * largest(expected));
    }
  }
}

TEST_BOTH("AMG is symmetric and positive definite where the matrix is", "[amg]") {
  const auto ctx = make_context<S>();
  const MeshSystem elastic("generate:elasticity:5");
  for (const auto& m : {amg<double, S>(ctx, elastic.a, small_levels(30), elastic.coordinates),
                        amg<double, S>(ctx, fem_matrix("generate:diffusion:7"), small_levels())}) {
    const Dense dense = dense_operator(ctx, m);
    CHECK(largest(dense - dense.transpose()) < 1e-13 * largest(dense));
    CHECK(Eigen::SelfAdjointEigenSolver<Dense>(dense).eigenvalues()(0) > 0);
  }
  const MeshSystem larger("generate:elasticity:9");
  const auto m = amg<double, S>(ctx, larger.a, amg_options(), larger.coordinates);
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto x = random_vector<double>(larger.a.rows, seed), y = random_vector<double>(larger.a.rows, seed + 10);
    const DotOracle one = dot_oracle(applied(ctx, m, x), y), other = dot_oracle(x, applied(ctx, m, y));
    CHECK(std::fabs(static_cast<double>(one.value - other.value)) <= 1e-12 * static_cast<double>(one.magnitude));
    CHECK(dot_oracle(applied(ctx, m, x), x).value > 0);
  }
}

TEST_BOTH("AMG's hierarchy does not depend on the order of the matrix", "[amg]") {
  const auto ctx = make_context<S>();
  const MeshSystem system("generate:elasticity:6");
  const std::vector<Index> old_of_new = random_order(system.a.rows, 3);
  const auto natural = amg<double, S>(ctx, system.a, small_levels(40), system.coordinates);
  const auto permuted = amg<double, S>(ctx, system.a, small_levels(40), system.coordinates, old_of_new);
  const auto& one = natural.hierarchy().levels();
  const auto& other = permuted.hierarchy().levels();
  REQUIRE(one.size() == other.size());
  REQUIRE(one.size() >= 2);
  for (std::size_t l = 0; l < one.size(); ++l) {
    CHECK(one[l].aggregates.of_node == other[l].aggregates.of_node);
    CHECK(dense_of(one[l].a) == dense_of(other[l].a));
  }
  const auto x = random_vector<double>(system.a.rows);
  std::vector<double> x_permuted(x.size()), back(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x_permuted[i] = x[old_of_new[i]];
  const auto y = applied(ctx, natural, x), y_permuted = applied(ctx, permuted, x_permuted);
  for (std::size_t i = 0; i < x.size(); ++i) back[old_of_new[i]] = y_permuted[i];
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference = std::max(difference, std::fabs(y[i] - back[i]));
    size = std::max(size, std::fabs(y[i]));
  }
  CHECK(difference < 1e-13 * size);
}

TEST_BOTH("AMG adds to y, and gives the same bits twice", "[amg]") {
  const auto ctx = make_context<S>();
  const HostCsr a = fem_matrix("generate:diffusion:12");
  const auto m = amg<double, S>(ctx, a), again = amg<double, S>(ctx, a);
  CHECK(m.capturable());
  const auto x = random_vector<double>(a.rows, 1), y0 = random_vector<double>(a.rows, 2);
  const auto product = applied(ctx, m, x);
  CHECK(same_bits(product, applied(ctx, m, x)));
  CHECK(same_bits(product, applied(ctx, again, x)));
  const auto at_x = upload(ctx, x);
  auto y = upload(ctx, y0);
  m.apply(ctx, 2.0, at_x.cspan(), -3.0, y.span());
  const auto sum = download(ctx, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    REQUIRE(std::fabs(sum[i] - (2 * product[i] - 3 * y0[i])) <=
            4e-16 * (std::fabs(2 * product[i]) + std::fabs(3 * y0[i])));
  }
}

TEST_BOTH("AMG in single precision is close to that in double", "[amg]") {
  const auto ctx = make_context<S>();
  const HostCsr a = fem_matrix("generate:diffusion:12");
  const auto x = random_vector<double>(a.rows);
  const auto y = applied(ctx, amg<double, S>(ctx, a), x);
  const auto single = applied(ctx, amg<float, S>(ctx, a), converted<float>(x));
  double difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) difference = std::max(difference, std::fabs(y[i] - single[i]));
  CHECK(difference < 1e-5 * norm_oracle(y));
}

TEST_BOTH("AMG inverts a small matrix, and the regular part of a singular one", "[amg]") {
  const auto ctx = make_context<S>();
  const HostCsr a = tridiagonal_matrix(20);
  CHECK(largest(dense_operator(ctx, amg<double, S>(ctx, a)) - dense_of(a).inverse()) < 1e-13);
  CHECK(applied(ctx, amg<double, S>(ctx, diagonal_matrix(1)), {1.0})[0] == 1 / diagonal_matrix(1).val[0]);
  CHECK(applied(ctx, amg<double, S>(ctx, empty_matrix(0, 0)), {}).empty());

  const HostCsr singular = neumann_grid(9, 9);
  const auto m = amg<double, S>(ctx, singular, small_levels(20));
  REQUIRE(m.hierarchy().levels().size() >= 2);
  CHECK(m.hierarchy().null_vectors() == 1);
  const Dense dense = dense_operator(ctx, m);
  CHECK(largest(dense - dense.transpose()) < 1e-12 * largest(dense));
  CHECK(largest(dense) < 100);
}

TEST_BOTH("AMG smooths alone what does not coarsen, and says so", "[amg]") {
  const auto ctx = make_context<S>();
  const auto diagonal = amg<double, S>(ctx, diagonal_matrix(400));
  CHECK(diagonal.hierarchy().levels().size() == 1);
  CHECK(contains(diagonal.info().detail, "smoother alone"));
  // A multiple of the inverse.
  const HostCsr d = diagonal_matrix(400);
  const auto ones = std::vector<double>(400, 1.0);
  const auto z = applied(ctx, diagonal, ones);
  for (Index i = 1; i < 400; ++i) REQUIRE(std::fabs(z[i] * d.val[i] / (z[0] * d.val[0]) - 1) < 1e-14);

  const auto pieces_too = amg<double, S>(ctx, pieces(diagonal_matrix(50), fem_matrix("generate:diffusion:8")));
  CHECK(pieces_too.hierarchy().levels().size() == 2);
}

TEST_BOTH("AMG names a row whose diagonal entry is zero, in the caller's numbering", "[amg]") {
  const auto ctx = make_context<S>();
  HostCsr a = tridiagonal_matrix(30);
  for (Offset k = a.row_ptr[7]; k < a.row_ptr[8]; ++k) a.val[k] = a.col[k] == 7 ? 0 : a.val[k];
  try {
    amg<double, S>(ctx, a, amg_options(), nullptr, random_order(30, 2));
    FAIL("accepted");
  } catch (const ZeroDiagonal& error) {
    CHECK(error.row() == 7);
    CHECK(error.count() == 1);
  }
  const auto sound = tridiagonal_matrix(30);
  auto m = amg<double, S>(ctx, sound);
  const auto x = random_vector<double>(30), before = applied(ctx, m, x);
  const auto bad = upload(ctx, a.val);
  CHECK_THROWS_AS(m.refresh(ctx, bad.cspan()), ZeroDiagonal);
  CHECK(same_bits(applied(ctx, m, x), before));
}

TEST_CASE("AMG refuses coordinates, vectors and options that make no sense", "[amg]") {
  const Context<host> ctx;
  const HostCsr a = tridiagonal_matrix(30);
  PrecondOptions rigid = amg_options();
  rigid.of<AmgOptions>().near_null = AmgNearNull::rigid;
  CHECK(contains(message_of<InputError>([&] { amg<double, host>(ctx, a, rigid); }), "coordinates"));
  const auto ten = std::make_shared<NodeCoordinates>(NodeCoordinates{std::vector<double>(30, 0.0), 3});
  CHECK_NOTHROW(amg<double, host>(ctx, a, rigid, ten));
  ten->xyz[4] = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(message_of<InputError>([&] { amg<double, host>(ctx, a, amg_options(), ten); }), "node 1"));
  PrecondOptions given = amg_options();
  given.of<AmgOptions>().vectors = std::make_shared<NearNullVectors>(NearNullVectors{2, std::vector<double>(59)});
  CHECK(contains(message_of<InputError>([&] { amg<double, host>(ctx, a, given); }), "59"));
  PrecondOptions nodes = amg_options();
  nodes.of<AmgOptions>().node_rows = 7;
  CHECK(contains(message_of<InputError>([&] { amg<double, host>(ctx, a, nodes); }), "7"));
  const auto there = upload_matrix<double>(ctx, a);
  for (const auto& wrong : {std::pair<double, int>{-0.5, 2}, {0.1, 0}, {0.1, 9}}) {
    PrecondOptions options = amg_options();
    options.of<AmgOptions>().theta = wrong.first;
    options.of<AmgOptions>().degree = wrong.second;
    CHECK_THROWS_AS((make_precond<double, host>(ctx, there.wide(), {}, options, SpmvOptions{})), InputError);
  }
}

TEST_BOTH("AMG takes the caller's near-null vectors, or rigid modes, or constants", "[amg]") {
  const auto ctx = make_context<S>();
  const MeshSystem system("generate:elasticity:7");
  const auto unknowns = [&](const PrecondOptions& options, std::shared_ptr<const NodeCoordinates> coordinates) {
    return amg<double, S>(ctx, system.a, options, coordinates).hierarchy().levels()[0].tentative.coarse.vectors;
  };
  CHECK(unknowns(amg_options(), nullptr) == 3);
  CHECK(unknowns(amg_options(), system.coordinates) == 6);
  PrecondOptions constant = amg_options();
  constant.of<AmgOptions>().near_null = AmgNearNull::constant;
  CHECK(unknowns(constant, system.coordinates) == 3);
  PrecondOptions own = amg_options();
  own.of<AmgOptions>().vectors = std::make_shared<NearNullVectors>(
      NearNullVectors{2, random_vector<double>(2 * static_cast<std::int64_t>(system.a.rows))});
  CHECK(unknowns(own, system.coordinates) == 2);
}

TEST_BOTH("A full refresh of AMG equals a new setup on the same aggregates, bit for bit", "[amg]") {
  const auto ctx = make_context<S>();
  const MeshSystem system("generate:elasticity:6");
  HostCsr changed = system.a;
  Random random(7);
  // Symmetric changes of all entries by up to a tenth; without thresholds aggregates and patterns are those of A's
  // pattern.
  for (Index i = 0; i < changed.rows; ++i) {
    for (Offset k = changed.row_ptr[i]; k < changed.row_ptr[i + 1]; ++k) {
      changed.val[k] *= 1 + 0.1 * std::sin(1.0 + std::min(i, changed.col[k]) * std::max(i, changed.col[k]));
    }
  }
  const std::vector<Index> old_of_new = random_order(system.a.rows, 4);
  const auto x = random_vector<double>(system.a.rows);
  const auto values = upload(ctx, changed.val);
  const auto by_pattern = [] {
    PrecondOptions options = small_levels(40);
    options.of<AmgOptions>().theta = 0;
    options.of<AmgOptions>().max_width = 64;
    return options;
  };
  const auto refreshed = [&](AmgRefresh scope) {
    PrecondOptions options = by_pattern();
    options.of<AmgOptions>().refresh = scope;
    auto m = amg<double, S>(ctx, system.a, options, system.coordinates, old_of_new);
    REQUIRE(m.hierarchy().levels().size() >= 2);
    m.refresh(ctx, values.cspan());
    return applied(ctx, m, x);
  };
  const auto fresh = [&](const HostCsr& a) {
    return applied(ctx, amg<double, S>(ctx, a, by_pattern(), system.coordinates, old_of_new), x);
  };
  CHECK(same_bits(refreshed(AmgRefresh::full), fresh(changed)));
  CHECK(same_bits(refreshed(AmgRefresh::keep), fresh(system.a)));
  CHECK_FALSE(same_bits(refreshed(AmgRefresh::galerkin), fresh(changed)));
}

TEST_BOTH("A full refresh of AMG keeps what thresholds decided, bit for bit", "[amg]") {
  const auto ctx = make_context<S>();
  const MeshSystem system("generate:elasticity:7");
  HostCsr changed = system.a;
  for (double& value : changed.val) value *= 8;  // decides nothing differently
  PrecondOptions options = small_levels(30);
  options.of<AmgOptions>().refresh = AmgRefresh::full;
  options.of<AmgOptions>().max_width = 3;
  options.of<AmgOptions>().theta = 0.05;
  auto m = amg<double, S>(ctx, system.a, options, system.coordinates);
  REQUIRE_FALSE(m.hierarchy().levels()[0].kept.empty());
  const auto values = upload(ctx, changed.val);
  m.refresh(ctx, values.cspan());
  const auto x = random_vector<double>(system.a.rows);
  const auto fresh = amg<double, S>(ctx, changed, options, system.coordinates);
  CHECK(same_bits(applied(ctx, m, x), applied(ctx, fresh, x)));
}

TEST_BOTH("A galerkin refresh of AMG keeps the prolongators and replaces all else", "[amg]") {
  const auto ctx = make_context<S>();
  const HostCsr a = fem_matrix("generate:diffusion:8");
  HostCsr changed = a;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
      if (a.col[k] == i) changed.val[k] *= 1.5 + 0.3 * std::cos(i);
    }
  }
  auto m = amg<double, S>(ctx, a, small_levels());
  const Dense p = dense_of(m.hierarchy().levels()[0].p);
  const auto values = upload(ctx, changed.val);
  m.refresh(ctx, values.cspan());
  const auto& levels = m.hierarchy().levels();
  CHECK(dense_of(levels[0].p) == p);
  CHECK(dense_of(levels[0].a) == dense_of(changed));
  CHECK(largest(dense_of(levels[1].a) - p.transpose() * dense_of(changed) * p) < 1e-13);
  const Dense expected = cycle_oracle(levels, 0, AmgOptions{});
  CHECK(largest(dense_operator(ctx, m) - expected) < 1e-12 * largest(expected));
}

}  // namespace purlin::testing
