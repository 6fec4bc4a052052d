// SPDX-License-Identifier: Apache-2.0
// The vector primitives: lengths are checked, then one sweep runs.
#include <newel/core/vector_ops.hpp>

#include <numeric>
#include <string>

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "core/vectors/vector_ops_steps.hpp"

namespace newel {
namespace {

void same_length(const char* operation, std::int64_t expected, std::int64_t found) {
  if (expected == found) return;
  throw InputError(std::string(operation) + ": vectors of lengths " + std::to_string(expected) + " and " +
                   std::to_string(found));
}

}  // namespace

template <class T, Space S>
void fill(const Context<S>& ctx, T value, Span<T, S> x) {
  detail::sweep(ctx, x.size, detail::FillStep<T>(value, x.data));
}

template <class T, Space S>
void scale(const Context<S>& ctx, T alpha, Span<T, S> x) {
  if (alpha == T(0)) return fill(ctx, T(0), x);
  detail::sweep(ctx, x.size, detail::ScaleStep<T>(alpha, x.data));
}

template <class T, Space S>
void axpy(const Context<S>& ctx, T alpha, Span<const T, S> x, Span<T, S> y) {
  axpby(ctx, alpha, x, T(1), y);
}

template <class T, Space S>
void axpby(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) {
  same_length("axpby", x.size, y.size);
  detail::sweep(ctx, y.size, detail::AxpbyStep<T>(alpha, x.data, beta, y.data));
}

template <class T, Space S>
void multiply(const Context<S>& ctx, T alpha, Span<const T, S> d, Span<const T, S> x, T beta, Span<T, S> y) {
  same_length("multiply", d.size, x.size);
  same_length("multiply", x.size, y.size);
  detail::sweep(ctx, y.size, detail::MultiplyStep<T>(alpha, d.data, x.data, beta, y.data));
}

template <class T, Space S>
void multiply_dot(const Context<S>& ctx, Span<const T, S> d, Span<const T, S> x, Span<T, S> y, double* xy) {
  same_length("multiply_dot", d.size, x.size);
  same_length("multiply_dot", x.size, y.size);
  detail::sweep(ctx, y.size, detail::MultiplyDotStep<T>(d.data, x.data, y.data, xy));
}

template <class T, Space S>
void dot(const Context<S>& ctx, Span<const T, S> x, Span<const T, S> y, double* result) {
  same_length("dot", x.size, y.size);
  detail::sweep(ctx, x.size, detail::DotStep<T, false>(x.data, y.data, result));
}

template <class T, Space S>
void norm2(const Context<S>& ctx, Span<const T, S> x, double* result) {
  detail::sweep(ctx, x.size, detail::DotStep<T, true>(x.data, x.data, result));
}

template <class T, Space S>
void sum(const Context<S>& ctx, Span<const T, S> x, double* result) {
  detail::sweep(ctx, x.size, detail::SumStep<T>(x.data, result));
}

template <class T, Space S>
void subtract_mean(const Context<S>& ctx, const double* total, Span<T, S> x) {
  if (x.size == 0) return;
  detail::sweep(ctx, x.size, detail::SubtractMeanStep<T>(total, detail::all_rows(ctx, x.size), x.data));
}

template <class T, Space S>
void gather(const Context<S>& ctx, Span<const T, S> x, Span<const Index, S> from, Span<T, S> y) {
  same_length("gather", from.size, y.size);
  detail::sweep(ctx, y.size, detail::GatherStep<T, Index>(x.data, from.data, y.data));
}

namespace {

template <int run, class T, Space S>
void gather_runs_of(const Context<S>& ctx, const T* values, const ValueMap<S>& map, T* y) {
  if (!map.narrow.empty()) {
    detail::sweep(ctx, map.positions(),
                  detail::GatherRunsStep<T, std::uint32_t, run>(values, map.narrow.data(), y, map.lanes));
  } else {
    detail::sweep(ctx, map.positions(),
                  detail::GatherRunsStep<T, Offset, run>(values, map.wide.data(), y, map.lanes));
  }
}

template <class T, Space S>
void gather_runs(const Context<S>& ctx, const T* values, const ValueMap<S>& map, T* y) {
  switch (map.run) {
    case 2:
      return gather_runs_of<2>(ctx, values, map, y);
    case 3:
      return gather_runs_of<3>(ctx, values, map, y);
    case 6:
      return gather_runs_of<6>(ctx, values, map, y);
    default:
      throw InputError("a run must have 2, 3 or 6 values, not " + std::to_string(map.run));
  }
}

}  // namespace

void detail::require_values(Offset expected, Offset found) {
  if (found == expected) return;
  throw InputError("expected " + std::to_string(expected) + " values, found " + std::to_string(found));
}

template <class T, Space S>
void gather(const Context<S>& ctx, Span<const T, S> values, const ValueMap<S>& map, Span<T, S> y) {
  if (map.identity()) {
    detail::require_values(y.size, values.size);
    return copy<T>(ctx, values, y);
  }
  same_length("gather", map.size(), y.size);
  detail::require_values(map.source_size, values.size);
  if (map.run > 1) {
    gather_runs(ctx, values.data, map, y.data);
  } else if (!map.narrow.empty()) {
    detail::sweep(ctx, y.size, detail::GatherStep<T, std::uint32_t>(values.data, map.narrow.data(), y.data));
  } else {
    detail::sweep(ctx, y.size, detail::GatherStep<T, Offset>(values.data, map.wide.data(), y.data));
  }
}

template <class T, Space S>
void gather_sum(const Context<S>& ctx, Span<const T, S> values, Span<const Offset, S> first,
                Span<const Offset, S> source, Span<T, S> y) {
  same_length("gather_sum", first.size, y.size + 1);
  detail::sweep(ctx, y.size, detail::GatherSumStep<T>(values.data, first.data, source.data, y.data));
}

template <Space S>
ValueMap<S> make_value_map(const Context<S>& ctx, Span<const Offset, S> positions, Offset source_size,
                           const ValueMap<S>* through) {
  if (through != nullptr && through->identity()) through = nullptr;
  ValueMap<S> map;
  map.source_size = through != nullptr ? through->source_size : source_size;
  if (map.source_size < Offset{ValueMap<S>::none32}) {
    map.narrow = Array<std::uint32_t, S>(ctx, positions.size);
    detail::sweep(ctx, positions.size,
                  detail::ComposeMapStep<std::uint32_t, std::uint32_t>(
                      positions.data, through != nullptr ? through->narrow.data() : nullptr, map.narrow.data()));
  } else {
    map.wide = Array<Offset, S>(ctx, positions.size);
    detail::sweep(ctx, positions.size,
                  detail::ComposeMapStep<Offset, Offset>(
                      positions.data, through != nullptr ? through->wide.data() : nullptr, map.wide.data()));
  }
  return map;
}

template <Space S>
bool runs_stay_together(const Context<S>& ctx, Span<const Offset, S> positions, int run, const ValueMap<S>& through) {
  if (run == 1 || positions.empty() || through.identity()) return true;
  Array<double, S> broken(ctx, 1);
  if (!through.narrow.empty()) {
    detail::sweep(ctx, positions.size,
                  detail::BrokenRunsStep<std::uint32_t>(positions.data, through.narrow.data(), run, broken.data()));
  } else {
    detail::sweep(ctx, positions.size,
                  detail::BrokenRunsStep<Offset>(positions.data, through.wide.data(), run, broken.data()));
  }
  return fetch(ctx, broken.data()) == 0;
}

template <Space S>
std::vector<Offset> positions_of(const Context<S>& ctx, const ValueMap<S>& map, std::int64_t size) {
  std::vector<Offset> entry(static_cast<std::size_t>(size));
  if (map.identity()) {
    std::iota(entry.begin(), entry.end(), Offset{0});
    return entry;
  }
  same_length("positions_of", map.size(), size);
  const auto write_out = [&](const auto& starts) {
    using Position = std::decay_t<decltype(starts[0])>;
    for (std::int64_t i = 0; i < map.positions(); ++i) {
      const bool none = starts[i] == static_cast<Position>(-1);
      for (Offset e = 0; e < map.run; ++e) {
        const Offset slot = i / map.lanes * map.run * map.lanes + e * map.lanes + i % map.lanes;
        entry[slot] = none ? -1 : static_cast<Offset>(starts[i]) + e;
      }
    }
  };
  if (map.narrow.empty()) {
    write_out(to_vector(ctx, map.wide.cspan()));
  } else {
    write_out(to_vector(ctx, map.narrow.cspan()));
  }
  return entry;
}

template <class From, class To, Space S>
void convert(const Context<S>& ctx, Span<const From, S> x, Span<To, S> y) {
  same_length("convert", x.size, y.size);
  detail::sweep(ctx, y.size, detail::ConvertStep<From, To>(x.data, y.data));
}

#define X(T, S)                                                                                               \
  template void fill(const Context<S>&, T, Span<T, S>);                                                       \
  template void scale(const Context<S>&, T, Span<T, S>);                                                      \
  template void axpy(const Context<S>&, T, Span<const T, S>, Span<T, S>);                                     \
  template void axpby(const Context<S>&, T, Span<const T, S>, T, Span<T, S>);                                 \
  template void multiply(const Context<S>&, T, Span<const T, S>, Span<const T, S>, T, Span<T, S>);            \
  template void multiply_dot(const Context<S>&, Span<const T, S>, Span<const T, S>, Span<T, S>, double*);     \
  template void dot(const Context<S>&, Span<const T, S>, Span<const T, S>, double*);                          \
  template void norm2(const Context<S>&, Span<const T, S>, double*);                                          \
  template void sum(const Context<S>&, Span<const T, S>, double*);                                            \
  template void subtract_mean(const Context<S>&, const double*, Span<T, S>);                                  \
  template void gather(const Context<S>&, Span<const T, S>, Span<const Index, S>, Span<T, S>);                \
  template void gather(const Context<S>&, Span<const T, S>, const ValueMap<S>&, Span<T, S>);                  \
  template void gather_sum(const Context<S>&, Span<const T, S>, Span<const Offset, S>, Span<const Offset, S>, \
                           Span<T, S>);                                                                       \
  template void convert(const Context<S>&, Span<const T, S>, Span<double, S>);                                \
  template void convert(const Context<S>&, Span<const T, S>, Span<float, S>);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X
#define X(S)                                                                                                 \
  template ValueMap<S> make_value_map(const Context<S>&, Span<const Offset, S>, Offset, const ValueMap<S>*); \
  template std::vector<Offset> positions_of(const Context<S>&, const ValueMap<S>&, std::int64_t);            \
  template bool runs_stay_together(const Context<S>&, Span<const Offset, S>, int, const ValueMap<S>&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel
