// SPDX-License-Identifier: Apache-2.0
/// GuessOptions: what the solves of a sequence begin with, and GuessReport, what one of them began with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <newel/core/method_option.hpp>

namespace newel {

/// How a LinearSystem uses the solutions of its earlier solves. Stored in `SolverOptions::methods`.
struct GuessOptions {
  /// - "given": what the caller passes: the values in x, or zero (`InitialGuess`). The system keeps nothing.
  /// - "zero": zero, whatever x holds.
  /// - "extrapolate": the line or the parabola through the last two or three solutions, for steps of equal length.
  /// - "project", or "project:M": the best combination of the last M solutions, 8 by default, 1 to 32, for the
  /// present
  ///   matrix and right-hand side (P. Fischer, "Projection techniques for iterative solution of Ax = b with
  ///   successive right-hand sides", Comput. Methods Appl. Mech. Engrg. 163 (1998)). Under CG the error is the
  ///   smallest in the energy norm, under other methods the residual in the 2-norm.
  /// - "auto": as "project", as long as the iterations that it saves are estimated to exceed its own cost. Now and
  ///   then a solve begins as given, and counts the iterations that the guess saves.
  ///
  /// Every guess is compared by |b - A x| with what the caller gave and with zero, and the smallest is used: vectors
  /// that do not fit cost time, and do not change what a solve returns but for its tolerance. After new values of A,
  /// the products with all vectors are computed again. Methods that are made from a matrix need no guess, and
  /// unknowns without entries keep the caller's: nothing is kept for either.
  ///
  /// "extrapolate" and "project" hold 2 M + 2 vectors in S (M = 2 for "extrapolate") for each right-hand side of a
  /// solve, and make two or three products a solve. The first solve allocates them, later ones nothing.
  std::string guess = "given";
};

/// The row of this option, from which command lines, bindings, reports and cache keys are made.
std::vector<MethodOption> guess_option_list();

/// What a solve began with. `from` is empty if the system keeps no past solutions.
struct GuessReport {
  std::string from;           ///< "zero", "given", "extrapolated" or "projected"
  int vectors = 0;            ///< past solutions that were there
  double residual = 0;        ///< |b - A x0| of what it began with
  double given_residual = 0;  ///< of what the caller gave; |b| for zero
  /// Iterations that the last solve as given took, minus those of this solve; 0: not known. Only "auto" counts.
  double iterations_saved = 0;
  double seconds = 0;  ///< to choose the guess and to keep the solution; not part of SolveReport::seconds
};

/// The past solutions and recycled vectors of a system, to continue a sequence in another run with the same bits: see
/// `SystemHistory::guess_state`. Plain numbers, for a file.
struct GuessState {
  std::vector<std::int64_t> counts;  ///< of what `values` holds; empty: nothing
  std::vector<double> values;        ///< vectors in the caller's order, and what was counted of them
};

/// What the text of GuessOptions::guess asks for.
struct GuessRule {
  /// The texts' first words; `automatic` is "auto".
  enum class Kind { given, zero, extrapolate, project, automatic };
  static constexpr int usual_vectors = 8;  ///< of "project" without a number, and the most of "auto"
  static constexpr int most_vectors = 32;  ///< of "project:M"

  Kind kind = Kind::given;  ///< how x0 is made
  int vectors = 0;          ///< past solutions that are kept; 0: none

  /// Whether past solutions are kept.
  bool keeps() const { return vectors > 0; }
};

/// Throws InputError for other texts than those of GuessOptions::guess.
GuessRule guess_rule(const std::string& text);

}  // namespace newel
