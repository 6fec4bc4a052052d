// SPDX-License-Identifier: Apache-2.0
// Orders given by the caller, and the permuted matrix with its value map.
#include <newel/reorder/row_order.hpp>

#include <string>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "reorder/permute_pattern.hpp"

namespace newel {
namespace {

// What is wrong with a list that is no permutation.
[[noreturn]] void throw_no_permutation(const std::vector<Index>& old_of_new) {
  const auto n = static_cast<Index>(old_of_new.size());
  std::vector<Index> new_of_old(old_of_new.size(), -1);
  for (Index i = 0; i < n; ++i) {
    const Index old = old_of_new[i];
    if (old < 0 || old >= n) {
      throw InputError("old_of_new[" + std::to_string(i) + "] is " + std::to_string(old) + ", outside 0 .. " +
                       std::to_string(n - 1));
    }
    if (new_of_old[old] >= 0) {
      throw InputError("old_of_new names row " + std::to_string(old) + " twice, at " +
                       std::to_string(new_of_old[old]) + " and " + std::to_string(i));
    }
    new_of_old[old] = i;
  }
  throw InputError("old_of_new changes while it is read");
}

std::vector<Index> inverse_of(const Context<Space::host>& ctx, const std::vector<Index>& old_of_new) {
  const auto n = static_cast<Index>(old_of_new.size());
  std::vector<Index> new_of_old(old_of_new.size());
  const bool in_range = parallel_all(ctx, n, [&](Index i) {
    const Index old = old_of_new[i];
    if (old < 0 || old >= n) return false;
    atomic_write(new_of_old[old], i);
    return true;
  });
  if (!in_range) throw_no_permutation(old_of_new);
  // Of two that name one row, one has been overwritten.
  const bool sound = parallel_all(ctx, n, [&](Index i) { return new_of_old[old_of_new[i]] == i; });
  if (!sound) throw_no_permutation(old_of_new);
  return new_of_old;
}

}  // namespace

void check_part_bounds(const std::vector<Index>& part_begin, Index n) {
  if (part_begin.empty()) return;
  const auto refuse = [&](std::size_t p, const std::string& expected) {
    throw InputError("the bounds of the parts must ascend from 0 to " + std::to_string(n) + ": expected " + expected +
                     " at " + std::to_string(p) + ", found " + std::to_string(part_begin[p]));
  };
  if (part_begin.front() != 0) refuse(0, "0");
  for (std::size_t p = 1; p < part_begin.size(); ++p) {
    if (part_begin[p] < part_begin[p - 1]) refuse(p, std::to_string(part_begin[p - 1]) + " or more");
  }
  if (part_begin.back() != n) refuse(part_begin.size() - 1, std::to_string(n));
}

template <Space S>
RowOrder<S> make_row_order(const Context<S>& ctx, const std::vector<Index>& old_of_new,
                           std::vector<Index> part_begin) {
  check_part_bounds(part_begin, static_cast<Index>(old_of_new.size()));
  RowOrder<S> order;
  order.new_of_old = make_array(ctx, inverse_of(host_context(ctx), old_of_new));
  order.old_of_new = make_array(ctx, old_of_new);
  order.part_begin = std::move(part_begin);
  return order;
}

template <class T, Space S>
PermutedCsr<T, S> permute(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order) {
  if (a.rows != a.cols) throw InputError("renumbering of rows and columns needs a square matrix");
  if (order.old_of_new.size() != a.rows) {
    throw InputError("an order of " + std::to_string(order.old_of_new.size()) + " rows for a matrix of " +
                     std::to_string(a.rows));
  }
  detail::PermutedPattern<S> p =
      detail::permute_pattern(ctx, Pattern<S>(a), order.old_of_new.cspan(), order.new_of_old.cspan());
  PermutedCsr<T, S> result;
  result.matrix.rows = a.rows;
  result.matrix.cols = a.cols;
  result.matrix.row_ptr = std::move(p.row_ptr);
  result.matrix.col = std::move(p.col);
  result.matrix.val = Array<T, S>(ctx, a.nnz());
  result.value_map = make_value_map(ctx, p.source.cspan(), a.nnz());
  gather<T, S>(ctx, a.val, result.value_map, result.matrix.val.span());
  if (a.value_map != nullptr) result.value_map = make_value_map(ctx, p.source.cspan(), a.nnz(), a.value_map);
  return result;
}

#define X(S) template RowOrder<S> make_row_order(const Context<S>&, const std::vector<Index>&, std::vector<Index>);
NEWEL_FOR_SPACES(X)
#undef X
#define X(T, S) template PermutedCsr<T, S> permute(const Context<S>&, const CsrView<T, S>&, const RowOrder<S>&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
