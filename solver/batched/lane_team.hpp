// SPDX-License-Identifier: Apache-2.0
/// LaneTeam: one thread of the host, which works on eight systems of a batch at once. Internal.
#pragma once

#include <algorithm>

#include "solver/batched/lane_systems.hpp"
#include "solver/batched/precise_sum.hpp"

namespace newel::detail {

/// The team of `solve_group` on the host: sums over the rows of all systems of a group.
template <class T>
class LaneTeam : public LaneSystems<T> {
  using Base = LaneSystems<T>;

 public:
  using Base::lanes;
  using typename Base::At;
  using typename Base::Own;

  using Base::Base;
  using Base::problem;
  using Base::rhs;

  void publish(const Own&) const {}
  void wait() const {}
  bool leads() const { return true; }
  template <class F>
  void alone(F&& f) const {
    f();
  }

  template <class F>
  void each(F&& f) const {
    for (Index row = 0; row < problem_.rows; ++row) {
#pragma omp simd
      for (int l = 0; l < lanes; ++l) f(at(row, l));
    }
  }

  template <int K, class F>
  LaneSums<K, lanes> sums(F&& f) const {
    Totals<K> total;
    for (Index row = 0; row < problem_.rows; ++row) add_row(row, f, total);
    return total.sums();
  }

  template <int K, class F>
  LaneSums<K, lanes> product_sums(const Own& v, F&& f) const {
    Totals<K> total;
    const Offset* const row_ptr = pattern_.row_ptr64.data;
    const Index* const col = pattern_.col.data;
    for (Index row = 0; row < problem_.rows; ++row) {
      LanePack<T> sum;
      for (Offset e = row_ptr[row]; e < row_ptr[row + 1]; ++e)
        sum.add_product(values_ + e * lanes, v.v + std::int64_t{col[e]} * lanes);
      add_packed(row, sum, f, total);
    }
    return total.sums();
  }

  template <class F>
  LaneSums<1, lanes> residual_sums(const Own& x, F&& f) const {
    LaneSums<1, lanes> total;
    const double minus_zero = unknown_minus_zero();
    for (Index row = 0; row < problem_.rows; ++row) {
      PreciseSum<T> sum[lanes];
      for (int l = 0; l < lanes; ++l) sum[l].hi = static_cast<double>(rhs(at(row, l)));
      for (Offset e = pattern_.row_begin(row); e < pattern_.row_begin(row + 1); ++e) {
        const T* const a = values_ + e * lanes;
        const T* const from = x.v + std::int64_t{pattern_.col[e]} * lanes;
#pragma omp simd
        for (int l = 0; l < lanes; ++l) sum[l].add_product(-a[l], from[l], minus_zero);
      }
      for (int l = 0; l < lanes; ++l) {
        const double r = sum[l].value();
        f(at(row, l), r);
        total.v[0][l] += r * r;
      }
    }
    return total;
  }

  template <class F>
  LaneSums<1, lanes> zero_residual_sums(F&& f) const {
    const T zeros[lanes] = {};
    Totals<1> total;
    for (Index row = 0; row < problem_.rows; ++row) {
      LanePack<T> sum;
      for (Offset e = pattern_.row_begin(row); e < pattern_.row_begin(row + 1); ++e)
        sum.add_product(values_ + e * lanes, zeros);
      const auto take = [&](At i, T of_zero, double* mine) {
        const double r = static_cast<double>(rhs(i)) + static_cast<double>(of_zero);
        f(i, r);
        mine[0] = r * r;
      };
      add_packed(row, sum, take, total);
    }
    return total.sums();
  }

  /// Whether M is none or diagonal.
  bool is_local() const {
    return problem_.limits.block_rows <= 1 && problem_.limits.inverse == BatchedInverse::blocks;
  }
  T scaled(At i, T r) const { return problem_.limits.block_rows == 0 ? r : inverse_[i.at] * r; }

  template <int K, class F>
  LaneSums<K, lanes> precond_sums(const Own& r, F&& f) const {
    if (is_local()) {
      return sums<K>([&](At i, double* mine) { f(i, scaled(i, r[i]), mine); });
    }
    Totals<K> total;
    if (problem_.limits.inverse != BatchedInverse::blocks) {
      const T* const z = problem_.limits.inverse == BatchedInverse::ilu
                             ? LaneFactors<T>(pattern_, inverse_).solve(r.v)
                             : LaneFsai<T>(fsai_, inverse_).apply(r.v);
      for (Index row = 0; row < problem_.rows; ++row)
        add_row(
            row, [&](At i, double* mine) { f(i, z[i.at], mine); }, total);
      return total.sums();
    }
    const int width = problem_.limits.block_rows;
    for (Index row = 0; row < problem_.rows; ++row) {
      const Index first = row / width * width, end = std::min(first + width, problem_.rows);
      LanePack<T> sum;
      for (Index j = first; j < end; ++j)
        sum.add_product(inverse_ + (std::int64_t{row} * width + (j - first)) * lanes, r.v + std::int64_t{j} * lanes);
      add_packed(row, sum, f, total);
    }
    return total.sums();
  }

 private:
  using Base::at;
  using Base::fsai_;
  using Base::inverse_;
  using Base::pattern_;
  using Base::problem_;
  using Base::values_;

  template <int K>
  struct Totals {
    LanePack<double> pack[K > 0 ? K : 1];

    LaneSums<K, lanes> sums() const {
      LaneSums<K, lanes> result;
      for (int k = 0; k < K; ++k) pack[k].write(result.v[k]);
      return result;
    }
  };

  template <int K, class F>
  static void add_row(Index row, F&& f, Totals<K>& total) {
    double terms[K > 0 ? K : 1][lanes];
#pragma omp simd
    for (int l = 0; l < lanes; ++l) {
      double mine[K > 0 ? K : 1];
      f(at(row, l), mine);
      for (int k = 0; k < K; ++k) terms[k][l] = mine[k];
    }
    for (int k = 0; k < K; ++k) total.pack[k].add(terms[k]);
  }

  // The same for a result of each lane.
  template <int K, class F>
  static void add_packed(Index row, const LanePack<T>& of_row, F&& f, Totals<K>& total) {
    T y[lanes];
    of_row.write(y);
    add_row(
        row, [&](At i, double* mine) { f(i, y[i.lane], mine); }, total);
  }
};

}  // namespace newel::detail
