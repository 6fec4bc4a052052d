// SPDX-License-Identifier: Apache-2.0
// Patterns that are made on the host, brought to where they are needed.
#include "precond/fsai/fsai_symbolic.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/parallel.hpp>
#include <newel/precond/fsai/fsai_options.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/fsai/entry_worth.hpp"
#include "precond/longest_rows.hpp"
#include "precond/placed.hpp"
#include "reorder/host_pattern.hpp"
#include "spmv/plan/stable_buckets.hpp"

namespace newel::detail {
namespace {

template <class T>
Span<const T, Space::host> values_on_host(const Context<Space::host>&, Span<const T, Space::host> values,
                                          std::vector<T>&) {
  return values;
}
template <class T>
Span<const T, Space::host> values_on_host(const Context<Space::device>& ctx, Span<const T, Space::device> values,
                                          std::vector<T>& downloaded) {
  downloaded = to_vector(ctx, values);
  return Span<const T, Space::host>(downloaded);
}

// The same without the entries of long rows that are the smallest beside the diagonal.
template <class T, Space S>
FsaiPattern affordable(const Context<S>& ctx, const CsrView<T, S>& a, const Pattern<Space::host>& of_a,
                       FsaiPattern pattern) {
  const Sparsity& g = pattern.g();
  const Offset most = most_of_row(short_row_of_fsai, g);
  Offset longest = 0;
  for (Index i = 0; i < g.rows; ++i) longest = std::max(longest, g.row_length(i));
  if (longest <= most) return pattern;
  std::vector<T> downloaded;
  const CsrView<T, Space::host> values(of_a, values_on_host(ctx, a.val, downloaded));
  const EntryWorth worth = fsai_entry_worth(values);
  const Context<Space::host> host = host_context(ctx);
  Sparsity kept = pattern.g_is_lower ? std::move(pattern.lower.pattern) : std::move(pattern.wider);
  return make_fsai_pattern(host, of_a, without_long_rows(host, std::move(kept), most, worth));
}

template <class T, Space S>
FsaiPattern pattern_on_host(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                            const PrecondOptions& options, const Pattern<S>* whole) {
  const Context<Space::host> host = host_context(ctx);
  const HostPattern on_host(ctx, a);
  const Pattern<Space::host>& of_a = on_host.view();
  if (whole != nullptr) {
    return make_fsai_pattern(host, of_a, lower_of(host, HostPattern(ctx, *whole).view()).pattern);
  }
  const PatternOptions& shape = options.of<PatternOptions>();
  const int power = options.of<FsaiOptions>().power;
  if (shape.pattern != nullptr) {
    return make_fsai_pattern(
        host, of_a,
        given_sparsity(host, *shape.pattern, a.rows, to_vector(ctx, order.new_of_old.cspan()), GivenFold::lower));
  }
  if (shape.drop == 0) return affordable(ctx, a, of_a, make_fsai_pattern(host, of_a, nullptr, power));
  std::vector<T> downloaded;
  const CsrView<T, Space::host> values(of_a, values_on_host(ctx, a.val, downloaded));
  const Sparsity kept = thresholded(host, values, shape.drop);
  return affordable(ctx, a, of_a, make_fsai_pattern(host, of_a, &kept, power));
}

// The pieces of G's rows by their size, and its longest row.
template <Space S>
void find_pieces(const Context<S>& ctx, const Sparsity& g, FsaiSymbolic<S>& result) {
  const auto rows = static_cast<Index>(g.row_ptr.size() - 1);
  std::vector<unsigned char> begins(static_cast<std::size_t>(rows));
  parallel_for(host_context(ctx), rows, [&](std::int64_t i) {
    begins[i] = begins_piece(g.row_ptr.cspan(), g.col.cspan(), static_cast<Index>(i)) ? 1 : 0;
  });
  std::vector<FsaiPiece> pieces;
  for (Index i = 0; i < rows; ++i) {
    const Offset length = g.row_ptr[i + 1] - g.row_ptr[i];
    const auto m = static_cast<double>(length);
    if (begins[i] != 0) {
      pieces.push_back({i, 1});
    } else {
      pieces.back() = {i, pieces.back().count + 1};
    }
    if (i + 1 == rows || begins[i + 1] != 0) result.operations += m * m * m / 3;
    if (length <= result.longest) continue;
    result.longest = length;
    result.longest_row = i;
  }
  const std::vector<Index> limits = fsai_limits(machine_of(ctx));
  const Buckets buckets =
      stable_buckets(host_context(ctx), static_cast<Index>(pieces.size()), limits.size() + 1, [&](Index k) {
        const Index i = pieces[k].last;
        return std::lower_bound(limits.begin(), limits.end(), g.row_ptr[i + 1] - g.row_ptr[i]) - limits.begin();
      });
  std::vector<Index> counts;
  for (std::size_t k = 0; k <= limits.size(); ++k) {
    counts.push_back(static_cast<Index>(buckets.begin[k + 1] - buckets.begin[k]));
  }
  result.by_size.classes = make_fsai_classes(limits, result.longest, counts);
  std::vector<FsaiPiece> by_class;
  for (const auto k : buckets.member) by_class.push_back(pieces[k]);
  result.by_size.pieces = make_array(ctx, by_class);
}

}  // namespace

template <class T, Space S>
FsaiSymbolic<S> make_fsai_symbolic(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                   const PrecondOptions& options, const Pattern<S>* whole) {
  FsaiSymbolic<S> result;
  if constexpr (S == Space::device) {
    const PatternOptions& shape = options.of<PatternOptions>();
    const bool of_a = options.of<FsaiOptions>().power == 1 && shape.drop == 0 && shape.pattern == nullptr;
    if ((of_a || whole != nullptr) && make_lower_symbolic(ctx, a, whole, result)) {
      const double mean = static_cast<double>(result.g_nonzeros()) / std::max<Index>(a.rows, 1);
      if (whole != nullptr || result.longest <= most_of_row(short_row_of_fsai, mean, a.rows)) return result;
    }
    result = {};
  }
  FsaiPattern pattern = pattern_on_host(ctx, a, order, options, whole);
  find_pieces(ctx, pattern.g(), result);
  result.a_row_ptr = placed(ctx, std::move(pattern.lower.pattern.row_ptr));
  result.a_col = placed(ctx, std::move(pattern.lower.pattern.col));
  result.a_source = placed(ctx, std::move(pattern.lower.source));
  if (!pattern.g_is_lower) {
    result.g_row_ptr = placed(ctx, std::move(pattern.wider.row_ptr));
    result.g_col = placed(ctx, std::move(pattern.wider.col));
  }
  result.t_row_ptr = placed(ctx, std::move(pattern.transpose.pattern.row_ptr));
  result.t_col = placed(ctx, std::move(pattern.transpose.pattern.col));
  result.t_source = placed(ctx, std::move(pattern.transpose.source));
  return result;
}

#define X(T, S)                                                                                            \
  template FsaiSymbolic<S> make_fsai_symbolic(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&, \
                                              const PrecondOptions&, const Pattern<S>*);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
