// SPDX-License-Identifier: Apache-2.0
/// The constants of decisions: what an estimate has to promise before a solve moves, whatever the machine. Internal.
#pragma once

namespace newel::detail {

/// What a setup has missed or will save, over its price and what the solve takes after it, before it is
/// bought: however wrong the iterations to come are estimated, the total then is at most 1 + 1/least_missed times
/// what it would have been, and 3 times where the solve behind it takes a tenth of that or more.
inline constexpr double least_missed = 0.45;
/// What a setup is expected to save over its price before it is bought by a measured estimate: for a little that is
/// gained at some risk.
inline constexpr double usual_margin = 1.1;

/// When a format or a preconditioner is worth its setup.
struct WorthConstants {
  /// What is solved twice is seldom solved only twice: iterations of so many solves are expected at the least.
  static constexpr double few_solves = 8;
  /// How much longer than just enough to wait.
  static constexpr double a_little_more = 1.02;
  /// In the place of a format that is about to be set up in mid-solve for as many seconds a preconditioner need not
  /// save much more than that: its own seconds depend less on how many iterations are to come.
  static constexpr double times_for_format = 1.6;
  /// Of the seconds that the solves have taken, that reading a pattern may take: no setup waits for it.
  static constexpr double small_share = 0.3;
  /// Over the seconds of an iteration in single precision, for systems that take more of them, or that single
  /// precision does not suffice for.
  static constexpr double single_margin = 1.2;
  /// Seconds of a solve on the host beyond which a look at the values to find its solver is not worth it.
  static constexpr double long_host_solve = 1;
};

/// How far estimates of the iterations to come are believed.
struct DoubtConstants {
  /// Times what its size makes expect, that a solve may take by its condition number alone.
  static constexpr double far = 16;
  /// Times what an estimate promised, from where on it is doubted; and times the iterations that there were, which
  /// are then expected at the most.
  static constexpr double overrun = 2, most_again = 2;
};

/// How often a solve is asked. A device waits for the host each time, as long as some iterations of a small system.
struct AskingConstants {
  /// Of its price, that a setup saves where it is near it.
  static constexpr double near = 1.0 / 3;
  /// Where nothing is near, the iterations after which to ask again over those that there were; where that is
  /// doubted.
  static constexpr int times = 4;
  static constexpr double half_again = 1.5;
  /// A host asks again after one in so many of the iterations that there were.
  static constexpr int of_those_before = 16;
  /// Where a solve of so many times the expected iterations would not pay, it is not asked before such a share of
  /// them.
  static constexpr double more = 1.5, half = 0.5;
};

/// Probation of a stronger preconditioner.
struct ProbationConstants {
  /// Iterations that a recurrence needs to get going, and times the seconds of the weaker one for a tenth.
  static constexpr double grace = 16, times_weaker = 2;
  /// Of the square of the error in the norm of A, half as much in an iteration as the weaker one did in the last
  /// before it: what that would gain now, since a recurrence that begins again is slower at first. In plane
  /// elasticity of Poisson's ratios of 0.3 to 0.499999, of squares, beams, flat elements and contrasts, behind 900 to
  /// 3,500 iterations with Jacobi, whose residual was 10 to 500 |b|: in the first 16 iterations AMG gained 1.4 to 81
  /// times as much as Jacobi in the last 16, FSAI 0.80 to 3.3 times, Jacobi begun again 0.41 to 0.61 times, a
  /// diagonal that is off by up to e 0.29 to 0.36 times and one by up to e^4 0.03 to 0.07 times.
  static constexpr double begun_again = 0.5;
  /// Whether it falls too slowly is asked behind so many iterations, up to such a share of the weaker one's solve; it
  /// does where so many times what the weaker one took for a solve is left.
  static constexpr int enough = 16;
  static constexpr double early = 1.0 / 8, clearly = 2;
};

/// Whole solves with a stronger preconditioner against those with the weaker one.
struct WholeSolveConstants {
  /// Solves in a row that took longer; one that took far longer is enough.
  static constexpr int solves_to_leave = 2;
  /// Times what the weaker one took, measured and estimated; far longer.
  static constexpr double clearly = 1.2, clearly_if_estimated = 1.4, by_far = 1.5;
};

/// Iterations of one solve with the simple preconditioner, over those of any matrix of its size. Fitted to diffusion
/// and elasticity on 16 meshes, refined up to once: with 1 for all the estimates behind 16 to 64 iterations were 1.25
/// and 0.45 times what came, in the means of logarithms.
struct UsualIterations {
  static constexpr double of_blocks = 2, of_mesh = 0.65;
};

/// Iterations of CG that are sure to come, over what its size makes expect. On 27 meshes, diffusion and elasticity,
/// b = 1 and b = A times a random x, all solves but those of one long thin body took 0.4 to 20 times what their size
/// makes expect, that one 0.2 to 0.4 times; the matrix of a grid with seven entries in a row takes 0.27 times.
struct SureIterations {
  static constexpr double of_mesh = 1.0 / 3, of_any = 0.2;
};

}  // namespace newel::detail
