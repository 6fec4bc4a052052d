// SPDX-License-Identifier: Apache-2.0
/// LaneSystems: eight systems of a batch, whose values and vectors are interleaved in a thread's memory. Internal.
#pragma once

#include <algorithm>

#include <newel/core/csr.hpp>
#include "solver/batched/batched_gmres.hpp"
#include "solver/batched/inverse/lane_factors.hpp"
#include "solver/batched/inverse/lane_fsai.hpp"

namespace newel::detail {

/// What a thread keeps: the values of its group, interleaved, and its vectors.
struct LaneMemory {
  std::int64_t values, inverse, vectors, small;  ///< numbers of T, of which the last are doubles

  LaneMemory(Index rows, Offset nonzeros, int own_vectors, const BatchedLimits& limits, const BatchedFsaiPattern& fsai,
             bool has_basis)
      : values(nonzeros * batched_lanes),
        inverse(std::int64_t{rows} * limits.block_rows * batched_lanes),
        vectors((std::int64_t{own_vectors} + 1 + (has_basis ? limits.restart + 1 : 0)) * rows * batched_lanes),
        small(has_basis ? std::int64_t{BatchedSmall{limits.restart}.count()} * batched_lanes : 0) {
    if (limits.inverse == BatchedInverse::ilu) inverse = LaneFactors<double>::numbers(rows, nonzeros);
    if (limits.inverse == BatchedInverse::fsai) inverse = LaneFsai<double>::numbers(fsai);
  }

  template <class T>
  std::size_t bytes() const {
    const auto numbers = static_cast<std::size_t>(values + inverse + vectors) * sizeof(T);
    return (numbers + static_cast<std::size_t>(small) * sizeof(double) + 63) / 64 * 64;
  }
};

/// The systems of a group and their vectors. An entry of a vector is at row * 8 + lane; a lane without a system has
/// zeros.
template <class T>
class LaneSystems {
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
  LaneSystems(const BatchedProblem<T>& problem, const Pattern<Space::host>& pattern, const BatchedFsaiPattern& fsai,
              const LaneMemory& need, char* bytes, Span<const Index, Space::host> systems)
      : problem_(problem), pattern_(pattern), fsai_(fsai), systems_(systems) {
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
  Own published() const { return {w_}; }
  T& basis(int j, At i) const { return next_[std::int64_t{j} * problem_.rows * lanes + i.at]; }
  double& small(int k, int lane) const { return small_[std::int64_t{k} * lanes + lane]; }

  T rhs(At i) const { return uses(i.lane) ? problem_.b[vector_at(i)] : T(0); }
  T guess(At i) const { return uses(i.lane) ? problem_.x[vector_at(i)] : T(0); }
  BatchedRecord& record(int lane) { return records_[lane]; }
  void store(const Own& x) const {
    for (int l = 0; l < systems_.size; ++l) {
      problem_.end(systems_[l], records_[l].outcome);
      T* const to = problem_.x + std::int64_t{systems_[l]} * problem_.rows;
      for (Index row = 0; row < problem_.rows; ++row) to[row] = x.v[std::int64_t{row} * lanes + l];
    }
  }

 protected:
  static At at(Index row, int l) { return {std::int64_t{row} * lanes + l, l, row}; }
  std::int64_t vector_at(At i) const { return std::int64_t{systems_[i.lane]} * problem_.rows + i.row; }

  const BatchedProblem<T>& problem_;
  const Pattern<Space::host>& pattern_;
  const BatchedFsaiPattern& fsai_;
  Span<const Index, Space::host> systems_;
  BatchedRecord records_[lanes];
  double* small_;
  T *values_, *inverse_, *w_, *next_;

 private:
  // The values, and the factors or the inverses of the diagonal blocks.
  void load() {
    const T* from[lanes];
    for (int l = 0; l < systems_.size; ++l) from[l] = problem_.values + systems_[l] * problem_.nonzeros;
    for (Offset e = 0; e < problem_.nonzeros; ++e) {
      for (int l = 0; l < lanes; ++l) values_[e * lanes + l] = uses(l) ? from[l][e] : T(0);
    }
    if (problem_.limits.inverse == BatchedInverse::ilu) LaneFactors<T>(pattern_, inverse_).factorise(values_);
    if (problem_.limits.inverse == BatchedInverse::fsai) LaneFsai<T>(fsai_, inverse_).compute(values_);
    const int width = problem_.limits.block_rows;
    if (width == 0) return;
    std::fill(inverse_, w_, T(0));
    for (Index row = 0; row < problem_.rows; ++row) {
      const Index first = row / width * width;
      for (Offset e = pattern_.row_begin(row); e < pattern_.row_begin(row + 1); ++e) {
        const Index j = pattern_.col[e] - first;
        if (j < 0 || j >= width) continue;
        T* const to = inverse_ + (std::int64_t{row} * width + j) * lanes;
        for (int l = 0; l < lanes; ++l) to[l] = values_[e * lanes + l];
      }
    }
    for (Index first = 0; first < problem_.rows; first += width) {
      const int m = std::min<Index>(width, problem_.rows - first);
      for (int l = 0; l < systems_.size; ++l) {
        invert_batched_block(inverse_ + std::int64_t{first} * width * lanes + l, m, width, lanes);
      }
    }
  }
};

}  // namespace newel::detail
