// SPDX-License-Identifier: Apache-2.0
// EHYB on the host: a thread takes a part, gathers what it reads of x, and walks slices of eight nodes.
#include <algorithm>

#include <newel/core/parallel.hpp>
#include "spmv/ehyb/ehyb_part_host.hpp"
#include "spmv/ehyb/ehyb_walk.hpp"
#include "spmv/residual_host.hpp"

namespace newel::detail {
namespace {

template <class T, int B>
double part_product(const EhybView<T>& a, const EhybPart& part, const ProductArgs<T>& args, T* cache) {
  const T* const xs = cached_x<T, B>(a, part, args.x, cache);
  double dot = 0;
  for (Index s = part.slice_begin; s < part.slice_end; ++s) {
    T sums[B][host_lanes];
    slice_sums<T, B>(a, s, xs, sums);
    const Index first = part.node_begin + (s - part.slice_begin) * host_lanes;
    const int nodes = std::min<Index>(host_lanes, part.node_end - first);
    for (int lane = 0; lane < nodes; ++lane) {
      for (int d = 0; d < B; ++d) {
        const Offset row = Offset{first + lane} * B + d;
        args.y[row] = row_result(args, sums[d][lane], row);
        if (args.xy != nullptr) dot += double(args.x[row]) * double(args.y[row]);
      }
    }
  }
  return dot;
}

template <class T, int B>
void parts_product(const Context<Space::host>& ctx, const EhybView<T>& a, const ProductArgs<T>& args) {
  const bool parallel =
      a.parts > 1 &&
      Offset{a.slice_first[a.part[a.parts - 1].slice_end]} * host_lanes * B * B + a.rows >= least_parallel_work;
  const auto one_part = [&](Index p, int member) {
    T* const cache = a.caches.memory == nullptr ? nullptr : a.caches.memory + Offset{a.caches.longest} * member;
    with_wide_vectors([&] { a.dots.of_part[p] = part_product<T, B>(a, a.part[p], args, cache); });
  };
  parallel_tasks(ctx, a.parts, one_part, parallel ? a.caches.threads : 1);
  if (args.xy == nullptr) return;
  double total = 0;
  for (Index p = 0; p < a.parts; ++p) total += a.dots.of_part[p];
  *args.xy = total;
}

template <class T>
void add_extra_rows(const Context<Space::host>& ctx, const EhybView<T>& a, const ProductArgs<T>& args) {
  const bool parallel = Offset{a.extra.slice_first[a.extra.slices]} * host_lanes >= least_parallel_work;
  const auto one_slice = [&](Index s) {
    T sums[host_lanes] = {};
    for (Offset k = a.extra.slice_first[s]; k < a.extra.slice_first[s + 1]; ++k) {
#pragma omp simd
      for (int lane = 0; lane < host_lanes; ++lane) {
        sums[lane] += a.extra.value[k * host_lanes + lane] * args.x[a.extra.column[k * host_lanes + lane]];
      }
    }
    const Index first = s * host_lanes;
    for (Index i = first; i < std::min(a.extra.rows, first + host_lanes); ++i) {
      args.y[a.extra.row[i]] += args.alpha * sums[i - first];
    }
  };
  parallel_blocks(ctx, a.extra.slices, 64, one_slice, threads_if(parallel));
}

template <class T>
void add_long_rows(const Context<Space::host>& ctx, const EhybView<T>& a, const ProductArgs<T>& args) {
  const bool parallel = a.longs.segment_begin[a.longs.segments] >= least_parallel_work;
  parallel_for(
      ctx, a.longs.segments,
      [&](Index s) {
        T sums[host_lanes] = {};
        Offset k = a.longs.segment_begin[s];
        for (; k + host_lanes <= a.longs.segment_begin[s + 1]; k += host_lanes) {
          for (int lane = 0; lane < host_lanes; ++lane)
            sums[lane] += a.longs.value[k + lane] * args.x[a.longs.column[k + lane]];
        }
        for (int lane = 0; k + lane < a.longs.segment_begin[s + 1]; ++lane) {
          sums[lane] += a.longs.value[k + lane] * args.x[a.longs.column[k + lane]];
        }
        T total = 0;
        for (const T sum : sums) total += sum;
        a.longs.segment_sum[s] = total;
      },
      parallel ? 1 : a.longs.segments);
  for (Index i = 0; i < a.longs.rows; ++i) {
    T total = 0;
    for (Index s = a.longs.segment[i]; s < a.longs.segment[i + 1]; ++s) total += a.longs.segment_sum[s];
    args.y[a.longs.row[i]] += args.alpha * total;
  }
}

}  // namespace

template <class T>
void ehyb_product(const Context<Space::host>& ctx, const EhybView<T>& a, const ProductArgs<T>& args) {
  if (a.rows == 0) return;
  switch (a.block) {
    case 6:
      parts_product<T, 6>(ctx, a, args);
      break;
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
  add_ehyb_remainder(ctx, a, args);
}

template <class T>
void add_ehyb_remainder(const Context<Space::host>& ctx, const EhybView<T>& a, const ProductArgs<T>& args) {
  if (a.extra.rows > 0) add_extra_rows(ctx, a, args);
  if (a.longs.rows > 0) add_long_rows(ctx, a, args);
}

template <class T>
void prepare_ehyb(const Context<Space::host>&, const EhybView<T>&) {}

template void ehyb_product(const Context<Space::host>&, const EhybView<double>&, const ProductArgs<double>&);
template void ehyb_product(const Context<Space::host>&, const EhybView<float>&, const ProductArgs<float>&);
template void add_ehyb_remainder(const Context<Space::host>&, const EhybView<double>&, const ProductArgs<double>&);
template void add_ehyb_remainder(const Context<Space::host>&, const EhybView<float>&, const ProductArgs<float>&);
template void prepare_ehyb(const Context<Space::host>&, const EhybView<double>&);
template void prepare_ehyb(const Context<Space::host>&, const EhybView<float>&);

template <class T>
ResidualSums ehyb_residual(const Context<Space::host>& ctx, const EhybView<T>& a, const ResidualArgs<T>& args) {
  return residual_by(ctx, EhybWalk<T>{a}, args);
}

template ResidualSums ehyb_residual(const Context<Space::host>&, const EhybView<double>&,
                                    const ResidualArgs<double>&);
template ResidualSums ehyb_residual(const Context<Space::host>&, const EhybView<float>&, const ResidualArgs<float>&);

}  // namespace newel::detail
