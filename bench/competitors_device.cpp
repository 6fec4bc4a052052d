// SPDX-License-Identifier: Apache-2.0
// What is compared with on the device: formats with everything that cuSPARSE multiplies with, solves with the usual
// loops of cuBLAS and cuSPARSE calls.
#include "contender.hpp"
#include "cusparse_product_device.hpp"
#include "measure.hpp"
#include "solve_contender.hpp"
#include "usual_solve_device.hpp"

namespace newel::bench {

template <class T>
std::vector<Contender<T, Space::device>> competitors(const Context<Space::device>&) {
  constexpr Space S = Space::device;
  std::vector<Contender<T, S>> result;
  for (const CusparseFormat format : {CusparseFormat::csr_alg1, CusparseFormat::csr_alg2, CusparseFormat::sell,
                                      CusparseFormat::bsr, CusparseFormat::coo}) {
    Contender<T, S> contender;
    contender.name = name_of(format);
    contender.competitor = contender.break_even = true;
    contender.build = [format](const Context<S>& ctx, const CsrView<T, S>& a) {
      BuiltProduct<T, S> built;
      built.format_seconds = seconds_of([&] {
        built.matrix = make_cusparse_product(ctx, a, format);
        ctx.synchronize();
      });
      return built;
    };
    result.push_back(std::move(contender));
  }
  return result;
}

template std::vector<Contender<double, Space::device>> competitors(const Context<Space::device>&);
template std::vector<Contender<float, Space::device>> competitors(const Context<Space::device>&);

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
