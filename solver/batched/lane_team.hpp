// SPDX-License-Identifier: Apache-2.0
/// LaneTeam: one thread of the host, which works on eight systems of a batch at once. Internal.
#pragma once

#include <algorithm>
#include <cstring>

#include <newel/core/csr.hpp>
#include "solver/batched/batched_gmres.hpp"
#include "solver/batched/batched_inverse.hpp"
#include "solver/batched/precise_sum.hpp"

namespace newel::detail {

/// Systems of a group: two vectors of four doubles with AVX2, so that two sums are under way at once.
inline constexpr int batched_lanes = 8;

/// A number of each lane, in registers of 32 bytes: compilers keep an array of numbers in memory.
template <class T>
struct LanePack {
  static constexpr int bytes = 32, parts = batched_lanes * static_cast<int>(sizeof(T)) / bytes;
  static constexpr int width = batched_lanes / parts;
  typedef T Part __attribute__((vector_size(bytes)));
  Part part[parts] = {};

  static void read(const T* from, int p, Part& to) { std::memcpy(&to, from + p * width, bytes); }
  void add(const T* a) {
    for (int p = 0; p < parts; ++p) {
      Part of_a;
      read(a, p, of_a);
      part[p] += of_a;
    }
  }
  void add_product(const T* a, const T* x) {
    for (int p = 0; p < parts; ++p) {
      Part of_a, of_x;
      read(a, p, of_a);
      read(x, p, of_x);
      part[p] += of_a * of_x;
    }
  }
  void write(T* to) const { std::memcpy(to, part, sizeof part); }
};

/// What a thread keeps: the values of its group, interleaved, and its vectors.
struct LaneMemory {
  std::int64_t values, inverse, vectors, small;  ///< numbers of T, of which the last are doubles

  LaneMemory(Index rows, Offset nonzeros, int own_vectors, const BatchedLimits& limits, bool has_basis)
      : values(nonzeros * batched_lanes),
        inverse(std::int64_t{rows} * limits.block_rows * batched_lanes),
        vectors((std::int64_t{own_vectors} + 1 + (has_basis ? limits.restart + 1 : 0)) * rows * batched_lanes),
        small(has_basis ? std::int64_t{BatchedSmall{limits.restart}.count()} * batched_lanes : 0) {}

  template <class T>
  std::size_t bytes() const {
    const auto numbers = static_cast<std::size_t>(values + inverse + vectors) * sizeof(T);
    return (numbers + static_cast<std::size_t>(small) * sizeof(double) + 63) / 64 * 64;
  }
};

/// The team of `solve_group` on the host. An entry of a vector is at row * 8 + lane; a lane without a system has
/// zeros.
template <class T>
class LaneTeam {
 public:
  using Value = T;
  static constexpr int lanes = batched_lanes;

  struct At {
    std::int64_t at;
    int lane;
    Index row;
  };
  struct Own {
    T* v;
    T& operator[](At i) const { return v[i.at]; }
  };

  /// `bytes`: memory for `need`, aligned. `systems`: the systems of the group, at most eight.
  LaneTeam(const BatchedProblem<T>& problem, const Pattern<Space::host>& pattern, const LaneMemory& need, char* bytes,
           Span<const Index, Space::host> systems)
      : problem_(problem), pattern_(pattern), systems_(systems) {
    small_ = reinterpret_cast<double*>(bytes);
    values_ = reinterpret_cast<T*>(small_ + need.small);
    inverse_ = values_ + need.values;
    w_ = inverse_ + need.inverse;
    next_ = w_ + std::int64_t{problem.rows} * lanes;
    load();
  }

  const BatchedProblem<T>& problem() const { return problem_; }
  bool uses(int lane) const { return lane < systems_.size; }
  BatchedOutcome outcome(int lane) const { return problem_.last(systems_[lane]); }

  /// The next vector of the group's memory.
  Own own() {
    const Own result{next_};
    next_ += std::int64_t{problem_.rows} * lanes;
    return result;
  }
  T& w(At i) const { return w_[i.at]; }
  T& basis(int j, At i) const { return next_[std::int64_t{j} * problem_.rows * lanes + i.at]; }
  double& small(int k, int lane) const { return small_[std::int64_t{k} * lanes + lane]; }
  void publish() const {}
  bool leads() const { return true; }
  template <class F>
  void alone(F&& f) const {
    f();
  }

  T rhs(At i) const { return uses(i.lane) ? problem_.b[vector_at(i)] : T(0); }
  T guess(At i) const { return uses(i.lane) ? problem_.x[vector_at(i)] : T(0); }
  BatchedRecord& record(int lane) { return records_[lane]; }
  void store(const Own& x) const {
    for (int l = 0; l < systems_.size; ++l) {
      problem_.outcome[systems_[l]] = records_[l].outcome;
      T* const to = problem_.x + std::int64_t{systems_[l]} * problem_.rows;
      for (Index row = 0; row < problem_.rows; ++row) to[row] = x.v[std::int64_t{row} * lanes + l];
    }
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
  LaneSums<K, lanes> product_sums(F&& f) const {
    Totals<K> total;
    const Offset* const row_ptr = pattern_.row_ptr64.data;
    const Index* const col = pattern_.col.data;
    for (Index row = 0; row < problem_.rows; ++row) {
      LanePack<T> sum;
      for (Offset e = row_ptr[row]; e < row_ptr[row + 1]; ++e)
        sum.add_product(values_ + e * lanes, w_ + std::int64_t{col[e]} * lanes);
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

  /// Whether M is none or diagonal.
  bool is_local() const { return problem_.limits.block_rows <= 1; }
  T scaled(At i, T r) const { return problem_.limits.block_rows == 0 ? r : inverse_[i.at] * r; }

  template <int K, class F>
  LaneSums<K, lanes> precond_sums(const Own& r, F&& f) const {
    if (is_local()) {
      return sums<K>([&](At i, double* mine) { f(i, scaled(i, r[i]), mine); });
    }
    Totals<K> total;
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
  static At at(Index row, int l) { return {std::int64_t{row} * lanes + l, l, row}; }
  std::int64_t vector_at(At i) const { return std::int64_t{systems_[i.lane]} * problem_.rows + i.row; }

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

  // The values and the inverses of the diagonal blocks.
  void load() {
    const T* from[lanes];
    for (int l = 0; l < systems_.size; ++l) from[l] = problem_.values + systems_[l] * problem_.nonzeros;
    for (Offset e = 0; e < problem_.nonzeros; ++e) {
      for (int l = 0; l < lanes; ++l) values_[e * lanes + l] = uses(l) ? from[l][e] : T(0);
    }
    const int width = problem_.limits.block_rows;
    std::fill(inverse_, w_, T(0));
    for (Index row = 0; row < problem_.rows && width > 0; ++row) {
      const Index first = row / width * width;
      for (Offset e = pattern_.row_begin(row); e < pattern_.row_begin(row + 1); ++e) {
        const Index j = pattern_.col[e] - first;
        if (j < 0 || j >= width) continue;
        T* const to = inverse_ + (std::int64_t{row} * width + j) * lanes;
        for (int l = 0; l < lanes; ++l) to[l] = values_[e * lanes + l];
      }
    }
    for (Index first = 0; first < problem_.rows && width > 0; first += width) {
      const int m = std::min<Index>(width, problem_.rows - first);
      for (int l = 0; l < systems_.size; ++l) {
        invert_batched_block(inverse_ + std::int64_t{first} * width * lanes + l, m, width, lanes);
      }
    }
  }

  const BatchedProblem<T>& problem_;
  const Pattern<Space::host>& pattern_;
  Span<const Index, Space::host> systems_;
  BatchedRecord records_[lanes];
  double* small_;
  T *values_, *inverse_, *w_, *next_;
};

}  // namespace newel::detail
