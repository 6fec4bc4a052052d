// SPDX-License-Identifier: Apache-2.0
// Residuals of EHYB with pairs on the host: a thread takes a part and keeps a sum for each of its rows.
#include <vector>

#include "spmv/ehyb/ehyb_walk.hpp"
#include "spmv/ehyb_symmetric/ehyb_symmetric_product.hpp"
#include "spmv/residual_host.hpp"
#include "spmv/plan/slot_sum_host.hpp"

namespace newel::detail {
namespace {

// The entries that are not in pairs.
template <class T>
void subtract_slices(const EhybSymmetricView<T>& a, const EhybPart& part, const T* x, double minus_zero,
                     std::vector<TwiceSum>& rows) {
  const int B = a.left.block;
  for (Index node = part.node_begin; node < part.node_end; ++node) {
    const Index in_part = node - part.node_begin, slice = part.slice_begin + in_part / host_lanes;
    for (int d = 0; d < B; ++d) {
      TwiceSum& sum = rows[static_cast<std::size_t>(a.node[node]) * B + d];
      const auto add = [&](const T* val, Offset stride, Offset count, const auto& column_of) {
        sum.merge(minus_products(val, stride, count, column_of, x, minus_zero));
      };
      walk_slice_row(a.left, part, slice, in_part % host_lanes, d, add);
    }
  }
}

// The pairs, in their order.
template <class T>
void subtract_pairs(const EhybSymmetricView<T>& a, Index p, const T* own_x, double minus_zero,
                    std::vector<TwiceSum>& rows) {
  const int B = a.left.block;
  const bool differs = *a.differs != 0;
  const Offset first = a.round_first[a.part_round[p]], last = a.round_first[a.part_round[p + 1]];
  for (Offset pair = first * host_lanes; pair < last * host_lanes; ++pair) {
    if (a.nodes[pair] == PairRounds<Space::host>::no_pair) continue;
    const Offset i = Offset{a.nodes[pair] & 0xffffu} * B, j = Offset{a.nodes[pair] >> 16} * B;
    const Offset slot = pair / host_lanes * (B * B * host_lanes) + pair % host_lanes;
    for (int d = 0; d < B; ++d) {
      for (int e = 0; e < B; ++e) {
        const T upper = a.upper[slot + (d * B + e) * host_lanes];
        const T lower = differs ? a.lower[slot + (d * B + e) * host_lanes] : a.upper[slot + (e * B + d) * host_lanes];
        rows[i + d].add_product(-static_cast<double>(upper), static_cast<double>(own_x[j + e]), minus_zero);
        rows[j + d].add_product(-static_cast<double>(lower), static_cast<double>(own_x[i + e]), minus_zero);
      }
    }
  }
}

template <class T>
ResidualSums residual_of_part(const EhybSymmetricView<T>& a, Index p, const ResidualArgs<T>& args,
                              double minus_zero) {
  const EhybPart& part = a.left.part[p];
  const Offset first_row = Offset{part.node_begin} * a.left.block;
  std::vector<TwiceSum> rows(static_cast<std::size_t>(part.node_end - part.node_begin) * a.left.block);
  subtract_slices(a, part, args.x, minus_zero, rows);
  subtract_pairs(a, p, args.x + first_row, minus_zero, rows);
  ResidualSums sums;
  sums.x_max = *args.scale.x_max;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto row = static_cast<Index>(first_row + static_cast<Offset>(k));
    const auto add = [&](const T* val, Offset stride, Offset count, const auto& column_of) {
      rows[k].merge(minus_products(val, stride, count, column_of, args.x, minus_zero));
    };
    walk_rest(a.left, rest_of(a.left, row), 0, 1, add);
    finish_residual_row(args, row, rows[k], a.left.rows, sums);
  }
  return sums;
}

}  // namespace

template <class T>
ResidualSums ehyb_symmetric_residual(const Context<Space::host>& ctx, const EhybSymmetricView<T>& a,
                                     const ResidualArgs<T>& args) {
  const double minus_zero = unknown_minus_zero();
  std::vector<ResidualSums> of_part(static_cast<std::size_t>(a.left.parts));
  parallel_tasks(ctx, a.left.parts, [&](Index p) {
    with_wide_vectors([&] { of_part[static_cast<std::size_t>(p)] = residual_of_part(a, p, args, minus_zero); });
  });
  ResidualSums total;
  for (const ResidualSums& sums : of_part) add_sums(total, sums);
  return total;
}

template <class T>
void prepare_ehyb_symmetric_residual(const Context<Space::host>&, const EhybSymmetricView<T>&) {}

#define X(T)                                                                                              \
  template ResidualSums ehyb_symmetric_residual(const Context<Space::host>&, const EhybSymmetricView<T>&, \
                                                const ResidualArgs<T>&);                                  \
  template void prepare_ehyb_symmetric_residual(const Context<Space::host>&, const EhybSymmetricView<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
