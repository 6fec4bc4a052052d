// SPDX-License-Identifier: Apache-2.0
/// Break-even, measured on the spot: one step of the run solved with every format and every preconditioner.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <newel/solver/linear_system.hpp>

#include "apps/common/json_file.hpp"
#include "apps/fem/assembly.hpp"

namespace newel::heat {

/// A step out of the middle of a run, in the caller's order.
struct SampleStep {
  std::vector<double> rhs, guess;
  bool empty() const { return rhs.empty(); }
};

struct Trial {
  std::string format, precond;
  bool used = false;         ///< by the run
  bool baseline = false;     ///< what the others of the group are measured against
  double setup_seconds = 0;  ///< order, format, preconditioner, vectors: from the matrix in its space to ready
  double solve_seconds = 0;  ///< the best of three: what other programs take is not the format's
  int iterations = 0;
  std::string failure = {};                      ///< why there are no numbers; empty: there are
  std::optional<double> break_even_solves = {};  ///< none: never pays back
};

struct Comparison {
  std::vector<Trial> formats;   ///< with the run's preconditioner, against csr
  std::vector<Trial> preconds;  ///< with the run's format, against jacobi
};

/// Sets every one up once and solves the sample three times from its guess, with the run's tolerance. `stop` is asked
/// before each and ends the comparison early.
template <Space S>
Comparison compare(const Context<S>& ctx, const fem::HostCsr& matrix, const SampleStep& sample,
                   const SystemOptions& used, const std::function<bool()>& stop);

cli::Json comparison_json(const Comparison& comparison);
/// Two small tables; `solves`: of the run, to say what would have paid.
std::string comparison_text(const Comparison& comparison, std::int64_t solves);

}  // namespace newel::heat
