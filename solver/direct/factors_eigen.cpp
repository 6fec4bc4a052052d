// SPDX-License-Identifier: Apache-2.0
// Eigen's orders and sparse factorisations. The only source of the library that includes Eigen.
#include <algorithm>

// A program may use Eigen itself, compiled for other instructions and with another alignment: functions of the same
// name would then be merged. Under another name of the namespace they are not the same.
#define Eigen NewelEigen
#define EIGEN_MPL2_ONLY
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>

#include "solver/cost/profiles/factor_constants.hpp"
#include "solver/direct/factor_rows.hpp"
#include "solver/direct/symmetric_orders.hpp"

namespace newel::detail {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, Index>;
using Order = Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, Index>;
using AsGiven = Eigen::NaturalOrdering<Index>;  // patterns come in their order

Matrix matrix_of(const ColumnPattern& pattern) {
  const std::vector<double> ones(pattern.row.size(), 1.0);
  return Eigen::Map<const Matrix>(pattern.size, pattern.size, pattern.entries(), pattern.begin.data(),
                                  pattern.row.data(), ones.data());
}

// Whether each entry has one on the other side of the diagonal. Columns in turn find those of theirs that lie below
// the diagonal, in the columns of these rows above it.
bool is_symmetric(const ColumnPattern& pattern) {
  std::vector<Index> next(pattern.begin.begin(), pattern.begin.end() - 1);
  for (Index j = 0; j < pattern.size; ++j) {
    const auto at = static_cast<std::size_t>(j);
    for (Index e = pattern.begin[at]; e < pattern.begin[at + 1]; ++e) {
      const auto i = static_cast<std::size_t>(pattern.row[static_cast<std::size_t>(e)]);
      if (i <= at) continue;
      if (next[i] == pattern.begin[i + 1] || pattern.row[static_cast<std::size_t>(next[i]++)] != j) return false;
    }
  }
  for (std::size_t j = 0; j < next.size(); ++j) {
    const bool is_last = next[j] == pattern.begin[j + 1];
    if (!is_last && static_cast<std::size_t>(pattern.row[static_cast<std::size_t>(next[j])]) < j) return false;
  }
  return true;
}

ColumnPattern with_transpose(const ColumnPattern& pattern) {
  const Matrix one = matrix_of(pattern), both = one + Matrix(one.transpose());
  return {pattern.size,
          {both.outerIndexPtr(), both.outerIndexPtr() + pattern.size + 1},
          {both.innerIndexPtr(), both.innerIndexPtr() + both.nonZeros()}};
}

// Entries without values: a symmetric pattern by columns, with all its diagonal entries.
Eigen::SparseMatrix<signed char, Eigen::ColMajor, Index> with_diagonal(const ColumnPattern& pattern) {
  Eigen::SparseMatrix<signed char, Eigen::ColMajor, Index> whole(pattern.size, pattern.size);
  whole.resizeNonZeros(Eigen::Index{pattern.entries()} + pattern.size);
  Index* const begin = whole.outerIndexPtr();
  Index* const row = whole.innerIndexPtr();
  Index* to = row;
  for (Index j = 0; j < pattern.size; ++j) {
    const auto at = static_cast<std::size_t>(j);
    begin[j] = static_cast<Index>(to - row);
    *to++ = j;
    for (Index e = pattern.begin[at]; e < pattern.begin[at + 1]; ++e) {
      const Index i = pattern.row[static_cast<std::size_t>(e)];
      if (i != j) *to++ = i;
    }
  }
  begin[pattern.size] = static_cast<Index>(to - row);
  whole.resizeNonZeros(to - row);
  return whole;
}

std::vector<Index> new_numbers(const Order& order) {
  return {order.indices().data(), order.indices().data() + order.size()};
}

Eigen::Map<Eigen::MatrixXd> columns_of(std::vector<double>& v, Index rows) {
  return {v.data(), rows, static_cast<Eigen::Index>(v.size()) / rows};
}

// Eigen's functor gives the new number of each old one. COLAMD: Davis, Gilbert, Larimore and Ng 2004.
std::vector<Index> order_columns(const ColumnPattern& pattern) {
  Order numbers;
  Eigen::COLAMDOrdering<Index>()(matrix_of(pattern), numbers);
  return new_numbers(numbers);
}

// Eigen's L D L^T of a pattern that is in its order: with its own NaturalOrdering it copies the matrix three times.
class Preordered : public Eigen::SimplicialLDLT<Matrix, Eigen::Upper, AsGiven> {
 public:
  void analyse(const Matrix& upper) { analyzePattern_preordered(upper, true); }
  void factorise(const Matrix& upper) { factorize_preordered<true>(upper); }
};

// A = L D L^T without pivoting.
class Ldlt final : public Factors {
 public:
  explicit Ldlt(const FactorTask& task) {
    const auto seconds_of = [](const Fill& fill) {
      return factor_constants.ldlt_seconds_per_entry * fill.entries +
             fill.squares / factor_constants.ldlt_squares_per_second;
    };
    const SymmetricOrder& best = task.orders.best(seconds_of);
    order_ = best.new_number;
    cost_ = {factor_constants.ldlt_bytes_per_entry * best.fill.entries, seconds_of(best.fill)};
  }

  const std::vector<Index>& order() const override { return order_; }
  FactorCost cost() const override { return cost_; }
  void analyse(const ColumnPattern& upper) override {
    matrix_ = matrix_of(upper);
    solver_.analyse(matrix_);
  }
  bool factorise(const std::vector<double>& values) override {
    std::copy(values.begin(), values.end(), matrix_.valuePtr());
    solver_.factorise(matrix_);
    return solver_.info() == Eigen::Success && solver_.vectorD().allFinite();
  }
  void solve(std::vector<double>& v) override {
    auto x = columns_of(v, matrix_.rows());
    x = solver_.solve(x).eval();
  }
  void solve_transposed(std::vector<double>& v) override { solve(v); }

 private:
  std::vector<Index> order_;
  FactorCost cost_;
  Matrix matrix_;
  Preordered solver_;
};

// P A = L U with row pivoting, supernodal (Demmel, Eisenstat, Gilbert, Li and Liu 1999).
class Lu final : public Factors {
 public:
  explicit Lu(const FactorTask& task) : order_(order_columns(task.whole)) {
    const Fill fill = fill_of_lu(task.whole, order_, task.most_entries);
    cost_ = {factor_constants.lu_bytes_per_entry * fill.entries +
                 factor_constants.lu_bytes_per_nonzero * task.whole.entries(),
             fill.squares / factor_constants.lu_squares_per_second};
  }

  const std::vector<Index>& order() const override { return order_; }
  FactorCost cost() const override { return cost_; }
  void analyse(const ColumnPattern& pattern) override {
    matrix_ = matrix_of(pattern);
    solver_.analyzePattern(matrix_);
  }
  bool factorise(const std::vector<double>& values) override {
    std::copy(values.begin(), values.end(), matrix_.valuePtr());
    solver_.factorize(matrix_);
    return solver_.info() == Eigen::Success;
  }
  void solve(std::vector<double>& v) override {
    auto x = columns_of(v, matrix_.rows());
    x = solver_.solve(x).eval();
  }
  void solve_transposed(std::vector<double>& v) override {
    Eigen::Map<Eigen::VectorXd> x(v.data(), matrix_.rows());
    x = solver_.transpose().solve(x).eval();
  }

 private:
  std::vector<Index> order_;
  FactorCost cost_;
  Matrix matrix_;
  Eigen::SparseLU<Matrix, AsGiven> solver_;
};

template <class Kind>
std::unique_ptr<Factors> make(const FactorTask& task) {
  return std::make_unique<Kind>(task);
}

const std::string& nothing() {
  static const std::string none;
  return none;
}

HostFactorisation row(const char* title, bool symmetric) {
  HostFactorisation made;
  made.about = {title, Space::host, "MPL-2.0", "libeigen3-dev", ""};
  made.symmetric = symmetric;
  made.missing = &nothing;
  return made;
}

}  // namespace

// Eigen's minimum degree counts each node among its own neighbours. If the diagonal entries of some are missing, as
// in a saddle point, degrees do not compare: L of a plate of 16,385 rows had 9.1 million entries instead of 540,000.
// The functor would add the transpose to every pattern, which takes as long as the order. The function needs a
// symmetric one, and writes where it should not otherwise: values may be symmetric, to rounding, and the pattern not.
// It gives the old number of each new one.
std::vector<Index> minimum_degree_order(const ColumnPattern& whole) {
  Order old_numbers;
  auto graph = with_diagonal(is_symmetric(whole) ? whole : with_transpose(whole));
  Eigen::internal::minimum_degree_ordering(graph, old_numbers);
  return new_numbers(old_numbers.inverse());
}

ColumnPattern symmetric_graph(const ColumnPattern& whole) {
  ColumnPattern graph = is_symmetric(whole) ? whole : with_transpose(whole);
  std::size_t to = 0;
  for (Index j = 0, e = 0; j < graph.size; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const Index end = graph.begin[at + 1];
    for (; e < end; ++e) {
      const Index i = graph.row[static_cast<std::size_t>(e)];
      if (i != j) graph.row[to++] = i;
    }
    graph.begin[at + 1] = static_cast<Index>(to);
  }
  graph.row.resize(to);
  return graph;
}

HostFactorisation eigen_ldlt() {
  HostFactorisation made = row("L D L^T by Eigen", true);
  made.make = &make<Ldlt>;
  return made;
}

HostFactorisation eigen_lu() {
  HostFactorisation made = row("L U by Eigen", false);
  made.make = &make<Lu>;
  return made;
}

}  // namespace newel::detail
