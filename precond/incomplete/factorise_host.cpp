// SPDX-License-Identifier: Apache-2.0
// Incomplete factors on the host: a thread has a row at a time, spread out over all columns.
#include <algorithm>

#include "core/memory/work_limit.hpp"
#include "core/threads/per_thread.hpp"
#include "precond/incomplete/factorise.hpp"
#include "precond/incomplete/pivot.hpp"

namespace newel::detail {
namespace {

// A row of the factors under way. `at` says whether a column belongs to the row.
template <class T>
struct SpreadRow {
  std::vector<T> value;
  std::vector<Index> row_of;
  explicit SpreadRow(Index n) : value(static_cast<std::size_t>(n), T(0)), row_of(static_cast<std::size_t>(n), -1) {}

  void put(Index i, const Index* col, const T* from, Offset begin, Offset end) {
    for (Offset k = begin; k < end; ++k) {
      value[col[k]] = from[k];
      row_of[col[k]] = i;
    }
  }
};

// The sum and the largest of a row's |a_ij|.
template <class T>
struct RowSize {
  T sum = 0, largest = 0;
  void add(const T* from, Offset begin, Offset end) {
    for (Offset k = begin; k < end; ++k) {
      sum += magnitude(from[k]);
      largest = std::max(largest, magnitude(from[k]));
    }
  }
};

template <class T>
bool all_finite(const T* values, Offset begin, Offset end) {
  T zero = 0;
  for (Offset k = begin; k < end; ++k) zero += values[k] - values[k];
  return zero == T(0);
}

void add(FactorVerdict& to, const FactorVerdict& from) {
  to.bounded += from.bounded;
  to.not_positive += from.not_positive;
  to.not_finite += from.not_finite;
}

// Row i of L, D and U (Y. Saad, 2003, algorithm 10.3, with U's rows divided by their pivots):
// w_j -= w_k u_kj for all k < j in the row, then l_ik = w_k / d_k.
template <class T>
void general_row(const FactorView<T>& f, Index i, SpreadRow<T>& w, FactorVerdict& verdict) {
  const Offset l = f.l_ptr[i], l_end = f.l_ptr[i + 1], u = f.u_ptr[i], u_end = f.u_ptr[i + 1];
  RowSize<T> size;
  size.add(f.a_l, l, l_end);
  size.add(f.a_d, i, i + 1);
  size.add(f.a_u, u, u_end);
  w.put(i, f.l_col, f.a_l, l, l_end);
  w.put(i, f.u_col, f.a_u, u, u_end);
  w.value[i] = shifted(f.a_d[i], size.sum, f);
  w.row_of[i] = i;
  for (Offset e = l; e < l_end; ++e) {
    const Index k = f.l_col[e];
    const T factor = w.value[k];
    f.l_val[e] = factor * f.d_inv[k];
    if (factor == T(0)) continue;
    for (Offset t = f.u_ptr[k]; t < f.u_ptr[k + 1]; ++t) {
      const Index j = f.u_col[t];
      if (w.row_of[j] == i) w.value[j] -= factor * f.u_val[t];
    }
  }
  const T pivot = bounded_pivot(w.value[i], size.largest);
  if (pivot != w.value[i] && is_finite(w.value[i])) ++verdict.bounded;
  const T inverse = T(1) / pivot;
  f.d_inv[i] = inverse;
  for (Offset e = u; e < u_end; ++e) f.u_val[e] = w.value[f.u_col[e]] * inverse;
  if (!is_finite(inverse) || !all_finite(f.l_val, l, l_end) || !all_finite(f.u_val, u, u_end)) ++verdict.not_finite;
}

// What becomes of the pivot of row i.
template <class T>
void finish_symmetric(const FactorView<T>& f, Index i, T pivot, T diagonal, T largest, FactorVerdict& verdict) {
  T used = pivot;
  if (f.positive && !positive_pivot(pivot, diagonal)) {
    ++verdict.not_positive;
    used = T(1);
  } else if (!f.positive) {
    used = bounded_pivot(pivot, largest);
    if (used != pivot && is_finite(pivot)) ++verdict.bounded;
  }
  f.d_inv[i] = T(1) / used;
}

// Row i of L and D of a symmetric matrix: w_j = a_ij - sum_{k < j} w_k l_jk, then l_ij = w_j / d_j and d_i = a_ii -
// sum_j w_j l_ij.
template <class T>
void symmetric_row(const FactorView<T>& f, Index i, SpreadRow<T>& w, FactorVerdict& verdict) {
  const Offset l = f.l_ptr[i], l_end = f.l_ptr[i + 1];
  RowSize<T> size;
  size.add(f.a_l, l, l_end);
  size.add(f.a_d, i, i + 1);
  const T diagonal = shifted(f.a_d[i], size.sum, f);
  T pivot = diagonal;
  for (Offset e = l; e < l_end; ++e) {
    const Index j = f.l_col[e];
    T own = f.a_l[e];
    for (Offset t = f.l_ptr[j]; t < f.l_ptr[j + 1]; ++t) own -= w.value[f.l_col[t]] * f.l_val[t];
    w.value[j] = own;
    f.l_val[e] = own * f.d_inv[j];
    pivot -= own * f.l_val[e];
  }
  for (Offset e = l; e < l_end; ++e) w.value[f.l_col[e]] = T(0);
  finish_symmetric(f, i, pivot, diagonal, size.largest, verdict);
  if (!is_finite(f.d_inv[i]) || !all_finite(f.l_val, l, l_end)) ++verdict.not_finite;
}

}  // namespace

FactorWork<Space::host>::FactorWork(const Context<Space::host>&, const FactorPattern& p) {
  constexpr double least = 8192;  // multiplications: several times as long as it takes to start threads
  const auto work = [&](Index i) {
    const auto own = static_cast<double>(p.parts.lower.row_length(i));
    return (own + 1) * static_cast<double>(p.parts.upper.row_length(i) + 1);
  };
  phases_ = level_phases(p.level_begin, least, work);
}

template <class T>
FactorVerdict factorise(const Context<Space::host>& ctx, const FactorView<T>& f,
                        const FactorWork<Space::host>& work) {
  PerThread<SpreadRow<T>> rows(ctx);
  FactorVerdict total = {};
  const WorkLimit& limit = work_limit(ctx);
  for (const LevelPhase& phase : work.phases()) {
    limit.check();
    const std::int64_t shares = phase.parallel ? share_count(ctx, phase.end - phase.begin, 64) : 1;
    std::vector<FactorVerdict> verdicts(static_cast<std::size_t>(shares), FactorVerdict{});
    parallel_tasks(ctx, shares, [&](std::int64_t share, int member) {
      SpreadRow<T>& row = rows.of(member, f.rows);
      const std::int64_t count = phase.end - phase.begin;
      const auto end = static_cast<Index>(phase.begin + share_begin(count, shares, share + 1));
      for (auto i = static_cast<Index>(phase.begin + share_begin(count, shares, share)); i < end; ++i) {
        if (f.symmetric)
          symmetric_row(f, i, row, verdicts[share]);
        else
          general_row(f, i, row, verdicts[share]);
      }
    });
    for (const FactorVerdict& own : verdicts) add(total, own);
  }
  if (!f.symmetric) return total;
  parallel_for(ctx, f.rows, [&](Index i) { f.d_inv[i] = magnitude(f.d_inv[i]); });
  parallel_for(ctx, f.u_ptr[f.rows], [&](Offset e) { f.u_val[e] = f.l_val[f.mirror[e]]; });
  return total;
}

#define X(T) \
  template FactorVerdict factorise(const Context<Space::host>&, const FactorView<T>&, const FactorWork<Space::host>&);
X(double)
X(float)
#undef X

}  // namespace newel::detail
