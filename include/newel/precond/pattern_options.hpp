// SPDX-License-Identifier: Apache-2.0
/// PatternOptions: what preconditioners that are sparse matrices have in common.
#pragma once

#include <cmath>
#include <memory>

#include <newel/precond/given_pattern.hpp>
#include <newel/precond/preconditioner.hpp>

namespace newel {

/// Which entries the approximate inverses SPAI and FSAI may have.
struct PatternOptions {
  /// Entries with |a_ij| <= drop sqrt(|a_ii a_jj|) are left out of A's pattern before its powers are formed. A's
  /// values themselves all count. 0: every stored entry is in the pattern. At least 0.
  double drop = 0;
  /// SPAI: M has entries there and nowhere else. FSAI: G has them where this or its transpose has one, on and below
  /// the diagonal in solver order. In the place of powers (1 then), drop and adaptive growth (0 then). Null: as they
  /// say.
  std::shared_ptr<const GivenPattern> pattern = nullptr;
};

/// `--fsai-drop`, which is `--spai-drop` too.
MethodOption drop_option();

/// Throws InputError for a drop that is not finite or negative, and for a given pattern beside one that is `shaped`.
void check_pattern_options(const PrecondOptions& options, bool shaped);

/// How many times the entries of A its power has on a 3-D mesh, roughly.
inline double pattern_growth(int power) { return std::pow(power, 2.5); }

}  // namespace newel
