// SPDX-License-Identifier: Apache-2.0
// EHYB with pairs on the host: a thread takes a part, sums its slices next to y and then its rounds, eight pairs at
// once.
#include <algorithm>

#include <newel/core/parallel.hpp>
#include "spmv/ehyb/ehyb_part_host.hpp"
#include "spmv/ehyb_symmetric/ehyb_symmetric_product.hpp"

namespace newel::detail {
namespace {

constexpr std::uint32_t no_pair = PairRounds<Space::host>::no_pair;

// y of the part, from the entries that are not in pairs.
template <class T, int B>
void sum_slices(const EhybSymmetricView<T>& a, const EhybPart& part, const T* xs, T* ys) {
  for (Index s = part.slice_begin; s < part.slice_end; ++s) {
    T sums[B][host_lanes];
    slice_sums<T, B>(a.left, s, xs, sums);
    const Index first = part.node_begin + (s - part.slice_begin) * host_lanes;
    const int nodes = std::min<Index>(host_lanes, part.node_end - first);
    for (int lane = 0; lane < nodes; ++lane) {
      for (int d = 0; d < B; ++d) ys[a.node[first + lane] * B + d] = sums[d][lane];
    }
  }
}

// Adds the pairs of a place to the part's y: the upper blocks to the rows of their first nodes, the lower ones, which
// are the upper ones turned over unless they differ, to those of their second.
template <bool differs, class T, int B>
inline void add_pairs(const EhybSymmetricView<T>& a, Offset place, const T* xs, T* ys) {
  const std::uint32_t* nodes = a.nodes + place * host_lanes;
  const T *upper = a.upper + place * host_lanes * B * B, *lower = a.lower + place * host_lanes * B * B;
  Offset row[host_lanes], col[host_lanes];
  for (int lane = 0; lane < host_lanes; ++lane) {
    const std::uint32_t pair = nodes[lane] == no_pair ? 0 : nodes[lane];
    row[lane] = Offset{pair & 0xffffu} * B;
    col[lane] = Offset{pair >> 16} * B;
  }
  HostLanes<T> x_row[B], x_col[B], y_row[B], y_col[B];
  for (int e = 0; e < B; ++e) {
    x_row[e].gather(xs, [&](int lane) { return row[lane] + e; });
    x_col[e].gather(xs, [&](int lane) { return col[lane] + e; });
  }
  for (int d = 0; d < B; ++d) {
    for (int e = 0; e < B; ++e) {
      y_row[d].add_product(upper + (d * B + e) * host_lanes, x_col[e]);
      y_col[d].add_product(differs ? lower + (d * B + e) * host_lanes : upper + (e * B + d) * host_lanes, x_row[e]);
    }
  }
  for (int d = 0; d < B; ++d) {
    T of_row[host_lanes], of_col[host_lanes];
    y_row[d].store(of_row);
    y_col[d].store(of_col);
    for (int lane = 0; lane < host_lanes; ++lane) {
      if (nodes[lane] == no_pair) continue;
      ys[row[lane] + d] += of_row[lane];
      ys[col[lane] + d] += of_col[lane];
    }
  }
}

template <class T, int B>
double part_product(const EhybSymmetricView<T>& a, Index p, const ProductArgs<T>& args, T* cache, T* ys) {
  const EhybPart part = a.left.part[p];
  const T* const xs = cached_x<T, B>(a.left, part, args.x, cache);
  sum_slices<T, B>(a, part, xs, ys);
  const Offset first = a.round_first[a.part_round[p]], last = a.round_first[a.part_round[p + 1]];
  const bool differs = *a.differs != 0;
  for (Offset place = first; place < last; ++place) {
    if (differs) {
      add_pairs<true, T, B>(a, place, xs, ys);
    } else {
      add_pairs<false, T, B>(a, place, xs, ys);
    }
  }
  double dot = 0;
  const Offset first_row = Offset{part.node_begin} * B;
  for (Offset row = first_row; row < Offset{part.node_end} * B; ++row) {
    args.y[row] = row_result(args, ys[row - first_row], row);
    if (args.xy != nullptr) dot += double(args.x[row]) * double(args.y[row]);
  }
  return dot;
}

template <class T, int B>
void parts_product(const Context<Space::host>& ctx, const EhybSymmetricView<T>& a, const ProductArgs<T>& args) {
  const EhybView<T>& left = a.left;
  const Offset places =
      left.slice_first[left.part[left.parts - 1].slice_end] + a.round_first[a.part_round[left.parts]];
  const bool parallel = left.parts > 1 && places * host_lanes * B * B + left.rows >= least_parallel_work;
  const auto one_part = [&](Index p, int member) {
    T* const cache =
        left.caches.memory == nullptr ? nullptr : left.caches.memory + Offset{left.caches.longest} * member;
    T* const sums = a.sums + Offset{a.longest_own} * member;
    with_wide_vectors([&] { left.dots.of_part[p] = part_product<T, B>(a, p, args, cache, sums); });
  };
  parallel_tasks(ctx, left.parts, one_part, parallel ? left.caches.threads : 1);
  if (args.xy == nullptr) return;
  double total = 0;
  for (Index p = 0; p < left.parts; ++p) total += left.dots.of_part[p];
  *args.xy = total;
}

}  // namespace

template <class T>
void ehyb_symmetric_product(const Context<Space::host>& ctx, const EhybSymmetricView<T>& a,
                            const ProductArgs<T>& args) {
  if (a.left.rows == 0) return;
  switch (a.left.block) {
    case 3:
      parts_product<T, 3>(ctx, a, args);
      break;
    case 2:
      parts_product<T, 2>(ctx, a, args);
      break;
    default:
      parts_product<T, 1>(ctx, a, args);
      break;
  }
  add_ehyb_remainder(ctx, a.left, args);
}

template <class T>
void compare_pairs(const Context<Space::host>& ctx, const EhybSymmetricView<T>& a, Offset places, int* differs) {
  const int B = a.left.block;
  const auto equal_blocks = [&](Offset place) {
    const T *upper = a.upper + place * host_lanes * B * B, *lower = a.lower + place * host_lanes * B * B;
    int found = 0;
    for (int d = 0; d < B; ++d) {
      for (int e = 0; e < B; ++e) {
        for (int lane = 0; lane < host_lanes; ++lane) {
          found |=
              static_cast<int>(!(upper[(d * B + e) * host_lanes + lane] == lower[(e * B + d) * host_lanes + lane]));
        }
      }
    }
    return found == 0;
  };
  *differs = parallel_all(ctx, places, equal_blocks) ? 0 : 1;
}

template <class T>
void prepare_ehyb_symmetric(const Context<Space::host>&, const EhybSymmetricView<T>&) {}

#define X(T)                                                                                           \
  template void ehyb_symmetric_product(const Context<Space::host>&, const EhybSymmetricView<T>&,       \
                                       const ProductArgs<T>&);                                         \
  template void compare_pairs(const Context<Space::host>&, const EhybSymmetricView<T>&, Offset, int*); \
  template void prepare_ehyb_symmetric(const Context<Space::host>&, const EhybSymmetricView<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
