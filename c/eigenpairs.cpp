// SPDX-License-Identifier: Apache-2.0
// Eigenpairs on the host, and the choice between host and device.
#include "eigenpairs.hpp"

#include <newel/config.hpp>

namespace newel::c {

EigenReport eigenpairs(const System& a, const EigenQuestion& question) {
  constexpr Space host = Space::host;
#if NEWEL_HAS_CUDA
  if (a.eigen_sides().on_device.system != nullptr) return eigenpairs_on_device(a, question);
#endif
  const EigenSide<host> of_a = a.eigen_sides().on_host;
  if (of_a.system == nullptr) {
    throw InputError(
        "eigenpairs: expected a system with real values in double precision, on the host or on one device");
  }
  const Index rows = of_a.system->rows();
  const EigenSide<host> m = question.mass != nullptr ? question.mass->eigen_sides().on_host : EigenSide<host>();
  const EigenSide<host> preconditioned = question.preconditioned->eigen_sides().on_host;
  require_fit(of_a, rows, "eigenpairs");
  require_fit(preconditioned, rows, "preconditioned");
  require_symmetric(of_a, "eigenpairs");
  if (question.mass != nullptr) {
    require_fit(m, rows, "mass");
    require_symmetric(m, "mass");
  }
  EigenProblem<host> problem = problem_of(of_a, m, preconditioned);
  problem.deflated = {question.null_space, std::int64_t{rows} * question.left_out};
  const Span<double, host> vectors(question.vectors, std::int64_t{rows} * question.options.pairs);
  return smallest_eigenpairs<host>(*of_a.ctx, problem, question.options, vectors, {}, question.progress);
}

}  // namespace newel::c
