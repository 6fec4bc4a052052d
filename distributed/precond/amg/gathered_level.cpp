// SPDX-License-Identifier: Apache-2.0
// Every rank gets the rows of all ranks.
#include "distributed/precond/amg/gathered_level.hpp"

#include <algorithm>
#include <utility>

#include <newel/core/vector_ops.hpp>
#include "core/csr/sorted_row.hpp"
#include "core/vectors/instantiate.hpp"
#include "core/vectors/over_ranks.hpp"
#include "distributed/rows/numbers_text.hpp"
#include "precond/amg/transfer/near_null.hpp"

namespace newel::detail {
namespace {

// The blocks of a level's rows with columns of the whole level, which ascend.
struct WholeColumns {
  std::vector<std::int64_t> lengths_and_columns;  // the length of each row before its columns
  std::vector<Offset> block;                      // where each stands

  template <Space S>
  WholeColumns(const RankLevel<S>& level, const HostBlockPattern& a) {
    std::vector<std::pair<std::int64_t, Offset>> row;
    for (Index i = 0; i < a.rows; ++i) {
      row.clear();
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) row.emplace_back(level.number_of(a.col[k]), k);
      std::sort(row.begin(), row.end());
      lengths_and_columns.push_back(static_cast<std::int64_t>(row.size()));
      for (const auto& [column, k] : row) {
        lengths_and_columns.push_back(column);
        block.push_back(k);
      }
    }
  }
};

// For each value of blocks of `size` values on the pattern `a`, where it stands among those on `come`, which has some
// of its blocks; -1 where it has not.
std::vector<Offset> sources_of(const HostBlockPattern& a, const HostBlockPattern& come, Offset size) {
  std::vector<Offset> source(static_cast<std::size_t>(a.blocks() * size), -1);
  for (Index i = 0; i < come.rows; ++i) {
    for (Offset k = come.row_ptr[i]; k < come.row_ptr[i + 1]; ++k) {
      const Offset at = find_column(a.col.data(), a.row_ptr[i], a.row_ptr[i + 1], come.col[k]);
      for (Offset e = 0; e < size; ++e) source[static_cast<std::size_t>(at * size + e)] = k * size + e;
    }
  }
  return source;
}

}  // namespace

std::vector<double> gather_values(const HostContext& ctx, const std::vector<double>& own) {
  std::vector<double> all;
  for (const std::string& text : ctx.ranks()->communicator->texts(text_of_numbers(own))) {
    const std::vector<double> of_rank = numbers_of<double>(text);
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  return all;
}

template <Space S>
GatheredLevel<S>::GatheredLevel(const Context<S>& setup, const RankLevel<S>& level, const NearNull<S>& near_null,
                                bool symmetric) {
  const HostContext& ctx = host_context(setup);
  near_null_.vectors = near_null.vectors;
  near_null_.values = staged(setup, gather_values(ctx, to_vector(setup, span_of(near_null.values))));
  const BlockCsr<S>& own = level.own.a;
  const Offset size = own.block_size();
  const WholeColumns columns(level, on_host(setup, own.pattern));
  HostBlockPattern come;
  come.rows = come.cols = static_cast<Index>(level.all_nodes());
  come.row_ptr = Array<Offset, Space::host>(ctx, Offset{come.rows} + 1);
  come.row_ptr[0] = 0;
  std::vector<Index> col;
  std::vector<Offset> received;
  Index row = 0;
  for (const std::string& text : ctx.ranks()->communicator->texts(text_of_numbers(columns.lengths_and_columns))) {
    const std::vector<std::int64_t> of_rank = numbers_of<std::int64_t>(text);
    const std::size_t before = col.size();
    for (auto at = of_rank.begin(); at != of_rank.end();) {
      const auto end = at + 1 + *at;
      std::transform(at + 1, end, std::back_inserter(col), [](std::int64_t j) { return static_cast<Index>(j); });
      come.row_ptr[++row] = static_cast<Offset>(col.size());
      at = end;
    }
    received.push_back(static_cast<Offset>(col.size() - before));
  }
  come.col = make_array(ctx, col);
  a_.row_block = a_.col_block = own.row_block;
  if (symmetric) {
    HostBlockPattern whole = united(ctx, come, transpose(ctx, come).pattern);
    source_ = make_value_map(setup, make_array(setup, sources_of(whole, come, size)).cspan(), come.blocks() * size);
    come = std::move(whole);
  }
  a_.val = Array<double, S>(setup, come.blocks() * size);
  a_.pattern = in_space(setup, std::move(come));
  values_ = std::make_unique<ValueExchange<double, S>>(
      setup, std::vector<std::vector<Offset>>(received.size(), columns.block), received, static_cast<int>(size));
  refresh(setup, level);
}

template <Space S>
void GatheredLevel<S>::refresh(const Context<S>& ctx, const RankLevel<S>& level) {
  gather<double, S>(ctx, values_->run(level.own.a.val.cspan()), source_, a_.val.span());
}

template <Space S>
std::uint64_t GatheredLevel<S>::bytes() const {
  return a_.bytes() + source_.bytes() + near_null_.values.size() * sizeof(double) +
         (values_ == nullptr ? 0 : values_->bytes());
}

#define X(S) template class GatheredLevel<S>;
NEWEL_FOR_SPACES(X)
#undef X

}  // namespace newel::detail
