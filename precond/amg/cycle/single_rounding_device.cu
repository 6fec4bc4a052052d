// SPDX-License-Identifier: Apache-2.0
// Scales of aggregates on the device: maxima, and sums of whole numbers, which depend on no order.
#include "precond/amg/blocks/elements_device.cuh"
#include "precond/amg/cycle/single_rounding.hpp"
#include "precond/amg/setup/strength.hpp"

namespace newel::detail {
namespace {

// Doubles that are never negative are compared by their bits.
__device__ void raise_to(double* to, double value) {
  atomicMax(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(__double_as_longlong(value)));
}

struct Ones {
  double* to;
  __device__ void operator()(std::int64_t i) const { to[i] = 1; }
};

struct ToAggregates {
  const Index* aggregate;
  const double *fine_largest, *fine_nodes;
  double *largest, *nodes;

  __device__ void operator()(std::int64_t i) const {
    if (aggregate[i] < 0) return;
    raise_to(&largest[aggregate[i]], fine_largest[i]);
    atomicAdd(&nodes[aggregate[i]], fine_nodes[i]);
  }
};

struct LargestRounding {
  BlockView a;
  const Offset* place;
  const double *largest, *nodes;
  volatile double* most;  // another thread may raise it

  __device__ void operator()(std::int64_t i) const {
    if (place[i] < 0 || !(nodes[i] > 0)) return;
    const double rounding = largest[i] / sqrt(nodes[i]);
    const double* const at = a.block(place[i]);
    double worst = 0;
    for (int r = 0; r < a.m; ++r) {
      const double energy = at[r * a.m + r];
      if (energy > least_energy * largest[i]) worst = fmax(worst, rounding / energy);
    }
    if (worst > *most) raise_to(const_cast<double*>(most), worst);
  }
};

struct TakeDiagonal {
  const double* inverse;
  std::int64_t rows;
  double* to;
  __device__ void operator()(std::int64_t i) const { to[i] = inverse[i * rows + i]; }
};

}  // namespace

FineScale<Space::device> fine_scale(const DeviceContext& ctx, const BlockCsr<Space::device>& a) {
  FineScale<Space::device> scale{diagonal_norms(ctx, a), DeviceArray<double>(ctx, a.pattern.rows)};
  for_elements(ctx, a.pattern.rows, Ones{scale.nodes.data()});
  return scale;
}

FineScale<Space::device> coarse_scale(const DeviceContext& ctx, const Aggregates<Space::device>& aggregates,
                                      const FineScale<Space::device>& scale) {
  FineScale<Space::device> coarse{zeros<double>(ctx, aggregates.count), zeros<double>(ctx, aggregates.count)};
  for_elements(ctx, aggregates.of_node.size(),
               ToAggregates{aggregates.of_node.data(), scale.largest.data(), scale.nodes.data(),
                            coarse.largest.data(), coarse.nodes.data()});
  return coarse;
}

double largest_rounding(const DeviceContext& ctx, const BlockCsr<Space::device>& a,
                        const FineScale<Space::device>& scale) {
  const DeviceArray<Offset> place = diagonal_places(ctx, a.pattern);
  DeviceArray<double> most = zeros<double>(ctx, 1);
  for_elements(ctx, a.pattern.rows,
               LargestRounding{a, place.data(), scale.largest.data(), scale.nodes.data(), most.data()});
  return value_at(ctx, most, 0);
}

std::vector<double> inverse_diagonal(const DeviceContext& ctx, const Array<double, Space::device>& inverse,
                                     Index rows) {
  DeviceArray<double> diagonal(ctx, rows);
  for_elements(ctx, rows, TakeDiagonal{inverse.data(), rows, diagonal.data()});
  return to_vector(ctx, diagonal.cspan());
}

}  // namespace newel::detail
