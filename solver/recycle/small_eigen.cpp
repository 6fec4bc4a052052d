// SPDX-License-Identifier: Apache-2.0
// Hessenberg reduction, the QR algorithm with double shifts, and inverse iteration.
#include "solver/recycle/small_eigen.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace newel::detail {
namespace {

using Complex = std::complex<double>;
constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr int sweeps_for_a_value = 60;  // for one eigenvalue
constexpr int unusual_shift_each = 10;  // sweeps, after which a shift of another kind breaks a cycle

double largest_entry(const SmallMatrix& a) {
  double largest = 0;
  for (const double value : a.values) largest = std::max(largest, std::abs(value));
  return largest;
}

// The unit vector v of the reflector I - 2 v v^T that leaves only the first of `count` entries. Zero if they are.
template <int count>
void make_reflector(double (&v)[count]) {
  double squares = 0, largest = 0;
  for (const double value : v) largest = std::max(largest, std::abs(value));
  if (largest == 0) return;
  for (double& value : v) value /= largest, squares += value * value;
  v[0] += std::copysign(std::sqrt(squares), v[0]);
  double length = 0;
  for (const double value : v) length += value * value;
  for (double& value : v) value /= std::sqrt(length);
}

template <int count>
void reflect_rows(SmallMatrix& a, const double (&v)[count], int row, int first_column, int last_column) {
  for (int j = first_column; j <= last_column; ++j) {
    double sum = 0;
    for (int i = 0; i < count; ++i) sum += v[i] * a(row + i, j);
    for (int i = 0; i < count; ++i) a(row + i, j) -= 2 * sum * v[i];
  }
}

template <int count>
void reflect_columns(SmallMatrix& a, const double (&v)[count], int column, int first_row, int last_row) {
  for (int i = first_row; i <= last_row; ++i) {
    double sum = 0;
    for (int j = 0; j < count; ++j) sum += v[j] * a(i, column + j);
    for (int j = 0; j < count; ++j) a(i, column + j) -= 2 * sum * v[j];
  }
}

/// A block of rows and columns first .. last of a Hessenberg matrix without zeros below its diagonal.
struct Block {
  int first, last;
};

Block last_block(SmallMatrix& H, int last, double scale) {
  int first = last;
  for (; first > 0; --first) {
    const double around = std::abs(H(first - 1, first - 1)) + std::abs(H(first, first));
    if (std::abs(H(first, first - 1)) > eps * (around > 0 ? around : scale)) continue;
    H(first, first - 1) = 0;
    break;
  }
  return {first, last};
}

// A sweep with the eigenvalues of the last two rows as shifts (Golub and Van Loan, algorithm 7.5.1).
void sweep_block(SmallMatrix& H, const Block& block, bool unusual) {
  const auto [lo, hi] = block;
  double trace = H(hi - 1, hi - 1) + H(hi, hi);
  double determinant = H(hi - 1, hi - 1) * H(hi, hi) - H(hi - 1, hi) * H(hi, hi - 1);
  if (unusual) {
    const double size = std::abs(H(hi, hi - 1)) + std::abs(H(hi - 1, hi - 2));
    trace = 1.5 * size;
    determinant = size * size;
  }
  double v[3] = {H(lo, lo) * H(lo, lo) + H(lo, lo + 1) * H(lo + 1, lo) - trace * H(lo, lo) + determinant,
                 H(lo + 1, lo) * (H(lo, lo) + H(lo + 1, lo + 1) - trace), H(lo + 1, lo) * H(lo + 2, lo + 1)};
  for (int k = lo; k + 2 <= hi; ++k) {
    if (k > lo) {
      for (int i = 0; i < 3; ++i) v[i] = H(k + i, k - 1);
    }
    make_reflector(v);
    reflect_rows(H, v, k, std::max(k - 1, lo), hi);
    reflect_columns(H, v, k, lo, std::min(k + 3, hi));
    if (k > lo) H(k + 1, k - 1) = H(k + 2, k - 1) = 0;
  }
  double w[2] = {H(hi - 1, hi - 2), H(hi, hi - 2)};
  make_reflector(w);
  reflect_rows(H, w, hi - 1, hi - 2, hi);
  reflect_columns(H, w, hi - 1, lo, hi);
  H(hi, hi - 2) = 0;
}

std::pair<Complex, Complex> values_of_two(const SmallMatrix& H, int row) {
  const double a = H(row, row), b = H(row, row + 1), c = H(row + 1, row), d = H(row + 1, row + 1);
  const double half = (a - d) / 2, square = half * half + b * c;
  if (square < 0) {
    const double root = std::sqrt(-square);
    return {{(a + d) / 2, root}, {(a + d) / 2, -root}};
  }
  const double away = half + std::copysign(std::sqrt(square), half);
  return {d + away, away != 0 ? d - b * c / away : d};
}

// Empty if it does not converge.
std::vector<Complex> values_of(SmallMatrix H) {
  std::vector<Complex> values;
  const double scale = largest_entry(H);
  int sweeps = 0;
  for (int last = H.rows - 1; last >= 0;) {
    const Block block = last_block(H, last, scale);
    const int rows = block.last - block.first + 1;
    if (rows == 1) {
      values.emplace_back(H(last, last), 0.0);
    } else if (rows == 2) {
      const auto [one, other] = values_of_two(H, block.first);
      values.push_back(one);
      values.push_back(other);
    } else {
      if (++sweeps > sweeps_for_a_value) return {};
      sweep_block(H, block, sweeps % unusual_shift_each == 0);
      continue;
    }
    last = block.first - 1;
    sweeps = 0;
  }
  return values;
}

/// The factors of H - value I by Gaussian elimination, which exchanges neighbouring rows at most.
class ShiftedFactors {
 public:
  ShiftedFactors(const SmallMatrix& H, Complex value, double least_pivot)
      : n_(static_cast<std::size_t>(H.rows)), upper_(n_ * n_), factor_(n_), exchanged_(n_, false) {
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = i > 0 ? i - 1 : 0; j < n_; ++j)
        at(i, j) = H(static_cast<int>(i), static_cast<int>(j)) - (i == j ? value : Complex());
    }
    for (std::size_t i = 0; i < n_; ++i) {
      if (i + 1 < n_) eliminate(i);
      if (std::abs(at(i, i)) < least_pivot) at(i, i) = least_pivot;
    }
  }

  /// Replaces v by the solution.
  void solve(std::vector<Complex>& v) const {
    for (std::size_t i = 0; i + 1 < n_; ++i) {
      if (exchanged_[i]) std::swap(v[i], v[i + 1]);
      v[i + 1] -= factor_[i] * v[i];
    }
    for (std::size_t i = n_; i-- > 0;) {
      for (std::size_t j = i + 1; j < n_; ++j) v[i] -= upper_[i * n_ + j] * v[j];
      v[i] /= upper_[i * n_ + i];
    }
  }

 private:
  Complex& at(std::size_t i, std::size_t j) { return upper_[i * n_ + j]; }
  void eliminate(std::size_t i) {
    if (std::abs(at(i + 1, i)) > std::abs(at(i, i))) {
      exchanged_[i] = true;
      for (std::size_t j = i; j < n_; ++j) std::swap(at(i, j), at(i + 1, j));
    }
    factor_[i] = at(i, i) != Complex() ? at(i + 1, i) / at(i, i) : Complex();
    for (std::size_t j = i; j < n_; ++j) at(i + 1, j) -= factor_[i] * at(i, j);
  }

  std::size_t n_;
  std::vector<Complex> upper_, factor_;
  std::vector<bool> exchanged_;
};

void normalise(std::vector<Complex>& v) {
  double largest = 0, squares = 0;
  for (const Complex& value : v) largest = std::max(largest, std::abs(value));
  if (!(largest > 0)) return;
  for (Complex& value : v) value /= largest, squares += std::norm(value);
  for (Complex& value : v) value /= std::sqrt(squares);
}

// Entries without structure, other ones for each `seed`.
std::vector<Complex> start_vector(std::size_t n, std::uint64_t seed) {
  std::vector<Complex> v(n);
  std::uint64_t state = seed + 1;
  for (Complex& value : v) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = 0.5 + static_cast<double>(state >> 11) / 9007199254740992.0;
  }
  return v;
}

}  // namespace

SmallEigen::SmallEigen(const SmallMatrix& a) : H_(a), reflectors_(std::max(a.rows - 2, 0), a.rows) {
  const int n = a.rows;
  for (const double value : a.values) {
    if (!std::isfinite(value)) return;
  }
  for (int k = 0; k + 2 < n; ++k) {
    double largest = 0, squares = 0;
    for (int i = k + 1; i < n; ++i) largest = std::max(largest, std::abs(H_(i, k)));
    if (largest == 0) continue;
    for (int i = k + 1; i < n; ++i) {
      reflectors_(k, i) = H_(i, k) / largest;
      squares += reflectors_(k, i) * reflectors_(k, i);
    }
    reflectors_(k, k + 1) += std::copysign(std::sqrt(squares), reflectors_(k, k + 1));
    const double length = std::sqrt(row_product(reflectors_, k, reflectors_, k));
    for (int i = k + 1; i < n; ++i) reflectors_(k, i) /= length;
    for (int j = k; j < n; ++j) {
      double sum = 0;
      for (int i = k + 1; i < n; ++i) sum += reflectors_(k, i) * H_(i, j);
      for (int i = k + 1; i < n; ++i) H_(i, j) -= 2 * sum * reflectors_(k, i);
    }
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int j = k + 1; j < n; ++j) sum += reflectors_(k, j) * H_(i, j);
      for (int j = k + 1; j < n; ++j) H_(i, j) -= 2 * sum * reflectors_(k, j);
    }
    for (int i = k + 2; i < n; ++i) H_(i, k) = 0;
  }
  values_ = values_of(H_);
}

// Two steps: the first leaves little but the eigenvector, however it began.
std::vector<Complex> SmallEigen::vector(int j) const {
  const auto n = static_cast<std::size_t>(H_.rows);
  std::vector<Complex> v = start_vector(n, static_cast<std::uint64_t>(j));
  const double least = eps * std::max(largest_entry(H_), std::numeric_limits<double>::min() / eps);
  const ShiftedFactors factors(H_, values_[static_cast<std::size_t>(j)], least);
  for (int step = 0; step < 2; ++step) {
    factors.solve(v);
    normalise(v);
  }
  for (int k = reflectors_.rows; k-- > 0;) {
    Complex sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += reflectors_(k, static_cast<int>(i)) * v[i];
    for (std::size_t i = 0; i < n; ++i) v[i] -= 2.0 * sum * reflectors_(k, static_cast<int>(i));
  }
  return v;
}

}  // namespace newel::detail
