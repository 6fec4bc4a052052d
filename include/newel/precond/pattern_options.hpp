// SPDX-License-Identifier: Apache-2.0
/// PatternOptions: options shared by preconditioners that are sparse matrices.
#pragma once

#include <cmath>
#include <memory>

#include <newel/precond/given_pattern.hpp>
#include <newel/precond/preconditioner.hpp>

namespace newel {

/// Allowed entries of the approximate inverses SPAI and FSAI.
struct PatternOptions {
  /// Entries with |a_ij| <= drop sqrt(|a_ii a_jj|) are removed from A's pattern before its powers are formed; the
  /// values of A are all used. 0: the pattern keeps every stored entry. At least 0.
  double drop = 0;
  /// SPAI: M has exactly these entries. FSAI: G has entries where this pattern or its transpose has one, on and below
  /// the diagonal in solver order. Replaces powers, drop and adaptive growth, which must be 1, 0 and 0. Null: use
  /// those options.
  std::shared_ptr<const GivenPattern> pattern = nullptr;
};

/// The option `--fsai-drop`, also named `--spai-drop`.
MethodOption drop_option();

/// Throws InputError if `drop` is negative or not finite, or if a pattern is given and `shaped` is true (other
/// options already shape the pattern).
void check_pattern_options(const PrecondOptions& options, bool shaped);

/// Approximate growth of the number of entries from A to A^power on a 3-D mesh.
inline double pattern_growth(int power) { return std::pow(power, 2.5); }

}  // namespace newel
