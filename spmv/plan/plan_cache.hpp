// SPDX-License-Identifier: Apache-2.0
/// Orders and choices kept in files, so that the next run on the same pattern finds them. Internal.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>

#include <newel/spmv/registry.hpp>

namespace newel::detail {

/// A fingerprint of everything that a plan depends on: pattern, machine, options. Text goes in with its length.
class PlanKey {
 public:
  void add(std::uint64_t number);
  void add(std::string_view text);
  /// Sizes, row pointers and columns; parallel, the same whatever the number of threads and the width of the
  /// pointers.
  void add(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern);
  /// The same of a pattern on a device, where it is read; other words than the host's. Waits for the stream.
  void add(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern);

  /// 32 hexadecimal digits.
  std::string name() const;
  const std::array<std::uint64_t, 2>& words() const { return words_; }

 private:
  std::array<std::uint64_t, 2> words_ = {0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu};
};

/// What a file of the cache holds.
struct CachedPlan {
  std::string choice;             ///< a format's name, or empty
  std::string reason;             ///< why it was chosen
  std::vector<Index> old_of_new;  ///< empty: the natural order
  std::vector<Index> part_begin;  ///< empty: no parts
  std::string method;             ///< how the order was found
  std::vector<std::pair<std::string, double>> figures;
};

/// A folder of plans. Files carry a version and a checksum; what is damaged, of another version or of another key, or
/// no file at all (a folder, a pipe, a device), is as good as none, and `remark` says so.
class PlanCache {
 public:
  explicit PlanCache(std::string folder) : folder_(std::move(folder)) {}

  /// Nothing where there is no file, or no sound one.
  std::optional<CachedPlan> find(const PlanKey& key);
  /// Writes a temporary file next to it and renames, so that a reader never sees half a file. Failure is a remark,
  /// not an error: the solve does not need the cache.
  void keep(const PlanKey& key, const CachedPlan& plan);

  /// What was found is of no use, for this fault: `remark` says so.
  void ignore(const PlanKey& key, const std::string& fault);

  /// What a report should say: empty where all went well.
  const std::string& remark() const { return remark_; }

 private:
  std::string path(const PlanKey& key) const;

  std::string folder_;
  std::string remark_;
};

/// The key of what is known about a pattern on a machine; the caller adds what was asked.
PlanKey plan_key(const Context<Space::host>& ctx, const Pattern<Space::host>& pattern, const FormatRequest& request);
PlanKey plan_key(const Context<Space::device>& ctx, const Pattern<Space::device>& pattern,
                 const FormatRequest& request);
/// The same without the pattern.
PlanKey request_key(const FormatRequest& request);

/// The order that `make` finds for that format, or what an earlier run kept of it in the folder of the request.
template <Space S>
RowOrder<S> plan_through_cache(const Context<S>& ctx, const Pattern<S>& pattern, const SpmvFormat& format,
                               const FormatRequest& request, const std::function<RowOrder<S>()>& make);

}  // namespace newel::detail
