// SPDX-License-Identifier: Apache-2.0
// Facts of a matrix on ranks, from rows that are on devices.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/csr/asymmetry.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/precond/rank_traits.hpp"
#include "distributed/rows/numbers_text.hpp"
#include "distributed/rows/rows_on_device.cuh"
#include "distributed/rows/value_exchange.hpp"
#include "precond/amg/blocks/elements_device.cuh"

namespace newel::detail {
namespace {

// From zeros; doubles that are never negative are compared by their bits.
struct DeviceFacts {
  unsigned long long count[RankFacts::counted_kinds];
  unsigned long long most[RankFacts::compared_kinds];
};

// Few values are larger than what stands there: the others do not wait for each other.
__device__ void take_larger(unsigned long long* at, double value) {
  const auto bits = static_cast<unsigned long long>(__double_as_longlong(value));
  if (value > 0 && bits > *static_cast<volatile unsigned long long*>(at)) atomicMax(at, bits);
}

// Some lanes have a row.
template <class T>
struct ReadRows {
  NumberedView a;
  const T* val;
  double *scales, *undamped;
  DeviceFacts* facts;

  __device__ void operator()(const RowLanes& at) const {
    const Offset begin = a.begin(at.row), end = a.end(at.row);
    double largest = 0, sum = 0;
    for (Offset k = begin + at.lane; k < end; k += RowLanes::count) {
      const auto value = static_cast<double>(val[k]);
      largest = fmax(largest, fabs(value));
      sum += value;
    }
    sum = at.sum(sum);
    largest = at.most(largest);
    if (at.lane > 0) return;
    const Offset place = a.find_own(at.row, at.row);
    const double diagonal = place < 0 ? 0.0 : static_cast<double>(val[place]);
    scales[at.row] = row_scale(largest);
    undamped[at.row] = diagonal != 0 && fabs(sum) <= MatrixTraits::undamped * fabs(diagonal) ? 1 : 0;
    take_larger(&facts->most[RankFacts::in_max_abs], largest);
    if (begin == end) atomicAdd(&facts->count[RankFacts::in_empty], 1ull);
    if (place < 0) atomicAdd(&facts->count[RankFacts::in_missing], 1ull);
    if (place >= 0 && diagonal == 0) atomicAdd(&facts->count[RankFacts::in_zero], 1ull);
    if (diagonal < 0) atomicAdd(&facts->count[RankFacts::in_negative], 1ull);
  }
};

// Some lanes have a row: its entries in columns of this rank, and their opposites.
template <class T>
struct ComparePairs {
  NumberedView a;
  const T* val;
  const double* scales;
  DeviceFacts* facts;

  __device__ void operator()(const RowLanes& at) const {
    const Index i = at.row;
    double asymmetry = 0, relative = 0, unmatched = 0;
    for (Offset k = a.begin(i) + at.lane; k < a.end(i); k += RowLanes::count) {
      const Index j = a.col[k];
      if (j == i || j >= a.rows) continue;
      const Offset opposite = a.find_own(j, i);
      const auto here = static_cast<double>(val[k]);
      const double there = opposite < 0 ? 0.0 : static_cast<double>(val[opposite]);
      unmatched += opposite < 0 ? 1 : 0;
      if (here == there) continue;
      const double difference = fabs(here - there);
      asymmetry = fmax(asymmetry, difference);
      relative = fmax(relative, relative_asymmetry(difference, scales[i], scales[j]));
    }
    unmatched = at.sum(unmatched);
    asymmetry = at.most(asymmetry);
    relative = at.most(relative);
    if (at.lane > 0) return;
    if (unmatched > 0) atomicAdd(&facts->count[RankFacts::in_unmatched], static_cast<unsigned long long>(unmatched));
    take_larger(&facts->most[RankFacts::in_asymmetry], asymmetry);
    take_larger(&facts->most[RankFacts::in_relative_asymmetry], relative);
  }
};

// Entries in columns of other ranks, as those are told: row, column, value and scale of the row. All are exact.
template <class T>
class BorderEntries {
 public:
  static constexpr int width = 4;

  BorderEntries(const HostContext& ctx, const RankMatrix<T>& a, const std::vector<unsigned char>& reads_others,
                const std::vector<double>& scales)
      : ctx_(ctx), a_(a), scales_(scales), ranks_(*ctx.ranks()->communicator) {
    for (std::size_t i = 0; i < reads_others.size(); ++i) {
      if (reads_others[i] != 0) border_.push_back(static_cast<Index>(i));
    }
  }

  // Those that other ranks have in columns of this one. All ranks call it together.
  Span<const double, Space::host> exchange() {
    std::vector<Offset> sent, received;
    for (int r = 0; r < ranks_.size(); ++r) {
      std::vector<Offset>& begin = begins_.emplace_back(border_.size() + 1, 0);
      if (r != ranks_.rank()) {
        parallel_for(ctx_, rows(), [&](Index k) {
          const auto [first, last] = entries(k, r);
          begin[static_cast<std::size_t>(k) + 1] = last - first;
        });
        std::partial_sum(begin.begin(), begin.end(), begin.begin());
      }
      sent.push_back(begin.back() * width);
    }
    for (const std::string& of_rank : ranks_.texts(text_of_numbers(sent))) {
      received.push_back(numbers_of<Offset>(of_rank)[static_cast<std::size_t>(ranks_.rank())]);
    }
    messages_.emplace(ctx_, sent, received);
    double* to = messages_->to_send().data;
    for (int r = 0; r < ranks_.size(); ++r) {
      if (r != ranks_.rank()) write(r, to);
      to += sent[static_cast<std::size_t>(r)];
    }
    return messages_->run();
  }

 private:
  Index rows() const { return static_cast<Index>(border_.size()); }
  // The first entry of border row k in a column of rank r, and the one after the last.
  std::pair<Offset, Offset> entries(Index k, int r) const {
    const Index i = border_[static_cast<std::size_t>(k)];
    const std::int64_t* const col = a_.rows.col.data;
    const auto from = [&](std::int64_t row) {
      return std::lower_bound(col + a_.rows.row_ptr[i], col + a_.rows.row_ptr[i + 1], row) - col;
    };
    return {from(a_.first_rows[static_cast<std::size_t>(r)]), from(a_.first_rows[static_cast<std::size_t>(r) + 1])};
  }
  void write(int r, double* to) const {
    const std::int64_t first_row = a_.first_rows[static_cast<std::size_t>(ranks_.rank())];
    parallel_for(ctx_, rows(), [&](Index k) {
      const Index i = border_[static_cast<std::size_t>(k)];
      const auto [first, last] = entries(k, r);
      double* at = to + begins_[static_cast<std::size_t>(r)][static_cast<std::size_t>(k)] * width;
      for (Offset e = first; e < last; ++e, at += width) {
        at[0] = static_cast<double>(first_row + i);
        at[1] = static_cast<double>(a_.rows.col[e]);
        at[2] = static_cast<double>(a_.rows.val[e]);
        at[3] = scales_[static_cast<std::size_t>(i)];
      }
    });
  }

  const HostContext& ctx_;
  const RankMatrix<T>& a_;
  const std::vector<double>& scales_;
  Communicator& ranks_;
  std::vector<Index> border_;                // rows that read other ranks
  std::vector<std::vector<Offset>> begins_;  // for each rank, of each of these rows among what is sent
  std::optional<MessageExchange<double>> messages_;
};

// The entries opposite to those of other ranks. All ranks call it together.
template <class T>
void compare_borders(const HostContext& ctx, const RankMatrix<T>& a, const std::vector<unsigned char>& reads_others,
                     const std::vector<double>& scales, RankFacts& facts) {
  constexpr int width = BorderEntries<T>::width;
  BorderEntries<T> entries(ctx, a, reads_others, scales);
  const Span<const double, Space::host> come = entries.exchange();
  const std::int64_t first = a.first_rows[static_cast<std::size_t>(ctx.ranks()->communicator->rank())];
  const std::int64_t* const col = a.rows.col.data;
  const auto compare = [&](std::int64_t e, RankFacts& mine) {
    const double* const entry = come.data + e * width;
    const auto column = static_cast<std::int64_t>(entry[0]), row = static_cast<std::int64_t>(entry[1]) - first;
    const std::int64_t* const end = col + a.rows.row_ptr[row + 1];
    const std::int64_t* const at = std::lower_bound(col + a.rows.row_ptr[row], end, column);
    const bool stored = at != end && *at == column;
    mine.take_pair(entry[2], stored ? static_cast<double>(a.rows.val[at - col]) : 0.0, stored, entry[3],
                   scales[static_cast<std::size_t>(row)]);
  };
  facts.join(parallel_reduce(ctx, come.size / width, RankFacts{}, compare,
                             [](RankFacts& all, const RankFacts& mine) { all.join(mine); }));
}

}  // namespace

template <class T>
MatrixTraits rank_traits(const DeviceContext& ctx, const RankMatrix<T>& a, const RowsOnDevice<T>& rows) {
  const NumberedView view(*rows.columns);
  DeviceArray<double> scales(ctx, view.rows), undamped(ctx, view.rows);
  DeviceArray<DeviceFacts> found = zeros<DeviceFacts>(ctx, 1);
  DeviceArray<double> sum_of_undamped = zeros<double>(ctx, 1);
  for_rows_by_lanes(ctx, view.rows, ReadRows<T>{view, rows.val.data(), scales.data(), undamped.data(), found.data()});
  for_rows_by_lanes(ctx, view.rows, ComparePairs<T>{view, rows.val.data(), scales.data(), found.data()});
  sum(ctx, undamped.cspan(), sum_of_undamped.data());
  const DeviceFacts here = value_at(ctx, found, 0);
  RankFacts facts;
  for (int k = 0; k < RankFacts::counted_kinds; ++k) facts.count[k] = static_cast<double>(here.count[k]);
  for (int k = 0; k < RankFacts::compared_kinds; ++k) {
    std::memcpy(&facts.most[k], &here.most[k], sizeof(double));
  }
  facts.count[RankFacts::in_undamped] = value_at(ctx, sum_of_undamped, 0);
  compare_borders(host_context(ctx), a, to_vector(ctx, rows.columns->reads_others.cspan()),
                  to_vector(ctx, scales.cspan()), facts);
  return facts.of_all(host_context(ctx), a.first_rows.back());
}

#define X(T) template MatrixTraits rank_traits(const DeviceContext&, const RankMatrix<T>&, const RowsOnDevice<T>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
