// SPDX-License-Identifier: Apache-2.0
// Looks formats up in their table, plans orders and builds operators.
#include <newel/spmv/registry.hpp>

#include <newel/core/error.hpp>
#include <newel/core/table.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/plan/plan_cache.hpp"

namespace newel {
namespace {

std::pair<std::string_view, std::string_view> split_variant(std::string_view name) {
  const auto colon = name.find(':');
  if (colon == std::string_view::npos) return {name, {}};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

}  // namespace

const std::list<SpmvFormat>& spmv_formats() { return detail::format_table().lines(); }

Registration register_format(SpmvFormat format) { return detail::format_table().add(std::move(format)); }

const SpmvFormat& find_spmv_format(std::string_view name_and_variant) {
  if (const SpmvFormat* line = detail::format_table().find(split_variant(name_and_variant).first)) return *line;
  std::vector<std::string> names;
  for (const SpmvFormat& format : spmv_formats()) names.push_back(format.name);
  refuse_unknown("format", name_and_variant, names);
}

namespace {

// The variant that the options name, in canonical letters; empty: the default one.
std::string checked_variant(const SpmvFormat& format, std::string_view name) {
  std::string variant = canonical_name(split_variant(name).second);
  bool known = variant.empty();
  std::string names;
  for (const auto& v : format.variants) {
    known = known || canonical_name(v) == variant;
    names += (names.empty() ? "" : ", ") + format.name + ":" + v;
  }
  if (known) return variant;
  throw InputError("format '" + format.name + "' has no variant '" + variant + "'; " +
                   (names.empty() ? "it has none" : "expected one of: " + names));
}

template <class T, Space S>
FormatRequest request_for(const Context<S>& ctx, const SpmvFormat& format, const SpmvOptions& options) {
  return {checked_variant(format, options.format), options, machine_of(ctx), sizeof(T)};
}

}  // namespace

bool takes_square_only(std::string_view name_and_variant) {
  const SpmvFormat& format = find_spmv_format(name_and_variant);
  return format.square_only != nullptr && format.square_only(checked_variant(format, name_and_variant));
}

namespace {

// By kernels where the format has them and they take the pattern, else on the host.
template <Space S>
RowOrder<S> planned_anew(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvFormat& format,
                         const FormatRequest& request) {
  if constexpr (S == Space::host) {
    return format.plan(ctx, pattern, request);
  } else {
    if (format.plan_on_device != nullptr) {
      if (auto planned = format.plan_on_device(ctx, pattern, request)) return std::move(*planned);
    }
    const detail::HostPattern on_host(ctx, pattern);
    RowOrder<Space::host> planned = format.plan(host_context(ctx), on_host.view(), request);
    return {make_array(ctx, planned.old_of_new.cspan()), make_array(ctx, planned.new_of_old.cspan()),
            std::move(planned.part_begin), std::move(planned.report)};
  }
}

}  // namespace

template <class T, Space S>
RowOrder<S> plan_order(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvOptions& options) {
  const SpmvFormat& format = find_spmv_format(options.format);
  const FormatRequest request = request_for<T>(ctx, format, options);
  if (format.plan == nullptr || pattern.rows != pattern.cols) return {};
  const auto make = [&] { return planned_anew(ctx, pattern, format, request); };
  if (options.plan_cache.empty()) return make();
  return detail::plan_through_cache<S>(ctx, pattern, format, request, make);
}

template <class T, Space S>
OperatorPtr<T, S> make_spmv(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                            const SpmvOptions& options, const PatternFacts* facts) {
  const SpmvFormat& format = find_spmv_format(options.format);
  FormatRequest request = request_for<T>(ctx, format, options);
  request.facts = facts;
  if (a.rows != a.cols && takes_square_only(options.format)) {
    throw InputError("format '" + options.format +
                     "' renumbers rows and columns together and needs a square matrix, not " +
                     std::to_string(a.rows) + " x " + std::to_string(a.cols));
  }
  check_part_bounds(order.part_begin, a.rows);
  const auto make_format = format.make.get<T, S>();
  if (make_format == nullptr) {
    throw InputError("format '" + format.name + "' is not available on the " + std::string(name_of(S)));
  }
  return make_format(ctx, a, order, request);
}

#define X(T, S)                                                                                     \
  template RowOrder<S> plan_order<T>(const Context<S>&, const Pattern<S>&, const SpmvOptions&);     \
  template OperatorPtr<T, S> make_spmv(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&, \
                                       const SpmvOptions&, const PatternFacts*);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
