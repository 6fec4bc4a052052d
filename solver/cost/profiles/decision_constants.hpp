// SPDX-License-Identifier: Apache-2.0
/// The constants of decisions: what an estimate has to promise before a solve moves, on any machine. Internal.
#pragma once

namespace newel::detail {

/// Nothing is set up until its savings, past and certain, are this share of its cost and of the rest of the solve.
/// However wrong the estimate of the remaining iterations is, the total is then at most 1 + 1/least_missed times what
/// it would have been, and 3 times if the solve after the setup takes a tenth of that or more.
inline constexpr double least_missed = 0.45;
/// With a measured estimate, the expected savings of a setup over its cost. A smaller gain is not worth the risk.
inline constexpr double usual_margin = 1.1;

/// When a format or a preconditioner is worth its setup.
struct WorthConstants {
  /// A system that is solved twice is usually solved more often: at least the iterations of so many solves are
  /// expected.
  static constexpr double few_solves = 8;
  /// The time of the next check over the time when rule 1 will hold.
  static constexpr double a_little_more = 1.02;
  /// A preconditioner may replace a format whose setup takes as long, if that is about to be set up in mid-solve. It
  /// may save slightly less, because its time depends less on how many iterations remain.
  static constexpr double times_for_format = 1.6;
  /// The share of the seconds of all solves so far that reading a pattern may take: no setup waits for it.
  static constexpr double small_share = 0.3;
  /// The same if nothing says that solves take long.
  static constexpr double least_share = 0.02;
  /// Times the seconds of an iteration in single precision: some systems take more iterations, and for some single
  /// precision is not enough.
  static constexpr double single_margin = 1.2;
  /// A solve on the host that is estimated to take more seconds does not inspect the values to find its solver.
  static constexpr double long_host_solve = 1;
};

/// How far estimates of the remaining iterations are used.
struct DoubtConstants {
  /// The estimate from the condition number alone is at most so many times the estimate from the size.
  static constexpr double far = 16;
  /// An estimate is no longer used once a solve has taken `overrun` times as many iterations. Then up to `most_again`
  /// times the iterations so far are expected to follow.
  static constexpr double overrun = 2, most_again = 2;
};

/// How often a solve checks. A device waits for the host each time, as long as a few iterations of a small system.
struct AskingConstants {
  /// A setup is near its time if it saves this share of its cost.
  static constexpr double near = 1.0 / 3;
  /// If no setup is near, the next check comes after this factor times the iterations so far. The second value is
  /// used if the estimate is no longer used.
  static constexpr int times = 4;
  static constexpr double half_again = 1.5;
  /// A host checks again after this fraction (1 / 16) of the iterations so far.
  static constexpr int of_those_before = 16;
  /// If no setup would be worth its cost even with `more` times the expected iterations, the first check comes after
  /// the share `half` of them.
  static constexpr double more = 1.5, half = 0.5;
};

/// Probation of a stronger preconditioner.
struct ProbationConstants {
  /// Iterations that a recurrence needs at its start; factor on the weaker one's seconds for a tenth of |r|.
  static constexpr double grace = 16, times_weaker = 2;
  /// The same factor for methods that keep their preconditioner (MINRES), while only the iterations so far say how
  /// many remain: usually far more remain.
  static constexpr double times_if_kept = 4;
  /// Of the square of the error in the norm of A: half as much per iteration as the weaker one gained in its last
  /// ones. The weaker one would gain that much now, because a recurrence is slower after a restart. Measured in plane
  /// elasticity with Poisson's ratios of 0.3 to 0.499999, on squares, beams, flat elements and contrasts, after 900
  /// to 3,500 iterations with Jacobi, whose residual was 10 to 500 |b|. The first 16 iterations of each were compared
  /// with the last 16 of Jacobi. AMG gained 1.4 to 81 times as much, FSAI 0.80 to 3.3 times, Jacobi after a restart
  /// 0.41 to 0.61 times. A diagonal that is off by up to e gained 0.29 to 0.36 times, and one by up to e^4 0.03 to
  /// 0.07 times.
  static constexpr double begun_again = 0.5;
  /// After `enough` iterations, and up to the share `early` of the weaker one's solve, the rate is checked. The
  /// residual falls too slowly if `clearly` times the weaker one's solve remains.
  static constexpr int enough = 16;
  static constexpr double early = 1.0 / 8, clearly = 2;
};

/// Whole solves with a stronger preconditioner, compared with those with the weaker one.
struct WholeSolveConstants {
  /// Solves in a row that took longer. If one took far longer, it is enough.
  static constexpr int solves_to_leave = 2;
  /// Factors on the time of the weaker one: if it was measured, if it was estimated, and for "far longer".
  static constexpr double clearly = 1.2, clearly_if_estimated = 1.4, by_far = 1.5;
};

/// Iterations of one solve with the simple preconditioner, over those of any matrix of its size. Fitted to diffusion
/// and elasticity on 16 meshes, refined up to once. With 1 for all, the estimates after 16 to 64 iterations were 1.25
/// and 0.45 times what followed, in the means of logarithms.
struct UsualIterations {
  static constexpr double of_blocks = 2, of_mesh = 0.65;
};

/// Iterations of CG that are certain, over the estimate from the size. Measured on 27 meshes, diffusion and
/// elasticity, b = 1 and b = A times a random x. All solves took 0.4 to 20 times the estimate, except those of one
/// long thin body: they took 0.2 to 0.4 times. The matrix of a grid with seven entries in a row takes 0.27 times.
struct SureIterations {
  static constexpr double of_mesh = 1.0 / 3, of_any = 0.2;
};

/// Iterations to eight digits with the simple preconditioner, over the reach of the pattern, which differs
/// between two and three dimensions. The estimate from the size does not: it is 0.1 to 2 times the iterations of the
/// systems below, b = 1.
struct ReachIterations {
  /// With fewer rows, finding the reach and comparing what may follow takes as long as a solve.
  static constexpr int fewest_rows = 4096;
  /// BiCGStab on convection and diffusion, for each entry of a mean row, since elements of higher order have longer
  /// rows and a step passes several of their nodes. Elements of order 1 to 3 and differences in two and three
  /// dimensions, rows of 5 to 26 entries, at Peclet numbers from 0.01 to 1,000 a cell: 0.11 to 1.3 times, the median
  /// 0.21, on 22 systems. An iteration has two products.
  static constexpr double of_convection = 0.28, sure_of_convection = 0.4;
  /// If convection prevails and circulates, whatever the rows: 2.6 to 79 times, the median 14, on 13 systems of
  /// triangles, squares and tetrahedra at Peclet numbers from 0.7 to 9,000 a cell; in the plane at least 4.5 times.
  /// Without circulation 1.0 to 1.5 times, on five systems.
  static constexpr double of_circulation = 16, sure_of_circulation = 0.2;
  /// MINRES on saddle points, for each entry of a mean row: 0.4 to 1.7 times, but for one stretched mesh, on 42
  /// systems of flow, elasticity and mixed diffusion with rows of 5 to 75 entries.
  static constexpr double of_saddle = 1, sure_of_saddle = 0.5;
  /// Flexible GMRES with the block-triangular form of `saddle` over MINRES with the diagonal form: 0.35 to 0.45 on
  /// six of the systems of bench_flow.sh.
  static constexpr double of_triangular_saddle = 0.45;
};

/// Symmetric matrices without coordinates on which AMG is expected to take as few iterations as on a mesh.
struct CouplingConstants {
  /// At most this share of what is off the diagonal is positive, most row sums are zero, and nodes have one row. AMG
  /// then takes 0.35 to 2.0 times the root of Jacobi's iterations, the median 0.85, on 55 systems of elements of
  /// order 1 to 4 on triangles, squares, tetrahedra and hexahedra, networks and real matrices; 2.5 on one that is
  /// stretched. Displacements have 0.25 or more in the plane and 0.3 in space, and those whose nodes do not show take
  /// 3 to 12.
  static constexpr double most_positive = 0.28;
  /// Not with as few entries in a mean row as differences on a grid have: coarse levels then have a third of A's
  /// entries, and iterations with AMG take 1.5 times what the model expects.
  static constexpr double longest_stencil = 7;
};

/// Systems of convection and diffusion, on which AMG and incomplete factors compete.
struct ConvectionConstants {
  /// Convection prevails if more than this share of A is antisymmetric. AMG smooths such levels by SPAI. It takes 8
  /// to 12 iterations on six systems below, and 10 to 2,800 on 13 systems above.
  static constexpr double most_antisymmetric = 0.25;
  /// The share of rows that circulate: 0.8 to 1 on the systems with closed streamlines, 0 on the others.
  static constexpr double least_circulating = 0.5;
  /// Iterations over the root of those with the simple preconditioner, if convection prevails, in the mean of 13
  /// systems: 0.3 to 37 with AMG, 0.15 to 0.48 with ILUT.
  static constexpr double elliptic = 5, factors = 0.3;
};

}  // namespace newel::detail
