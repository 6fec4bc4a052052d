// SPDX-License-Identifier: Apache-2.0
/// The constants of estimates of the iterations to come, whatever the machine. Internal.
#pragma once

namespace newel::detail {

/// `CgSpectrum::left`, which explains them.
struct SpectrumConstants {
  static constexpr double share_of_bound = 0.4, of_size = 0.6, unseen = 3.7, of_late = 0.7;
  static constexpr double short_plateau = 0.1, long_plateau = 0.3;
  static constexpr double share_gone = 1.5, least_share = 0.7, share_of_size = 0.3, least_of_size = 1.2, raised = 1.1;
};

/// `ResidualRate::sure`: iterations of CG that remain at least.
struct SureConstants {
  /// Times the iterations so far, at most and at least; 1 after `once_at` iterations.
  static constexpr double most_times = 2.5, least_times = 0.5, once_at = 192;
  /// Or, where that is more, what is missing to so many: of any solve.
  static constexpr double of_any_solve = 80;
  /// None once the residual has come so far to the tolerance, in logarithms.
  static constexpr double way = 0.15;
};

}  // namespace newel::detail
