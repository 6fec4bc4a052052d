// SPDX-License-Identifier: Apache-2.0
// What formats are compared with on the device: everything that cuSPARSE multiplies with.
#include "contender.hpp"
#include "cusparse_product_device.hpp"
#include "measure.hpp"

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

}  // namespace newel::bench
