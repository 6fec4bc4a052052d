// SPDX-License-Identifier: Apache-2.0
// Matrices of dense blocks: from single entries and back, and transposed.
#include "precond/amg/blocks/block_csr.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <newel/core/parallel.hpp>
#include "core/threads/per_thread.hpp"
#include "core/csr/sorted_row.hpp"
#include "precond/amg/blocks/pattern_rows.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

// The rows of a renumbered matrix in the numbering that it had.
template <class T>
class OldRows {
 public:
  OldRows(const HostContext& ctx, const CsrView<T, Space::host>& a, const std::vector<Index>& old_of_new, int block)
      : a_(a), old_of_new_(old_of_new), new_of_old_(old_of_new.size()), block_(block), scratch_(ctx) {
    for (std::size_t i = 0; i < old_of_new.size(); ++i) new_of_old_[old_of_new[i]] = static_cast<Index>(i);
  }

  // Calls f(column, place in a) for the entries of row i.
  template <class F>
  void for_entries(Index i, F&& f) const {
    const Index row = new_of_old_.empty() ? i : new_of_old_[i];
    for (Offset k = a_.row_begin(row); k < a_.row_begin(row + 1); ++k) {
      f(old_of_new_.empty() ? a_.col[k] : old_of_new_[a_.col[k]], k);
    }
  }
  // Whether the rows of a node have whole blocks that ascend and are the same in each, so that entries stand as in
  // blocks; then how many, else -1.
  Offset whole_blocks(Index node) const {
    if (!old_of_new_.empty()) return -1;
    const Offset begin = a_.row_begin(node * block_), length = a_.row_begin(node * block_ + 1) - begin;
    if (length % block_ != 0) return -1;
    const Index* const col = a_.col.data + begin;
    bool whole = true;
    for (int r = 1; r < block_; ++r) {
      const Offset other = a_.row_begin(node * block_ + r);
      if (a_.row_begin(node * block_ + r + 1) - other != length) return -1;
      whole = whole && std::equal(col, col + length, a_.col.data + other);
    }
    Index least = 0;
    for (Offset k = 0; k < length && whole; k += block_) {
      whole = col[k] % block_ == 0 && col[k] >= least;
      for (int c = 1; c < block_; ++c) whole = whole && col[k + c] == col[k] + c;
      least = col[k] + 1;
    }
    return whole ? length / block_ : -1;
  }
  // f(block of the node's row, row in it, the place of its first entry in a) for the blocks of `whole_blocks`.
  template <class F>
  void for_whole_blocks(Index node, Offset blocks, F&& f) const {
    for (int r = 0; r < block_; ++r) {
      const Offset begin = a_.row_begin(node * block_ + r);
      for (Offset k = 0; k < blocks; ++k) f(k, r, begin + k * block_);
    }
  }
  // The columns of a row of blocks, ascending; valid until the thread's next call.
  const std::vector<Index>& columns_of(Index node, int member) const {
    std::vector<Index>& columns = scratch_.of(member);
    columns.clear();
    for (int r = 0; r < block_; ++r) {
      for_entries(node * block_ + r, [&](Index j, Offset) {
        if (columns.empty() || columns.back() != j / block_) columns.push_back(j / block_);
      });
    }
    if (!std::is_sorted(columns.begin(), columns.end())) std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    return columns;
  }

 private:
  const CsrView<T, Space::host>& a_;
  const std::vector<Index>& old_of_new_;
  std::vector<Index> new_of_old_;
  int block_;
  mutable PerThread<std::vector<Index>> scratch_;
};

template <class T>
bool columns_ascend(const HostContext& ctx, const CsrView<T, Space::host>& a) {
  return parallel_all(ctx, a.rows, [&](Index i) {
    for (Offset k = a.row_begin(i) + 1; k < a.row_begin(i + 1); ++k) {
      if (a.col[k - 1] >= a.col[k]) return false;
    }
    return true;
  });
}

// Single entries that stand as they should.
template <class T>
HostBlockCsr copied(const HostContext& ctx, const CsrView<T, Space::host>& a) {
  HostBlockCsr result;
  result.pattern.rows = result.pattern.cols = a.rows;
  result.pattern.row_ptr = Array<Offset, Space::host>(ctx, Offset{a.rows} + 1);
  result.pattern.col = Array<Index, Space::host>(ctx, a.nnz());
  result.val = Array<double, Space::host>(ctx, a.nnz());
  parallel_for(ctx, Offset{a.rows} + 1,
               [&](Offset i) { result.pattern.row_ptr[i] = a.row_begin(static_cast<Index>(i)); });
  parallel_for(ctx, a.nnz(), [&](Offset k) {
    result.pattern.col[k] = a.col[k];
    result.val[k] = static_cast<double>(a.val[k]);
  });
  return result;
}

}  // namespace

// The processor does not guess where in a row the diagonal stands: a short row is counted through without a branch.
Offset diagonal_at(const HostBlockPattern& a, Index i) {
  constexpr Offset few = 48;
  const Index* const col = a.col.data();
  const Offset begin = a.row_ptr[i], end = a.row_ptr[i + 1];
  if (end - begin > few) return find_column(col, begin, end, i);
  Offset at = begin;
  for (Offset k = begin; k < end; ++k) at += col[k] < i ? 1 : 0;
  return at < end && col[at] == i ? at : Offset{-1};
}

template <class T>
HostBlockCsr make_block_csr(const HostContext& ctx, const CsrView<T, Space::host>& a,
                            const std::vector<Index>& old_of_new, int block, Array<Offset, Space::host>& source) {
  if (block == 1 && old_of_new.empty() && columns_ascend(ctx, a)) {
    source = {};
    return copied(ctx, a);
  }
  const OldRows<T> rows(ctx, a, old_of_new, block);
  HostBlockCsr result;
  HostBlockPattern& pattern = result.pattern;
  pattern.rows = pattern.cols = a.rows / block;
  result.row_block = result.col_block = block;
  pattern.row_ptr = Array<Offset, Space::host>(ctx, Offset{pattern.rows} + 1);
  parallel_blocks(ctx, pattern.rows, 512, [&](Index node, int member) {
    const Offset whole = rows.whole_blocks(node);
    pattern.row_ptr[node] = whole >= 0 ? whole : static_cast<Offset>(rows.columns_of(node, member).size());
  });
  pattern.row_ptr[pattern.rows] = 0;
  exclusive_sum(ctx, pattern.row_ptr);
  pattern.col = Array<Index, Space::host>(ctx, pattern.row_ptr[pattern.rows]);
  const int size = result.block_size();
  result.val = Array<double, Space::host>(ctx, pattern.blocks() * size);
  source = Array<Offset, Space::host>(ctx, result.val.size());
  parallel_blocks(ctx, pattern.rows, 512, [&](Index node, int member) {
    const Offset begin = pattern.row_ptr[node], end = pattern.row_ptr[node + 1];
    if (const Offset whole = rows.whole_blocks(node); whole >= 0) {
      rows.for_whole_blocks(node, whole, [&](Offset k, int r, Offset from) {
        if (r == 0) pattern.col[begin + k] = a.col[from] / block;
        const Offset place = (begin + k) * size + r * block;
        for (int c = 0; c < block; ++c) {
          result.val[place + c] = static_cast<double>(a.val[from + c]);
          source[place + c] = from + c;
        }
      });
      return;
    }
    const std::vector<Index>& columns = rows.columns_of(node, member);
    std::copy(columns.begin(), columns.end(), pattern.col.data() + begin);
    std::fill(result.val.data() + begin * size, result.val.data() + end * size, 0.0);
    std::fill(source.data() + begin * size, source.data() + end * size, Offset{-1});
    for (int r = 0; r < block; ++r) {
      rows.for_entries(node * block + r, [&](Index j, Offset k) {
        const auto at = std::lower_bound(columns.begin(), columns.end(), j / block) - columns.begin();
        const Offset place = (begin + at) * size + r * block + j % block;
        result.val[place] = static_cast<double>(a.val[k]);
        source[place] = k;
      });
    }
  });
  return result;
}

TransposedPattern<Space::host> transpose(const HostContext& ctx, const HostBlockPattern& a) {
  TransposedPattern<Space::host> result;
  HostBlockPattern& t = result.pattern;
  t.rows = a.cols;
  t.cols = a.rows;
  t.row_ptr = Array<Offset, Space::host>(ctx, Offset{t.rows} + 1);
  t.col = Array<Index, Space::host>(ctx, a.blocks());
  result.source = Array<Offset, Space::host>(ctx, a.blocks());
  // Each thread has consecutive rows, and places of its own in every transposed row.
  std::vector<std::vector<Offset>> next(static_cast<std::size_t>(ctx.threads()));
  parallel_ranges(ctx, a.rows, [&](Index begin, Index end, std::int64_t share) {
    std::vector<Offset>& count = next[static_cast<std::size_t>(share)];
    count.assign(static_cast<std::size_t>(a.cols), 0);
    for (Offset k = a.row_ptr[begin]; k < a.row_ptr[end]; ++k) ++count[a.col[k]];
  });
  t.row_ptr[t.rows] = 0;
  parallel_for(ctx, t.rows, [&](Index j) {
    Offset sum = 0;
    for (const std::vector<Offset>& count : next) sum += count.empty() ? 0 : count[j];
    t.row_ptr[j] = sum;
  });
  exclusive_sum(ctx, t.row_ptr);
  parallel_for(ctx, t.rows, [&](Index j) {
    Offset at = t.row_ptr[j];
    for (std::vector<Offset>& count : next) {
      if (!count.empty()) at += std::exchange(count[j], at);
    }
  });
  parallel_ranges(ctx, a.rows, [&](Index begin, Index end, std::int64_t share) {
    std::vector<Offset>& at = next[static_cast<std::size_t>(share)];
    for (Index i = begin; i < end; ++i) {
      for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) {
        t.col[at[a.col[k]]] = i;
        result.source[at[a.col[k]]++] = k;
      }
    }
  });
  return result;
}

HostBlockPattern united(const HostContext& ctx, const HostBlockPattern& a, const HostBlockPattern& b) {
  return pattern_by_rows(ctx, a.rows, a.cols, [&](Index i, int, std::vector<Index>& columns) {
    std::set_union(a.col.data() + a.row_ptr[i], a.col.data() + a.row_ptr[i + 1], b.col.data() + b.row_ptr[i],
                   b.col.data() + b.row_ptr[i + 1], std::back_inserter(columns));
  });
}

ScalarPattern<Space::host> scalar_rows(const HostContext& ctx, const HostBlockCsr& a,
                                       const std::vector<Index>& old_of_new) {
  ScalarPattern<Space::host> s;
  s.rows = a.scalar_rows();
  s.cols = a.scalar_cols();
  s.row_ptr = Array<Offset, Space::host>(ctx, Offset{s.rows} + 1);
  const auto old_row = [&](Index i) { return old_of_new.empty() ? i : old_of_new[i]; };
  const HostBlockPattern& pattern = a.pattern;
  parallel_for(ctx, s.rows, [&](Index i) {
    const Index node = old_row(i) / a.row_block;
    s.row_ptr[i] = (pattern.row_ptr[node + 1] - pattern.row_ptr[node]) * a.col_block;
  });
  s.row_ptr[s.rows] = 0;
  exclusive_sum(ctx, s.row_ptr);
  s.col = Array<Index, Space::host>(ctx, s.row_ptr[s.rows]);
  s.source = Array<Offset, Space::host>(ctx, s.row_ptr[s.rows]);
  parallel_for(ctx, s.rows, [&](Index i) {
    const Index node = old_row(i) / a.row_block, r = old_row(i) % a.row_block;
    Offset at = s.row_ptr[i];
    for (Offset k = pattern.row_ptr[node]; k < pattern.row_ptr[node + 1]; ++k) {
      for (int c = 0; c < a.col_block; ++c, ++at) {
        s.col[at] = pattern.col[k] * a.col_block + c;
        s.source[at] = k * a.block_size() + r * a.col_block + c;
      }
    }
  });
  return s;
}

ScalarPattern<Space::host> scalar_columns(const HostContext& ctx, const HostBlockCsr& a,
                                          const std::vector<Index>& new_of_old) {
  const TransposedPattern<Space::host> t = transpose(ctx, a.pattern);
  ScalarPattern<Space::host> s;
  s.rows = a.scalar_cols();
  s.cols = a.scalar_rows();
  s.row_ptr = Array<Offset, Space::host>(ctx, Offset{s.rows} + 1);
  parallel_for(ctx, s.rows, [&](Index j) {
    const Index node = j / a.col_block;
    s.row_ptr[j] = (t.pattern.row_ptr[node + 1] - t.pattern.row_ptr[node]) * a.row_block;
  });
  s.row_ptr[s.rows] = 0;
  exclusive_sum(ctx, s.row_ptr);
  s.col = Array<Index, Space::host>(ctx, s.row_ptr[s.rows]);
  s.source = Array<Offset, Space::host>(ctx, s.row_ptr[s.rows]);
  PerThread<std::vector<std::pair<Index, Offset>>> scratch(ctx);
  parallel_blocks(ctx, s.rows, 256, [&](Index j, int member) {
    auto& row = scratch.of(member);
    row.clear();
    const Index node = j / a.col_block, c = j % a.col_block;
    for (Offset k = t.pattern.row_ptr[node]; k < t.pattern.row_ptr[node + 1]; ++k) {
      for (int r = 0; r < a.row_block; ++r) {
        const Index i = t.pattern.col[k] * a.row_block + r;
        row.emplace_back(new_of_old.empty() ? i : new_of_old[i], t.source[k] * a.block_size() + r * a.col_block + c);
      }
    }
    if (!new_of_old.empty()) std::sort(row.begin(), row.end());
    Offset at = s.row_ptr[j];
    for (const auto& [column, source] : row) {
      s.col[at] = column;
      s.source[at++] = source;
    }
  });
  return s;
}

template HostBlockCsr make_block_csr(const HostContext&, const CsrView<double, Space::host>&,
                                     const std::vector<Index>&, int, Array<Offset, Space::host>&);
template HostBlockCsr make_block_csr(const HostContext&, const CsrView<float, Space::host>&,
                                     const std::vector<Index>&, int, Array<Offset, Space::host>&);

}  // namespace newel::detail
