// SPDX-License-Identifier: Apache-2.0
// Keys, and plans found and kept.
#include "spmv/plan/plan_cache.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>

#include <newel/config.hpp>
#include <newel/core/error.hpp>
#include <newel/core/file_writer.hpp>
#include <newel/core/parallel.hpp>
#include "core/vectors/instantiate.hpp"
#include "spmv/plan/plan_file.hpp"

namespace newel::detail {
namespace {

template <class RowPtr>
std::uint64_t hash_range(const RowPtr* values, std::int64_t begin, std::int64_t end, std::uint64_t seed) {
  std::uint64_t hash = seed;
  for (std::int64_t i = begin; i < end; ++i) hash = mixed_bits(hash ^ static_cast<std::uint64_t>(values[i]));
  return hash;
}

// Chunks of fixed length, hashed side by side and folded in order.
template <class V>
void add_values(const Context<Space::host>& ctx, Span<const V, Space::host> values, PlanKey& key) {
  constexpr std::int64_t chunk = 1 << 16;
  const std::int64_t chunks = (values.size + chunk - 1) / chunk;
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(chunks));
  parallel_for(
      ctx, chunks,
      [&](std::int64_t c) {
        const std::int64_t end = values.size < (c + 1) * chunk ? values.size : (c + 1) * chunk;
        hashes[static_cast<std::size_t>(c)] =
            hash_range(values.data, c * chunk, end, static_cast<std::uint64_t>(c) + 1);
      },
      chunks > 1 ? 1 : chunks);
  key.add(static_cast<std::uint64_t>(values.size));
  for (const std::uint64_t hash : hashes) key.add(hash);
}

}  // namespace

void PlanKey::add(std::uint64_t number) {
  words_[0] = mixed_bits(words_[0] ^ number);
  words_[1] = mixed_bits(words_[1] + 0x9e3779b97f4a7c15u * number + 1);
}

void PlanKey::add(std::string_view text) {
  add(static_cast<std::uint64_t>(text.size()));
  for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
}

void PlanKey::add(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern) {
  add(static_cast<std::uint64_t>(pattern.rows));
  add(static_cast<std::uint64_t>(pattern.cols));
  with_row_ptr(pattern, [&](auto row_ptr) { add_values(ctx, row_ptr, *this); });
  add_values(ctx, pattern.col, *this);
}

std::string PlanKey::name() const {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(words_[0]),
                static_cast<unsigned long long>(words_[1]));
  return text;
}

std::string PlanCache::path(const PlanKey& key) const { return folder_ + "/" + key.name() + ".plan"; }

std::optional<CachedPlan> PlanCache::find(const PlanKey& key) {
  std::optional<std::string> bytes;
  const std::string unreadable = read_plan_file(path(key), bytes);
  if (!unreadable.empty()) {
    ignore(key, unreadable);
    return std::nullopt;
  }
  if (!bytes) return std::nullopt;
  CachedPlan plan;
  const std::string fault = decode_plan(std::move(*bytes), key, plan);
  if (fault.empty()) return plan;
  ignore(key, fault);
  return std::nullopt;
}

void PlanCache::ignore(const PlanKey& key, const std::string& fault) {
  remark_ = path(key) + " " + fault + ": it is ignored";
}

void PlanCache::keep(const PlanKey& key, const CachedPlan& plan) {
  const std::string bytes = encoded_plan(key, plan);
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  TemporaryFile file;
  if (file.open(path(key)) && file.write(bytes.data(), bytes.size()) && file.commit()) return;
  remark_ += (remark_.empty() ? "" : "; ") + ("the plan could not be stored in " + folder_);
}

PlanKey request_key(const FormatRequest& request) {
  PlanKey key;
  key.add(NEWEL_VERSION);
  key.add(static_cast<std::uint64_t>(request.machine.space));
  key.add(request.machine.name);
  key.add(static_cast<std::uint64_t>(request.machine.processors));
  key.add(static_cast<std::uint64_t>(request.machine.cache_bytes));
  key.add(static_cast<std::uint64_t>(request.value_bytes));
  key.add(static_cast<std::uint64_t>(request.options.partitioner));
  key.add(static_cast<std::uint64_t>(request.options.parts));
  key.add(static_cast<std::uint64_t>(request.options.ell_warp_window));
  if (request.options.partitioner == Partitioner::coordinates && request.options.coordinates != nullptr) {
    const std::vector<double>& xyz = request.options.coordinates->xyz;
    std::vector<std::uint64_t> bits(xyz.size());
    if (!xyz.empty()) std::memcpy(bits.data(), xyz.data(), xyz.size() * sizeof(double));
    add_values(Context<Space::host>(1), Span<const std::uint64_t, Space::host>(bits), key);
    key.add(static_cast<std::uint64_t>(request.options.coordinates->dimension));
  }
  return key;
}

PlanKey plan_key(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern, const FormatRequest& request) {
  PlanKey key = request_key(request);
  key.add(ctx, pattern);
  return key;
}

namespace {

// The order of a plan; nothing where it is none for so many rows. A file with a sound checksum may still come from a
// program that erred.
template <Space S>
std::optional<RowOrder<S>> order_of(const Context<S>& ctx, const CachedPlan& plan, Index rows) {
  const bool natural = plan.old_of_new.empty();
  if (!natural && static_cast<Index>(plan.old_of_new.size()) != rows) return std::nullopt;
  try {
    check_part_bounds(plan.part_begin, rows);
    RowOrder<S> order = natural ? RowOrder<S>{} : make_row_order(ctx, plan.old_of_new);
    order.part_begin = plan.part_begin;
    return order;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace

template <Space S>
RowOrder<S> plan_through_cache(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvFormat& format,
                               const FormatRequest& request, const std::function<RowOrder<S>()>& make) {
  PlanKey key = plan_key(ctx, pattern, request);
  key.add(format.name);
  key.add(request.variant);
  PlanCache cache(request.options.plan_cache);
  if (const auto found = cache.find(key)) {
    if (auto order = order_of<S>(ctx, *found, pattern.rows)) {
      order->report.method = found->method + ", from the plan cache";
      order->report.figures = found->figures;
      return std::move(*order);
    }
    cache.ignore(key, "holds no plan for this matrix");
  }
  RowOrder<S> order = make();
  cache.keep(key, {"", "", to_vector(ctx, order.old_of_new.cspan()), order.part_begin, order.report.method,
                   order.report.figures});
  order.report.remark = cache.remark();
  return order;
}

#define X(S)                                                                                       \
  template RowOrder<S> plan_through_cache(const Context<S>&, const Pattern<S>&, const SpmvFormat&, \
                                          const FormatRequest&, const std::function<RowOrder<S>()>&);
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
