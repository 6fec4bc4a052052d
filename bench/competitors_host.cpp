// SPDX-License-Identifier: Apache-2.0
// What is compared with on the host: formats with our CSR and, where the build found it, Eigen; solves with Eigen's.
#include "contender.hpp"
#include "measure.hpp"
#include "solve_contender.hpp"
#if NEWEL_BENCH_HAS_EIGEN
#include "eigen_product.hpp"
#endif

namespace newel::bench {

template <class T>
std::vector<Contender<T, Space::host>> competitors(const Context<Space::host>&) {
  constexpr Space S = Space::host;
  std::vector<Contender<T, S>> result;
  result.push_back(format_contender<T, S>("csr"));
  result.back().break_even = true;
#if NEWEL_BENCH_HAS_EIGEN
  Contender<T, S> eigen;
  eigen.name = "eigen";
  eigen.build = [](const Context<S>& ctx, const CsrView<T, S>& a) {
    BuiltProduct<T, S> built;
    built.format_seconds = seconds_of([&] { built.matrix = make_eigen_product(ctx, a); });
    return built;
  };
  result.push_back(std::move(eigen));
#endif
  for (Contender<T, S>& contender : result) contender.competitor = true;
  return result;
}

template std::vector<Contender<double, Space::host>> competitors(const Context<Space::host>&);
template std::vector<Contender<float, Space::host>> competitors(const Context<Space::host>&);

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
