// SPDX-License-Identifier: Apache-2.0
// What solves are compared with on the device: the usual loops of cuBLAS and cuSPARSE calls.
#include "solve_contender.hpp"
#include "usual_solve_device.hpp"

namespace newel::bench {

template <class T>
std::vector<SolveContender<T, Space::device>> solve_competitors(const Context<Space::device>&,
                                                                const std::string& solver,
                                                                const std::string& precond) {
  constexpr Space S = Space::device;
  std::vector<SolveContender<T, S>> result;
  if (!competitors_know(solver, precond)) return result;
  for (const UsualScalars scalars : {UsualScalars::on_host, UsualScalars::in_graph}) {
    SolveContender<T, S> usual;
    usual.by = name_of(scalars);
    usual.solver = solver;
    usual.precond = precond;
    usual.format = "csr";
    usual.competitor = true;
    usual.build = [solver, precond, scalars](const Context<S>& ctx, const CsrView<T, S>& a) {
      return make_usual_solve(ctx, a, solver, precond, scalars);
    };
    result.push_back(std::move(usual));
  }
  return result;
}

template std::vector<SolveContender<double, Space::device>> solve_competitors(const Context<Space::device>&,
                                                                              const std::string&, const std::string&);
template std::vector<SolveContender<float, Space::device>> solve_competitors(const Context<Space::device>&,
                                                                             const std::string&, const std::string&);

}  // namespace newel::bench
