// SPDX-License-Identifier: Apache-2.0
// What solves are compared with on the host: Eigen's, where the build found it.
#include "solve_contender.hpp"
#if NEWEL_BENCH_HAS_EIGEN
#include "eigen_solve.hpp"
#endif

namespace newel::bench {

template <class T>
std::vector<SolveContender<T, Space::host>> solve_competitors(const Context<Space::host>&, const std::string& solver,
                                                              const std::string& precond) {
  constexpr Space S = Space::host;
  std::vector<SolveContender<T, S>> result;
  if (!competitors_know(solver, precond)) return result;
#if NEWEL_BENCH_HAS_EIGEN
  SolveContender<T, S> eigen;
  eigen.by = "eigen";
  eigen.solver = solver;
  eigen.precond = precond;
  eigen.format = "row-major";
  eigen.competitor = true;
  eigen.build = [solver, precond](const Context<S>& ctx, const CsrView<T, S>& a) {
    return make_eigen_solve(ctx, a, solver, precond);
  };
  result.push_back(std::move(eigen));
#endif
  return result;
}

template std::vector<SolveContender<double, Space::host>> solve_competitors(const Context<Space::host>&,
                                                                            const std::string&, const std::string&);
template std::vector<SolveContender<float, Space::host>> solve_competitors(const Context<Space::host>&,
                                                                           const std::string&, const std::string&);

}  // namespace newel::bench
