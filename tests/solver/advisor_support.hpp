// SPDX-License-Identifier: Apache-2.0
/// Made-up numbers for an Advisor and a Probation.
#pragma once

#include <limits>
#include <optional>

#include "solver/krylov/monitor/residual_rate.hpp"
#include "solver/policy/advisor.hpp"

namespace newel::testing {

using detail::Advisor;
using detail::History;
using detail::Move;
using detail::Probation;
using detail::SolveStanding;

inline constexpr double infinity = std::numeric_limits<double>::infinity();

struct MadeUp final : detail::Forecasts {
  std::optional<FormatChoice> formats;
  std::optional<detail::PrecondOutlooks> outlooks;
  std::optional<detail::FollowedPrecond> followed;
  bool has_weighed = true, unseen = false;
  double expected = 0, sure = 0, scale = 1, left = infinity;

  bool weighed() const override { return has_weighed; }
  const FormatChoice* format_choice() override { return formats ? &*formats : nullptr; }
  const detail::PrecondOutlooks* stronger_preconditioners(double) override { return outlooks ? &*outlooks : nullptr; }
  bool values_unseen() const override { return unseen; }
  std::optional<detail::FollowedPrecond> followed_preconditioner() const override { return followed; }
  double expected_iterations() override { return expected; }
  double sure_iterations(bool) override { return sure; }
  double estimate_scale() const override { return scale; }
  double seconds_left() const override { return left; }
};

// An iteration takes a second in CSR and half a second in the other format. The setup saves half a second in each.
inline MadeUp with_format(double setup = 101) {
  FormatTrial csr, ehyb;
  csr.format = "csr";
  csr.iteration_seconds = 1;
  ehyb.format = "ehyb";
  ehyb.iteration_seconds = 0.5;
  ehyb.setup_seconds = setup;
  MadeUp made;
  made.formats.emplace();
  made.formats->format = "csr";
  made.formats->trials = {csr, ehyb};
  return made;
}

inline double half(double simple) { return simple / 2; }
inline double quarter(double simple) { return simple / 4; }

// An iteration takes a second with both preconditioners, in whichever format; there are fewer with the stronger one.
inline void add_stronger(MadeUp& to, double build = 101, ExpectedIterations iterations = half) {
  detail::PrecondOutlook jacobi, fsai;
  jacobi.name = "jacobi";
  jacobi.iteration_seconds = jacobi.now_seconds = 1;
  fsai = jacobi;
  fsai.name = "fsai";
  fsai.build_seconds = build;
  fsai.iterations = iterations;
  to.outlooks = detail::PrecondOutlooks{jacobi, {fsai}};
}

inline MadeUp with_stronger(double build = 101, ExpectedIterations iterations = half) {
  MadeUp made;
  add_stronger(made, build, iterations);
  return made;
}

// Five tenths before the end, from where the residual does not fall. `left` is by how it fell.
inline SolveStanding at(int iterations, double left, double sure = 0) {
  return {iterations, left, true, 1e5, 1, sure};
}

inline std::string text(const std::optional<Move>& move) {
  if (!move) return "";
  switch (move->kind) {
    case Move::Kind::inspect_values:
      return "inspect";
    case Move::Kind::format:
      return "format " + move->to;
    case Move::Kind::stronger_preconditioner:
      return "stronger " + move->to;
    case Move::Kind::weaker_preconditioner:
      return "weaker";
  }
  return "?";
}

// What is advised first in a solve that is asked in each iteration, and in which; "" and -1: nothing in 3,000.
struct First {
  int iteration = -1;
  std::string move = {};
  bool operator==(const First& other) const { return iteration == other.iteration && move == other.move; }
};
inline std::ostream& operator<<(std::ostream& out, const First& first) {
  return out << "'" << first.move << "' in " << first.iteration;
}
template <class Standing>
inline First first_of(MadeUp forecasts, const History& history, Standing&& standing) {
  Advisor advisor;
  for (int k = 0; k < 3000; ++k) {
    if (const auto move = advisor.next(standing(k), history, forecasts)) return {k, text(move)};
  }
  return {};
}
inline First first_of(const MadeUp& forecasts, double left, const History& history = {}) {
  return first_of(forecasts, history, [&](int k) { return at(k, left); });
}

// Earlier solves of a system whose last one has converged.
inline History after_solves(const std::vector<int>& iterations) {
  History history;
  for (const int n : iterations) {
    history.count(n);
    history.solved(true, n, &simple_iterations);
  }
  return history;
}

}  // namespace newel::testing
