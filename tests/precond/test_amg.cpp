// SPDX-License-Identifier: Apache-2.0
// AMG as an operator: the V-cycle against dense algebra, its symmetry, what it refuses.
#include "precond/amg/amg.hpp"

#include <Eigen/Eigenvalues>

#include <newel/precond/registry.hpp>

#include "tests/catch.hpp"
#include "tests/precond/amg_support.hpp"

TEST_BOTH("AMG's cycle is smoother, coarse correction and smoother on each level", "[amg]") {
  const HostCsr a = fem_matrix("generate:diffusion:7");
  for (const AmgSmoother smoother : {AmgSmoother::chebyshev, AmgSmoother::jacobi}) {
    for (const int degree : {1, 2, 3}) {
      PrecondOptions options = small_levels();
      options.of<AmgOptions>().smoother = smoother;
      options.of<AmgOptions>().degree = degree;
      const auto m = amg<double, S>(ctx, a, options);
      REQUIRE(m.hierarchy().levels().size() >= 2);
      const EigenDense expected = cycle_oracle(ctx, m.hierarchy().levels(), 0, options.of<AmgOptions>());
      INFO("degree " << degree);
      CHECK(difference_on_vectors(ctx, m, expected) < 1e-12);
    }
  }
}

TEST_BOTH("AMG is symmetric and positive definite where the matrix is", "[amg]") {
  const MeshSystem elastic("generate:elasticity:4");
  for (const auto& m : {amg<double, S>(ctx, elastic.a, small_levels(30), elastic.coordinates),
                        amg<double, S>(ctx, fem_matrix("generate:diffusion:6"), small_levels())}) {
    const EigenDense dense = dense_operator(ctx, m);
    CHECK(largest(dense - dense.transpose()) < 1e-13 * largest(dense));
    CHECK(Eigen::SelfAdjointEigenSolver<EigenDense>(dense).eigenvalues()(0) > 0);
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
  const MeshSystem system("generate:elasticity:6");
  const std::vector<Index> old_of_new = random_order(system.a.rows, 3);
  const auto natural = amg<double, S>(ctx, system.a, small_levels(40), system.coordinates);
  const auto permuted = amg<double, S>(ctx, system.a, small_levels(40), system.coordinates, old_of_new);
  const auto& one = natural.hierarchy().levels();
  const auto& other = permuted.hierarchy().levels();
  REQUIRE(one.size() == other.size());
  REQUIRE(one.size() >= 2);
  for (std::size_t l = 0; l < one.size(); ++l) {
    CHECK(on_host(ctx, one[l].aggregates.of_node) == on_host(ctx, other[l].aggregates.of_node));
    CHECK(eigen_dense(ctx, one[l].a) == eigen_dense(ctx, other[l].a));
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
  const HostCsr a = fem_matrix("generate:diffusion:12");
  const auto x = random_vector<double>(a.rows);
  const auto y = applied(ctx, amg<double, S>(ctx, a), x);
  const auto single = applied(ctx, amg<float, S>(ctx, a), converted<float>(x));
  double difference = 0;
  for (std::size_t i = 0; i < x.size(); ++i) difference = std::max(difference, std::fabs(y[i] - single[i]));
  CHECK(difference < 1e-5 * norm_oracle(y));
}

TEST_BOTH("AMG cycles in single precision in a system in double, and is refreshed there", "[amg]") {
  const MeshSystem system("generate:elasticity:6");
  const auto with = [&](AmgPrecision precision, AmgSmoother smoother) {
    PrecondOptions options = small_levels(40);
    options.of<AmgOptions>().precision = precision;
    options.of<AmgOptions>().smoother = smoother;
    return options;
  };
  const std::vector<Index> old_of_new = random_order(system.a.rows, 7);
  HostCsr changed = system.a;
  for (double& value : changed.val) value *= 3;
  const auto x = random_vector<double>(system.a.rows);
  const auto values = upload(ctx, changed.val);
  for (const AmgSmoother smoother : {AmgSmoother::chebyshev, AmgSmoother::fsai}) {
    const auto make = [&](const HostCsr& a, AmgPrecision precision) {
      return amg<double, S>(ctx, a, with(precision, smoother), system.coordinates, old_of_new);
    };
    auto single = make(system.a, AmgPrecision::single);
    CHECK(contains(single.info().detail, "in single precision"));
    const auto y = applied(ctx, make(system.a, AmgPrecision::system), x), z = applied(ctx, single, x);
    CHECK_FALSE(same_bits(y, z));
    double difference = 0;
    for (std::size_t i = 0; i < y.size(); ++i) difference = std::max(difference, std::fabs(y[i] - z[i]));
    CHECK(difference < 1e-5 * norm_oracle(y));
    single.refresh(ctx, values.cspan());
    const auto refreshed = applied(ctx, single, x);
    double of_third = 0;
    for (std::size_t i = 0; i < y.size(); ++i) of_third = std::max(of_third, std::fabs(3 * refreshed[i] - y[i]));
    CHECK(of_third < 1e-5 * norm_oracle(y));
  }
}

TEST_BOTH("AMG takes the precision of the system where single precision lacks the range", "[amg]") {
  for (const double factor : {1e-30, 1.0, 1e30}) {
    HostCsr a = fem_matrix("generate:diffusion:8");
    for (double& value : a.val) value *= factor;
    PrecondOptions options = small_levels();
    options.of<AmgOptions>().precision = AmgPrecision::automatic;
    const auto m = amg<double, S>(ctx, a, options);
    const bool single = contains(m.info().detail, "in single precision");
    CHECK(single == (factor == 1.0));
  }
}

TEST_BOTH("AMG inverts a small matrix, and the regular part of a singular one", "[amg]") {
  const HostCsr a = tridiagonal_matrix(20);
  CHECK(largest(dense_operator(ctx, amg<double, S>(ctx, a)) - eigen_dense(a).inverse()) < 1e-13);
  CHECK(applied(ctx, amg<double, S>(ctx, diagonal_matrix(1)), {1.0})[0] == 1 / diagonal_matrix(1).val[0]);
  CHECK(applied(ctx, amg<double, S>(ctx, empty_matrix(0, 0)), {}).empty());

  const HostCsr singular = neumann_grid(9, 9);
  const auto m = amg<double, S>(ctx, singular, small_levels(20));
  REQUIRE(m.hierarchy().levels().size() >= 2);
  CHECK(m.hierarchy().null_vectors() == 1);
  const EigenDense dense = dense_operator(ctx, m);
  CHECK(largest(dense - dense.transpose()) < 1e-12 * largest(dense));
  CHECK(largest(dense) < 100);
  CHECK(amg<float, S>(ctx, singular, small_levels(20)).hierarchy().null_vectors() == 1);
}

TEST_BOTH("AMG smooths alone what does not coarsen, and says so", "[amg]") {
  const auto diagonal = amg<double, S>(ctx, diagonal_matrix(400), small_levels(256));
  CHECK(diagonal.hierarchy().levels().size() == 1);
  CHECK(contains(diagonal.info().detail, "only the smoother is used"));
  // A multiple of the inverse.
  const HostCsr d = diagonal_matrix(400);
  const auto ones = std::vector<double>(400, 1.0);
  const auto z = applied(ctx, diagonal, ones);
  for (Index i = 1; i < 400; ++i) REQUIRE(std::fabs(z[i] * d.val[i] / (z[0] * d.val[0]) - 1) < 1e-14);

  const HostCsr of_pieces = pieces(diagonal_matrix(50), fem_matrix("generate:diffusion:8"));
  const auto pieces_too = amg<double, S>(ctx, of_pieces, small_levels(256));
  CHECK(pieces_too.hierarchy().levels().size() == 2);
}

TEST_BOTH("AMG names a row whose diagonal entry is zero, in the caller's numbering", "[amg]") {
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

namespace {

// apply_dot against apply, for cycles that end in every way.
template <class T, Space S>
void check_dots() {
  const auto ctx = make_context<S>();
  const MeshSystem system("generate:elasticity:6");
  const std::vector<Index> order = random_order(system.a.rows, 3);
  const auto with = [](auto&& change) {
    PrecondOptions options = small_levels(40);
    change(options.of<AmgOptions>());
    return options;
  };
  const std::pair<const char*, PrecondOptions> variants[] = {
      {"usual", small_levels(40)},
      {"one level, inverted", small_levels(4000)},
      {"degree 1", with([](AmgOptions& o) { o.degree = 1; })},
      {"degree 5", with([](AmgOptions& o) { o.degree = 5; })},
      {"fsai", with([](AmgOptions& o) { o.smoother = AmgSmoother::fsai; })},
      {"no strong neighbours", with([](AmgOptions& o) { o.theta = 1; })},
  };
  for (auto [name, options] : variants) {
    for (const AmgPrecision precision : {AmgPrecision::system, AmgPrecision::single}) {
      INFO(name << (precision == AmgPrecision::single ? ", single" : ""));
      options.template of<AmgOptions>().precision = precision;
      const auto m = amg<T, S>(ctx, system.a, options, system.coordinates, order);
      const auto x = random_vector<T>(system.a.rows);
      const std::vector<T> expected = applied(ctx, m, x);
      const auto at_x = upload(ctx, x);
      auto y = poisoned<T>(ctx, m.rows());
      auto xy = upload(ctx, std::vector<double>{-1});
      m.apply_dot(ctx, at_x.cspan(), y.span(), xy.data());
      CHECK(same_bits(download(ctx, y), expected));
      double exact = 0, size = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double term = double(x[i]) * double(expected[i]);
        exact += term;
        size += std::abs(term);
      }
      CHECK(std::abs(download(ctx, xy)[0] - exact) <= 1e-13 * size);
    }
  }
}

}  // namespace

TEST_BOTH("On a device AMG inverts up to 1024 rows where they are definite", "[amg]") {
  const Context<Space::host> host_ctx;
  const auto last_of = [](const auto& m) { return m.hierarchy().levels().back().a.scalar_rows(); };
  for (const bool definite : {true, false}) {
    // The second level has some 800 rows. Neumann conditions leave every level singular.
    const HostCsr a = definite ? fem_matrix("generate:diffusion:22") : neumann_grid(110, 90);
    auto m = amg<double, S>(ctx, a);
    const Index last = last_of(m);
    INFO(last << " rows");
    const bool more = S == Space::device && definite;
    CHECK((last > 256) == more);
    CHECK(last <= 1024);
    PrecondOptions said = amg_options();
    said.of<AmgOptions>().max_coarse = 256;
    CHECK(last_of(amg<double, S>(ctx, a, said)) <= 256);
    if (!definite) continue;
    // The same cycle as where that size is asked for, also after a refresh.
    said.of<AmgOptions>().max_coarse = std::max<Index>(last, 256);
    auto expected = amg<double, Space::host>(host_ctx, a, said);
    REQUIRE(last_of(expected) == last);
    const auto x = random_vector<double>(a.rows);
    const auto agree = [&] {
      const auto found = applied(ctx, m, x), wanted = applied(host_ctx, expected, x);
      double difference = 0;
      for (std::size_t i = 0; i < x.size(); ++i) difference = std::max(difference, std::abs(found[i] - wanted[i]));
      CHECK(difference < 1e-11 * norm_oracle(wanted));
    };
    agree();
    std::vector<double> values = a.val;
    for (double& value : values) value *= 3;
    m.refresh(ctx, upload(ctx, values).cspan());
    expected.refresh(host_ctx, upload(host_ctx, values).cspan());
    agree();
  }
}

TEST_BOTH("AMG forms x.M x with M x, whatever its cycle ends with", "[amg]") {
  check_dots<double, S>();
  check_dots<float, S>();
}

TEST_ON_HOST("AMG refuses coordinates, vectors and options that make no sense", "[amg]") {
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

TEST_ON_HOST("AMG names what is not finite in vectors and coordinates, also in those that it has no use for",
             "[amg]") {
  const HostCsr a = tridiagonal_matrix(30);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const auto vectors = std::make_shared<NearNullVectors>(NearNullVectors{2, std::vector<double>(60, 1.0)});
    PrecondOptions given = amg_options();
    given.of<AmgOptions>().vectors = vectors;
    CHECK_NOTHROW(amg<double, host>(ctx, a, given));
    vectors->values[2 * 7 + 1] = bad;
    CHECK(contains(message_of<InputError>([&] { amg<double, host>(ctx, a, given); }),
                   "vector 1 is not finite in row 7"));
    const auto scalar = std::make_shared<NodeCoordinates>(NodeCoordinates{std::vector<double>(60, 0.0), 2});
    CHECK_NOTHROW(amg<double, host>(ctx, a, amg_options(), scalar));  // a node a row: no rigid body modes
    scalar->xyz[59] = bad;
    CHECK(contains(message_of<InputError>([&] { amg<double, host>(ctx, a, amg_options(), scalar); }), "node 29"));
  }
}

TEST_BOTH("AMG takes the caller's near-null vectors, or rigid modes, or constants", "[amg]") {
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
