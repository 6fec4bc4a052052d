// SPDX-License-Identifier: Apache-2.0
// A given pattern checked, renumbered and brought into the form of those that the library makes.
#include <newel/precond/given_pattern.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <newel/core/error.hpp>
#include "precond/sparsity.hpp"
#include "reorder/exclusive_sum.hpp"

namespace newel::detail {
namespace {

void require(bool sound, const std::string& what) {
  if (!sound) throw InputError("the pattern given for a preconditioner: " + what);
}

void check(const GivenPattern& given, Index n) {
  require(given.rows == n, "it has " + std::to_string(given.rows) + " rows, the matrix " + std::to_string(n));
  require(static_cast<Offset>(given.row_ptr.size()) == Offset{n} + 1,
          "there are " + std::to_string(given.row_ptr.size()) + " row pointers for " + std::to_string(n) + " rows");
  require(given.row_ptr.front() == 0 && given.row_ptr.back() == static_cast<Offset>(given.col.size()),
          "row pointers must start at 0 and end at the number of entries");
  for (Index i = 0; i < n; ++i) {
    require(given.row_ptr[i] <= given.row_ptr[i + 1], "the row pointers of row " + std::to_string(i) + " decrease");
  }
  for (Index i = 0; i < n; ++i) {
    for (Offset k = given.row_ptr[i]; k < given.row_ptr[i + 1]; ++k) {
      if (given.col[k] >= 0 && given.col[k] < n) continue;
      require(false, "row " + std::to_string(i) + " has an entry in column " + std::to_string(given.col[k]));
    }
  }
}

}  // namespace

Sparsity given_sparsity(const Context<Space::host>& ctx, const GivenPattern& given, Index n,
                        const std::vector<Index>& new_of_old, GivenFold fold) {
  check(given, n);
  const auto renumbered = [&](Index i) { return new_of_old.empty() ? i : new_of_old[i]; };
  const auto for_entries = [&](auto&& f) {
    for (Index i = 0; i < n; ++i) {
      for (Offset k = given.row_ptr[i]; k < given.row_ptr[i + 1]; ++k) {
        Index row = renumbered(i), col = renumbered(given.col[k]);
        if (fold == GivenFold::transposed || (fold == GivenFold::lower && row < col)) std::swap(row, col);
        f(row, col);
      }
    }
  };
  Sparsity folded;
  folded.rows = folded.cols = n;
  folded.row_ptr = Array<Offset, Space::host>(ctx, Offset{n} + 1);
  std::fill(folded.row_ptr.begin(), folded.row_ptr.end(), Offset{0});
  for_entries([&](Index row, Index) { ++folded.row_ptr[row]; });
  exclusive_sum(ctx, folded.row_ptr);
  folded.col = Array<Index, Space::host>(ctx, folded.row_ptr[n]);
  std::vector<Offset> next(folded.row_ptr.begin(), folded.row_ptr.end());
  for_entries([&](Index row, Index col) { folded.col[next[row]++] = col; });
  return power_of(ctx, folded.view(), 1);  // sorts, takes entries once and adds the diagonal
}

}  // namespace newel::detail
