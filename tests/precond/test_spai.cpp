// SPDX-License-Identifier: Apache-2.0
// SPAI solves its local problems: against Eigen's solutions in long double, at awkward sizes, without full rank.
#include "tests/catch.hpp"
#include "tests/precond/spai_support.hpp"

#include <Eigen/LU>

namespace {

// A full matrix far from singular.
HostCsr full_matrix(Index n) {
  Random random(31);
  MapRows rows(n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) rows[i][j] = random.value() + (i == j ? n : 0);
  }
  return from_rows(n, rows);
}

// M against the oracle's columns: M and A from the right, their transposes from the left.
template <class T>
void check_columns(const EigenMatrix& a, const Eigen::MatrixXi& pattern, const EigenMatrix& m,
                   const OperatorInfo& info) {
  const long double eps = std::numeric_limits<T>::epsilon();
  const EigenMatrix identity = EigenMatrix::Identity(a.rows(), a.cols());
  const EigenMatrix rest = a * m - identity;
  long double worst = 0;
  for (Index j = 0; j < a.cols(); ++j) {
    INFO("column " << j);
    const LocalOracle o = local_oracle(a, pattern, j);
    const long double residual = rest.col(j).norm();
    worst = std::max(worst, residual);
    CHECK(residual <= o.residual + (sizeof(T) == 8 ? 1e-10L : 100 * eps * o.condition));
    const long double bound = 100 * eps * (o.condition + o.condition * o.condition * o.residual) * o.scaled_length;
    long double difference = 0;
    EigenMatrix left_over = m.col(j);
    for (std::size_t k = 0; k < o.columns.size(); ++k) {
      const Index i = o.columns[k];
      difference = std::max(difference, std::fabs(m(i, j) - o.solution(k)) * o.column_norm(k));
      left_over(i, 0) = 0;
    }
    CHECK(difference <= bound);
    CHECK(left_over.norm() == 0);
  }
  const long double slack = sizeof(T) == 8 ? 1e-9L : 1e-4L;
  CHECK(std::fabs(figure(info, "residual norm") - rest.norm()) <= slack * (1 + rest.norm()));
  CHECK(std::fabs(figure(info, "worst local residual") - worst) <= slack);
  CHECK(figure(info, "diagonal fallbacks") == 0);
}

template <class T, Space S>
void check_least_squares(const NamedMatrix& named, int power) {
  const auto ctx = make_context<S>();
  const HostCsr& a = named.matrix;
  const auto there = upload_matrix<T>(ctx, a);
  const Eigen::MatrixXi pattern = pattern_oracle(a, power);
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
    INFO(named.name << (side == PrecondSide::left ? ", left" : ", right") << ", power " << power);
    const auto m =
        spai<T, S>(ctx, side == PrecondSide::left ? there.wide() : there.narrow(), spai_options(side, power));
    const EigenMatrix d = eigen_of(ctx, *m);
    if (side == PrecondSide::right)
      check_columns<T>(eigen_of(a), pattern, d, m->info());
    else
      check_columns<T>(eigen_of(a).transpose(), pattern.transpose(), d.transpose(), m->info());
  }
}

std::vector<NamedMatrix> small_matrices() {
  std::vector<NamedMatrix> all;
  for (const Index n : {1, 2, 31, 32, 33}) all.push_back({"tridiagonal", tridiagonal_matrix(n)});
  all.push_back({"diagonal", diagonal_matrix(65)});
  all.push_back({"dominant", dominant_matrix(120)});
  all.push_back({"arrow", arrow_matrix(40)});
  all.push_back({"diffusion", fem_matrix("generate:diffusion:4")});
  all.push_back({"elasticity", fem_matrix("generate:elasticity:2")});
  return all;
}

}  // namespace

TEST_BOTH("Every column of SPAI is the least-squares solution that Eigen finds", "[precond][spai]") {
  for (const auto& named : small_matrices()) {
    check_least_squares<double, S>(named, 1);
    check_least_squares<float, S>(named, 1);
    if (named.name != "elasticity") check_least_squares<double, S>(named, 2);
  }
}

TEST_BOTH("On the pattern of a full matrix SPAI is the inverse", "[precond][spai]") {
  for (const Index n : {1, 5, 31, 32, 33, 48}) {
    INFO(n);
    const HostCsr a = full_matrix(n);
    const auto there = upload_matrix<double>(ctx, a);
    const EigenMatrix inverse = eigen_of(a).inverse();
    for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
      const auto m = spai<double, S>(ctx, there.wide(), spai_options(side));
      CHECK((eigen_of(ctx, *m) - inverse).norm() <= 1e-13 * inverse.norm());
      CHECK(figure(m->info(), "residual norm") <= 1e-12);
    }
  }
}

TEST_BOTH("Rows of up to 1,000 entries are solved, in shared memory and beyond it", "[precond][spai]") {
  for (const Index n : {1, 31, 32, 33, 130, 240, 1000}) {
    INFO(n);
    const HostCsr a = dense_row_matrix(n, n / 2);
    const EigenMatrix inverse = eigen_of(a).inverse();
    // From the left, the dense row has a problem of n columns whose solution is the inverse's row.
    const auto there = upload_matrix<double>(ctx, a);
    const auto m = spai<double, S>(ctx, there.wide(), spai_options(PrecondSide::left));
    CHECK((eigen_of(ctx, *m) - inverse).norm() <= 1e-12 * inverse.norm());
    CHECK(figure(m->info(), "most local columns") == n);
    if (n > 240) continue;
    const auto turned = upload_matrix<float>(ctx, transposed(a));
    const auto f = spai<float, S>(ctx, turned.wide(), spai_options(PrecondSide::right));
    CHECK((eigen_of(ctx, *f).transpose() - inverse).norm() <= 1e-4 * inverse.norm());
  }
}

TEST_BOTH("The residual never grows with the power of the pattern", "[precond][spai]") {
  for (const std::string spec : {"generate:diffusion:5", "generate:elasticity:2"}) {
    INFO(spec);
    const auto there = upload_matrix<double>(ctx, fem_matrix(spec));
    double last = figure(spai<double, S>(ctx, there.wide(), spai_options(PrecondSide::right, 1, "spai0"))->info(),
                         "residual norm");
    for (const int power : {1, 2, 3}) {
      const double norm = figure(spai<double, S>(ctx, there.wide(), spai_options(PrecondSide::right, power))->info(),
                                 "residual norm");
      CHECK(norm <= last);
      last = norm;
    }
  }
}

TEST_BOTH("spai0 divides the diagonal by squared lengths of columns, or of rows", "[precond][spai]") {
  const HostCsr a = dominant_matrix(500);
  const auto there = upload_matrix<double>(ctx, a);
  for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
    const auto m = spai<double, S>(ctx, there.wide(), spai_options(side, 1, "spai0"));
    const EigenMatrix d = side == PrecondSide::right ? eigen_of(a) : EigenMatrix(eigen_of(a).transpose());
    const EigenMatrix found = eigen_of(ctx, *m);
    EigenMatrix expected = EigenMatrix::Zero(500, 500);
    for (Index j = 0; j < 500; ++j) expected(j, j) = d(j, j) / d.col(j).squaredNorm();
    CHECK((found - expected).cwiseAbs().maxCoeff() <= 1e-14);
    const EigenMatrix rest = d * expected - EigenMatrix::Identity(500, 500);
    CHECK(figure(m->info(), "residual norm") == Approx(static_cast<double>(rest.norm())));
    CHECK(figure(m->info(), "diagonal fallbacks") == 0);
  }
}

namespace {

struct Deficient {
  std::string name;
  HostCsr matrix;
  int fallbacks;  ///< of SPAI from the right
};

// Empty rows and columns, columns that repeat each other, zeros, infinities, numbers without a finite square.
std::vector<Deficient> deficient_matrices() {
  std::vector<Deficient> all;
  all.push_back({"nothing", empty_matrix(33, 33), 33});
  MapRows rows(40);
  for (Index i = 0; i < 40; ++i) rows[i][i] = 2;
  MapRows zero = rows;
  zero[7][7] = 0;
  all.push_back({"a zero on the diagonal", from_rows(40, zero), 1});
  MapRows equal = rows;
  for (const Index i : {3, 4}) equal[i] = {{3, 1.0}, {4, 1.0}};
  all.push_back({"two equal columns", from_rows(40, equal), 2});
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    MapRows broken = rows;
    broken[5][6] = value;
    all.push_back({"not finite", from_rows(40, broken), 1});
  }
  MapRows tiny = rows;
  tiny[9][9] = 1e-310;
  all.push_back({"without a finite inverse", from_rows(40, tiny), 1});
  return all;
}

}  // namespace

TEST_BOTH("Problems without full rank fall back to a diagonal entry, are counted, and nothing is infinite",
          "[precond][spai]") {
  for (const auto& [name, a, fallbacks] : deficient_matrices()) {
    INFO(name);
    const auto there = upload_matrix<double>(ctx, a);
    for (const PrecondSide side : {PrecondSide::right, PrecondSide::left}) {
      for (const std::string kind : {"spai", "spai0"}) {
        const auto m = spai<double, S>(ctx, there.wide(), spai_options(side, 1, kind));
        const EigenMatrix d = eigen_of(ctx, *m);
        CHECK(d.allFinite());
        for (Index j = 0; j < a.cols; ++j) CHECK(d.col(j).norm() > 0);
        if (kind == "spai") CHECK(figure(m->info(), "diagonal fallbacks") >= fallbacks);
        m->refresh(ctx, there.matrix.val.cspan());
        CHECK(eigen_of(ctx, *m) == d);
      }
    }
  }
  const Deficient equal = deficient_matrices()[2];
  const auto there = upload_matrix<double>(ctx, equal.matrix);
  CHECK(figure(spai<double, S>(ctx, there.wide(), spai_options())->info(), "diagonal fallbacks") == 2);
}

TEST_BOTH("Scale does no harm: columns of 1e200 and of 1e-200 are solved as columns of 1 are", "[precond][spai]") {
  const HostCsr a = dominant_matrix(100);
  HostCsr scaled = a;
  for (Offset k = 0; k < a.nnz(); ++k)
    scaled.val[k] *= a.col[k] % 2 == 0 ? std::ldexp(1.0, 660) : std::ldexp(1.0, -660);
  const auto there = upload_matrix<double>(ctx, a), there_scaled = upload_matrix<double>(ctx, scaled);
  const EigenMatrix m = eigen_of(ctx, *spai<double, S>(ctx, there.wide(), spai_options()));
  const auto scaled_m = spai<double, S>(ctx, there_scaled.wide(), spai_options());
  const EigenMatrix s = eigen_of(ctx, *scaled_m);
  CHECK(figure(scaled_m->info(), "diagonal fallbacks") == 0);
  for (Index i = 0; i < 100; ++i) {
    const long double factor = i % 2 == 0 ? std::ldexp(1.0L, 660) : std::ldexp(1.0L, -660);
    CHECK((s.row(i) * factor - m.row(i)).norm() <= 1e-12 * m.norm());
  }
}

TEST_BOTH("SPAI needs a square matrix", "[precond][spai]") {
  const auto there = upload_matrix<double>(ctx, ragged_matrix(40, 50));
  for (const std::string name : {"spai", "spai0"}) {
    CHECK(contains(message_of<InputError>(
                       [&] { spai<double, S>(ctx, there.wide(), spai_options(PrecondSide::right, 1, name)); }),
                   "square"));
  }
}
