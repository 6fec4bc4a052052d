// SPDX-License-Identifier: Apache-2.0
/// AmgHierarchy: the matrices, prolongators and smoothers of all levels, in double; set up from a matrix in the space
/// where that is, and computed again for new values on the same patterns. Internal.
#pragma once

#include <string>
#include <vector>

#include <newel/precond/amg/amg_options.hpp>
#include "precond/amg/smooth/eigenvalue.hpp"
#include "precond/amg/transfer/galerkin.hpp"
#include "precond/amg/transfer/prolongator.hpp"
#include "spmv/plan/phase_clock.hpp"

namespace newel::detail {

template <Space S>
struct AmgLevel {
  BlockCsr<S> a;
  /// D^-1 / lambda, D the diagonal of A and lambda a bound of the largest eigenvalue of D^-1 A; 0 where D is. Empty
  /// on a level that is inverted.
  StageArray<double, S> smoother_diagonal;
  double lambda = 0;
  EigenvalueBound spectrum;  ///< of D^-1 A, for the values that `measured` says
  bool measured = false;
  AmgSmoother smoother = AmgSmoother::chebyshev;  ///< decided by the setup

  // To the next level; empty on the last one.
  Aggregates<S> aggregates;
  StageArray<unsigned char, S> kept;  ///< blocks of the filtered matrix; empty: all
  Tentative<S> tentative;
  BlockCsr<S> p;
  GalerkinProduct<S> galerkin;

  bool last() const { return p.pattern.rows == 0; }
};

/// What setups have in common, on one rank and on several.
struct AmgRules {
  static constexpr std::size_t most_levels = 24;
  /// A level with more than this share of the unknowns before is not worth it.
  static constexpr double least_coarsening = 0.8;
  static constexpr Index coarse_width = 2;          ///< coarse levels, which have few entries, get wider prolongators
  static constexpr double damping = 4.0 / 3;        ///< omega = 4 / (3 lambda), as usual for smoothed aggregation
  static constexpr double eigenvalue_margin = 1.1;  ///< Ritz values come from below
  static constexpr int lanczos_steps = 10;
};
inline constexpr const char* nothing_strong_remark =
    "only the smoother is used, since no rows are strongly connected";
inline constexpr const char* hardly_smaller_remark = "coarsening ended, since the next level would hardly be smaller";

/// P of a level, for the smoothing factor `omega`: its pattern too, of at most `width` blocks in a row, or with
/// `keeps_pattern` its values on the pattern that it has.
template <Space S>
void compute_prolongator(const Context<S>& ctx, AmgLevel<S>& level, double omega, Index width, bool keeps_pattern);

/// Entries of all levels' matrices over those of the first.
template <Space S>
double operator_complexity(const std::vector<AmgLevel<S>>& levels);

template <Space S>
class AmgHierarchy {
 public:
  AmgHierarchy() = default;
  /// For the matrix `a`, whose near-null space the coarse levels represent. `epsilon` is the rounding of the values.
  /// `below_first`: `a` is a coarse matrix itself, and is treated as one.
  AmgHierarchy(const Context<S>& ctx, BlockCsr<S> a, NearNull<S> near_null, const AmgOptions& options, double epsilon,
               bool below_first = false);

  /// Everything that depends on the values of the first level's matrix, which have changed; with `prolongators` those
  /// too. The same bits as a setup that finds the same aggregates and patterns (without: the same prolongators).
  void refresh(const Context<S>& ctx, bool prolongators);

  /// Other near-null vectors of the first level, as many as before: those of all levels with the same aggregates. The
  /// prolongators follow in the next refresh with `prolongators`.
  void replace_near_null(const Context<S>& ctx, const NearNull<S>& near_null);

  const std::vector<AmgLevel<S>>& levels() const { return levels_; }
  /// The values of the first level's matrix, to be replaced before a refresh.
  Span<double, S> values() { return levels_.front().a.val.span(); }

  /// The inverse of the last level's matrix; empty where that has more rows than are inverted.
  const StageArray<double, S>& inverse() const { return inverse_; }
  int null_vectors() const { return null_vectors_; }
  /// Whether smoothers are chosen by measures of the matrices, not by the caller.
  bool chooses_smoothers() const { return smoother_ == AmgSmoother::automatic; }
  /// Why there is no further level, where the last has too many rows to be inverted; else empty.
  const std::string& remark() const { return remark_; }
  std::uint64_t bytes() const;
  /// Seconds of the setup by phase.
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }

 private:
  bool coarsen(const Context<S>& ctx, const NearNull<S>& near_null, const AmgOptions& options, PhaseClock& clock);
  void compute_prolongator(const Context<S>& ctx, AmgLevel<S>& level);
  void finish(const Context<S>& ctx, PhaseClock& clock);

  std::vector<AmgLevel<S>> levels_;
  StageArray<double, S> inverse_;
  int null_vectors_ = 0;
  bool small_enough(const Context<S>& ctx, PhaseClock& clock);

  int max_coarse_ = 0, max_width_ = 0;
  bool below_first_ = false;
  bool inverts_more_ = false;  ///< what is definite, on a device
  bool inverted_ = false;      ///< the last matrix, before all else
  AmgSmoother smoother_ = AmgSmoother::automatic;
  bool decided_ = false;  ///< smoothers
  double epsilon_ = 0;
  std::string remark_;
  std::vector<std::pair<std::string, double>> seconds_;
};

}  // namespace newel::detail
