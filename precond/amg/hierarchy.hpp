// SPDX-License-Identifier: Apache-2.0
/// AmgHierarchy: the matrices, prolongators and smoothers of all levels on the host, in double; set up from a matrix,
/// and computed again for new values on the same patterns. Internal.
#pragma once

#include <string>
#include <vector>

#include <purlin/precond/amg/amg_options.hpp>
#include <purlin/precond/amg/galerkin.hpp>
#include <purlin/precond/amg/prolongator.hpp>
#include <purlin/spmv/phase_clock.hpp>

namespace purlin::detail {

struct AmgLevel {
  BlockCsr a;
  /// D^-1 / lambda, D the diagonal of A and lambda a bound of the largest eigenvalue of D^-1 A; 0 where D is. Empty
  /// on a level that is inverted.
  std::vector<double> smoother_diagonal;
  double lambda = 0;
  AmgSmoother smoother = AmgSmoother::chebyshev;  ///< decided by the setup

  // To the next level; empty on the last one.
  Aggregates aggregates;
  std::vector<unsigned char> kept;  ///< blocks of the filtered matrix; empty: all
  Tentative tentative;
  BlockCsr p;
  GalerkinProduct galerkin;

  bool last() const { return p.pattern.rows == 0; }
};

class AmgHierarchy {
 public:
  AmgHierarchy() = default;
  /// For the matrix `a`, whose near-null space the coarse levels represent. `epsilon` is the rounding of the values.
  AmgHierarchy(const HostContext& ctx, BlockCsr a, const NearNull& near_null, const AmgOptions& options,
               double epsilon);

  /// Everything that depends on the values of the first level's matrix, which have changed; with `prolongators` those
  /// too. The same bits as a setup that finds the same aggregates and patterns (without: the same prolongators).
  void refresh(const HostContext& ctx, bool prolongators);

  const std::vector<AmgLevel>& levels() const { return levels_; }
  /// The values of the first level's matrix, to be replaced before a refresh.
  Span<double, Space::host> values() { return levels_.front().a.val.span(); }

  /// The inverse of the last level's matrix; empty where that has more rows than are inverted.
  const std::vector<double>& inverse() const { return inverse_; }
  int null_vectors() const { return null_vectors_; }
  /// Whether smoothers are chosen by measures of the matrices, not by the caller.
  bool chooses_smoothers() const { return smoother_ == AmgSmoother::automatic; }
  /// Entries of all levels' matrices over those of the first.
  double operator_complexity() const;
  /// Why there is no further level, where the last has too many rows to be inverted; else empty.
  const std::string& remark() const { return remark_; }
  std::uint64_t bytes() const;
  /// Seconds of the setup by phase.
  const std::vector<std::pair<std::string, double>>& seconds() const { return seconds_; }

 private:
  NearNull coarsen(const HostContext& ctx, const NearNull& near_null, const AmgOptions& options, PhaseClock& clock);
  void compute_prolongator(const HostContext& ctx, AmgLevel& level);
  void finish(const HostContext& ctx, PhaseClock& clock);

  std::vector<AmgLevel> levels_;
  std::vector<double> inverse_;
  int null_vectors_ = 0;
  int max_coarse_ = 0, max_width_ = 0;
  AmgSmoother smoother_ = AmgSmoother::automatic;
  bool decided_ = false;  ///< smoothers
  double epsilon_ = 0;
  std::string remark_;
  std::vector<std::pair<std::string, double>> seconds_;
};

/// The largest eigenvalue of D^-1 A: `lambda` by some steps of Lanczos' method from a fixed start, so a little too
/// small, and never above `bound`, the largest row sum of |D^-1 A|. The same bits for any number of threads.
struct EigenvalueBound {
  double lambda = 0;
  double bound = 0;
};
EigenvalueBound largest_eigenvalue(const HostContext& ctx, const BlockCsr& a, int steps);

}  // namespace purlin::detail
