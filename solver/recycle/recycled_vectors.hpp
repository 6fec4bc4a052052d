// SPDX-License-Identifier: Apache-2.0
/// RecycledVectors: the vectors that a sequence of solves passes on. Internal.
#pragma once

#include <cstdint>

#include <newel/core/array.hpp>

namespace newel::detail {

/// What the vectors are approximate eigenvectors of, by the method that has left them.
enum class RecycledKind {
  none,
  preconditioned,  ///< M A, for CG
  cycles,          ///< A M, or M A from the left, for GMRES
};

/// Of RecycledVectors, what another run needs besides the vectors.
struct RecycledState {
  RecycledKind kind = RecycledKind::none;
  int held = 0, next = 0;
  double largest = 0;
  bool prepared = false;  ///< for the present values of A
};

/// Up to a number of vectors in single precision. What methods compute of them belongs to a *version*, which changes
/// with the vectors and with the values of A.
template <Space S>
class RecycledVectors {
 public:
  /// Columns that follow each other.
  struct Places {
    int first, count;
  };

  explicit RecycledVectors(int most = 0) : most_(most) {}

  int most() const { return most_; }
  int held() const { return state_.held; }
  Span<float, S> vector(int j) { return {W_.data() + j * n_, n_}; }

  /// Room for vectors of n unknowns; the first call allocates. Throws OutOfMemory.
  void make_room(const Context<S>& ctx, std::int64_t n);
  /// Where the next vectors go: behind those that are held, or over the oldest.
  Places places(int wanted) const;
  /// Vectors of this kind have been written there; `largest` is the largest eigenvalue that is known.
  void added(RecycledKind kind, const Places& at, double largest);
  /// The first `count` columns of `others` in place of all, which it gets in return.
  void replace(RecycledKind kind, Array<float, S>& others, int count);
  void forget();
  /// A has other values.
  void values_changed();
  std::uint64_t version() const { return version_; }

  /// A product has been made with each of them, for this version.
  void prepared();
  /// Products so far.
  std::int64_t products() const { return products_; }

  const RecycledState& state() const { return state_; }
  /// As another run left them; the caller writes the vectors.
  void begin_state(const Context<S>& ctx, std::int64_t n, const RecycledState& state);

 private:
  int most_;
  std::int64_t n_ = 0;
  RecycledState state_;
  std::uint64_t version_ = 1;
  bool counted_ = false;  ///< the next products are among those of the run that a state came from
  std::int64_t products_ = 0;
  Array<float, S> W_;
  bool has_room_ = false;
};

}  // namespace newel::detail
