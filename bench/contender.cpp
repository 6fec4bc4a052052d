// SPDX-License-Identifier: Apache-2.0
// Formats of the table as contenders, each phase of their setup timed.
#include "contender.hpp"

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"

#include "measure.hpp"

namespace newel::bench {
namespace {

template <class T, Space S>
void require_memory(const Context<S>& ctx, const CsrView<T, S>& a, const std::string& name) {
  const SpmvFormat& format = find_spmv_format(name);
  std::uint64_t wanted = format.estimate_bytes(a.rows, a.cols, a.nnz(), sizeof(T));
  // The permuted matrix, its map and the order.
  if (format.plan != nullptr) {
    wanted += static_cast<std::uint64_t>(a.nnz()) * (sizeof(T) + sizeof(Index) + sizeof(std::uint32_t)) +
              static_cast<std::uint64_t>(a.rows) * (sizeof(Offset) + 2 * sizeof(Index));
  }
  const auto available = ctx.memory()->available_bytes();
  if (available && wanted > *available)
    throw OutOfMemory(name_of(S), "'" + name + "' (an estimate)", wanted, available);
}

template <class T, Space S>
BuiltProduct<T, S> build_format(const Context<S>& ctx, const CsrView<T, S>& a, const std::string& name) {
  require_memory(ctx, a, name);
  SpmvOptions options;
  options.format = name;
  BuiltProduct<T, S> built;
  PermutedCsr<T, S> permuted;
  CsrView<T, S> view = a;
  built.plan_seconds = seconds_of([&] {
    built.order = plan_order<T>(ctx, Pattern<S>(a), options);
    ctx.synchronize();
  });
  if (!built.order.natural()) {
    built.permute_seconds = seconds_of([&] {
      permuted = permute(ctx, a, built.order);
      ctx.synchronize();
    });
    view = permuted.view();
  }
  built.format_seconds = seconds_of([&] {
    built.matrix = make_spmv(ctx, view, built.order, options);
    ctx.synchronize();
  });
  return built;
}

}  // namespace

template <class T, Space S>
Contender<T, S> format_contender(const std::string& name) {
  Contender<T, S> contender;
  contender.name = name;
  contender.build = [name](const Context<S>& ctx, const CsrView<T, S>& a) { return build_format(ctx, a, name); };
  return contender;
}

std::vector<std::string> all_format_names() {
  std::vector<std::string> names;
  for (const SpmvFormat& format : spmv_formats()) {
    names.push_back(format.name);
    for (const std::string& variant : format.variants) names.push_back(format.name + ":" + variant);
  }
  return names;
}

#define X(T, S) template Contender<T, S> format_contender(const std::string&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::bench
