// SPDX-License-Identifier: Apache-2.0
// Condensing a system, and the options that are given for all of its rows.
#include "solver/equivalent/condensed_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <newel/core/matrix_traits.hpp>
#include <newel/core/vector_ops.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/saddle/saddle_options.hpp>
#include "core/vectors/instantiate.hpp"

namespace newel::detail {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// `width` values for each of the rows that are kept.
std::vector<double> kept_values(const std::vector<double>& values, const std::vector<Index>& rows, Index kept,
                                std::size_t width) {
  std::vector<double> found;
  found.reserve(at(kept) * width);
  for (Index k = 0; k < kept; ++k) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(at(rows[at(k)]) * width);
    found.insert(found.end(), first, first + static_cast<std::ptrdiff_t>(width));
  }
  return found;
}

// The nodes of the rows that are kept; null if a node has rows of both kinds.
std::shared_ptr<const NodeCoordinates> kept_nodes(const NodeCoordinates& all, const std::vector<Index>& rows,
                                                  Index kept, AmgNumbering numbering) {
  const std::size_t points = all.xyz.size() / at(all.dimension), n = rows.size();
  if (points == 0 || n % points != 0) return nullptr;
  const std::size_t node_rows = n / points;
  std::vector<std::size_t> rows_of(points, 0);
  for (Index k = 0; k < kept; ++k) {
    const std::size_t row = at(rows[at(k)]);
    ++rows_of[numbering == AmgNumbering::by_component ? row % points : row / node_rows];
  }
  auto found = std::make_shared<NodeCoordinates>();
  found->dimension = all.dimension;
  for (std::size_t p = 0; p < points; ++p) {
    if (rows_of[p] == 0) continue;
    if (rows_of[p] != node_rows) return nullptr;
    const auto first = all.xyz.begin() + static_cast<std::ptrdiff_t>(p * at(all.dimension));
    found->xyz.insert(found->xyz.end(), first, first + all.dimension);
  }
  return found;
}

// The constraints of a saddle point among the rows that are kept, as they are numbered there. False: a row that is
// left out has a row of the caller's matrix for the Schur complement.
bool restrict_constraints(const std::vector<Index>& rows, Index kept, SaddleOptions& saddle) {
  if (saddle.rows == nullptr && saddle.constraints == 0) return true;
  std::vector<char> is_constraint(rows.size(), 0);
  for (std::size_t i = rows.size() - std::min(rows.size(), at(saddle.constraints)); i < rows.size(); ++i) {
    is_constraint[i] = 1;
  }
  if (saddle.rows != nullptr) {
    for (const Index row : *saddle.rows) {
      if (row < 0 || at(row) >= rows.size()) return true;  // refused with its number
      is_constraint[at(row)] = 1;
    }
  }
  auto found = std::make_shared<std::vector<Index>>();
  for (Index k = 0; k < kept; ++k) {
    if (is_constraint[at(rows[at(k)])] != 0) found->push_back(k);
  }
  const auto all = static_cast<std::size_t>(std::count(is_constraint.begin(), is_constraint.end(), 1));
  const bool fits = saddle.schur_matrix == nullptr || found->size() == all;
  saddle.constraints = 0;
  saddle.rows = std::move(found);
  return fits;
}

}  // namespace

template <class T, Space S>
std::unique_ptr<CondensedSystem<T, S>> CondensedSystem<T, S>::made_if_symmetric(const Context<S>& ctx,
                                                                                const CsrView<T, S>& a,
                                                                                const SystemOptions& options) {
  FixingRows<S> fixing = fixing_rows(ctx, a);
  if (fixing.count == 0 || fixing.count == a.rows || !are_used(ctx, a, fixing)) return nullptr;
  if constexpr (S == Space::host) {
    if (rest_is_not_symmetric(a, fixing)) return nullptr;
  }
  std::unique_ptr<CondensedSystem> made(new CondensedSystem(ctx, a, std::move(fixing), options));
  if (!matrix_traits(ctx, made->matrix_.B()).symmetric()) return nullptr;
  const bool has_nodes = options.spmv.coordinates != nullptr;
  if (has_nodes && made->restricted().spmv.coordinates == nullptr) return nullptr;
  SaddleOptions saddle = options.precond.template of<SaddleOptions>();
  if (!restrict_constraints(to_vector(ctx, made->matrix_.old_of_new()), made->matrix_.kept(), saddle)) return nullptr;
  made->set_inner(made->matrix_.B(), made->restricted());
  return made;
}

template <class T, Space S>
CondensedSystem<T, S>::CondensedSystem(const Context<S>& ctx, const CsrView<T, S>& a, FixingRows<S> fixing,
                                       SystemOptions options)
    : EquivalentSystem<T, S>(ctx, a.rows), options_(std::move(options)), matrix_(ctx), ordered_(ctx, a.rows) {
  matrix_.make(a, std::move(fixing));
}

// For the rows that are kept.
template <class T, Space S>
SystemOptions CondensedSystem<T, S>::restricted() const {
  SystemOptions options = options_;
  options.solver.of<GuessOptions>() = {};
  options.canonicalise = false;
  const std::vector<Index> rows = to_vector(ctx_, matrix_.old_of_new());
  const Index kept = matrix_.kept();
  restrict_constraints(rows, kept, options.precond.template of<SaddleOptions>());
  AmgOptions& amg = options.precond.template of<AmgOptions>();
  if (options.spmv.coordinates != nullptr) {
    options.spmv.coordinates = kept_nodes(*options.spmv.coordinates, rows, kept, amg.numbering);
  }
  if (amg.vectors != nullptr && amg.vectors->count > 0 &&
      amg.vectors->values.size() == rows.size() * at(amg.vectors->count)) {
    const std::size_t count = at(amg.vectors->count);
    amg.vectors = std::make_shared<NearNullVectors>(
        NearNullVectors{amg.vectors->count, kept_values(amg.vectors->values, rows, kept, count)});
  }
  return options;
}

template <class T, Space S>
void CondensedSystem<T, S>::refresh(const CsrView<T, S>& a, RefreshScope scope) {
  if (matrix_.rows_still_fix(a)) {
    matrix_.take_values(a.val);
    return inner_->refresh(matrix_.B().val, scope);
  }
  FixingRows<S> fixing = fixing_rows(ctx_, a);
  if (fixing.count == 0) fixing.is_one = make_array(ctx_, std::vector<char>(at(a.rows), 0));
  inner_.reset();
  matrix_.make(a, std::move(fixing));
  this->set_inner(matrix_.B(), restricted());
}

template <class T, Space S>
void CondensedSystem<T, S>::move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) {
  options_.spmv.coordinates = std::move(coordinates);
  inner_->move_nodes(restricted().spmv.coordinates);
}

template <class T, Space S>
SystemInfo CondensedSystem<T, S>::info() const {
  SystemInfo info = inner_->info();
  info.fixing_rows = matrix_.fixed();
  if (info.free_unknowns.count > 0) {
    info.free_unknowns.first = to_vector(ctx_, matrix_.old_of_new())[at(info.free_unknowns.first)];
  }
  return info;
}

template <class T, Space S>
int CondensedSystem<T, S>::carry_rhs(Span<const T, S> v, Span<T, S> c) {
  matrix_.solve_fixed(v, ordered_.span());
  copy<T>(ctx_, ordered_.cspan().subspan(0, matrix_.kept()), c);
  matrix_.subtract_fixed(ordered_.cspan(), c);
  if (!all_finite<T, S>(ctx_, v, scratch_.data())) fill<T, S>(ctx_, T(NAN), c);  // wherever it is not finite
  return 0;
}

template <class T, Space S>
void CondensedSystem<T, S>::carry_guess(int, Span<const T, S> x, Span<T, S> y) {
  gather<T, S>(ctx_, x, matrix_.old_of_new().subspan(0, matrix_.kept()), y);
}

template <class T, Space S>
void CondensedSystem<T, S>::carry_back(int, Span<const T, S> v, Span<const T, S> y, Span<T, S> x) {
  matrix_.solve_fixed(v, ordered_.span());
  copy<T>(ctx_, y, ordered_.span().subspan(0, matrix_.kept()));
  gather<T, S>(ctx_, ordered_.cspan(), matrix_.new_of_old(), x);
}

template <class T, Space S>
void CondensedSystem<T, S>::name_rows(SolveReport& report) const {
  std::vector<Index> rows;
  const auto rename = [&](Failure& failure) {
    if (failure.structural_rank < 0) return;
    if (rows.empty()) rows = to_vector(ctx_, matrix_.old_of_new());
    for (Index* named : {&failure.unmatched_row, &failure.unmatched_column}) {
      if (*named >= 0) *named = rows[at(*named)];
    }
    failure.structural_rank += matrix_.fixed();
  };
  rename(report.failure);
  for (Attempt& attempt : report.attempts) rename(attempt.failure);
}

#define X(T, S) template class CondensedSystem<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
