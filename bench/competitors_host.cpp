// SPDX-License-Identifier: Apache-2.0
// What formats are compared with on the host: our CSR and, where the build found it, Eigen.
#include "contender.hpp"
#include "measure.hpp"
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

}  // namespace newel::bench
