// SPDX-License-Identifier: Apache-2.0
// SPAI in both spaces: from the solutions of the local problems to the matrix that is applied.
#include "precond/spai/spai.hpp"

#include <newel/core/vector_ops.hpp>
#include <newel/spmv/registry.hpp>
#include "core/vectors/instantiate.hpp"
#include "precond/renumbered.hpp"

namespace newel {

using namespace detail;

namespace {

// Rows of A with the way to their values, and solutions with so many entries.
std::uint64_t problem_bytes(const PrecondOptions& options, Index rows, Offset nonzeros, Offset entries,
                            std::size_t value_bytes) {
  const auto n = static_cast<std::uint64_t>(rows), nnz = static_cast<std::uint64_t>(nonzeros);
  const std::uint64_t map = options.of<SpaiOptions>().side == PrecondSide::right ? sizeof(std::uint32_t) : 0;
  return nnz * (sizeof(Index) + value_bytes + map) +
         static_cast<std::uint64_t>(entries) * (sizeof(Index) + value_bytes) + 2 * (n + 1) * sizeof(Offset) +
         n * (sizeof(Index) + sizeof(double));
}

std::string detail_line(const PrecondOptions& options, bool pattern_given, const std::string& format) {
  std::string text = options.of<SpaiOptions>().side == PrecondSide::right ? "from the right" : "from the left";
  if (pattern_given)
    text += ", the pattern given";
  else if (options.of<SpaiOptions>().adaptive > 0)
    text += ", a pattern grown to residuals of " + std::to_string(options.of<SpaiOptions>().adaptive);
  else if (options.of<SpaiOptions>().power > 1)
    text += ", the pattern of A^" + std::to_string(options.of<SpaiOptions>().power);
  else
    text += ", the pattern of A";
  if (options.of<SpaiOptions>().adaptive == 0 && options.of<PatternOptions>().drop > 0)
    text += " without small entries";
  if (options.symmetric) text += ", (M + M^T)/2";
  return text + ", in " + format;
}

}  // namespace

std::uint64_t detail::estimate_spai0_bytes(const PrecondOptions& options, const SpmvFormat&, Index rows,
                                           Offset nonzeros, std::size_t value_bytes) {
  return problem_bytes(options, rows, nonzeros, rows, value_bytes);
}

std::uint64_t detail::estimate_spai_bytes(const PrecondOptions& options, const SpmvFormat& format, Index rows,
                                          Offset nonzeros, std::size_t value_bytes) {
  Offset entries = options.of<PatternOptions>().drop > 0 || options.of<SpaiOptions>().adaptive > 0 ? rows : nonzeros;
  if (const auto& given = options.of<PatternOptions>().pattern) entries = static_cast<Offset>(given->col.size());
  std::uint64_t an_entry = 0;
  if (options.symmetric) {
    an_entry = 2 * (sizeof(std::uint32_t) + value_bytes);
  } else if (options.of<SpaiOptions>().side == PrecondSide::right) {
    an_entry = sizeof(std::uint32_t);
  }
  return problem_bytes(options, rows, nonzeros, entries, value_bytes) +
         static_cast<std::uint64_t>(entries) * an_entry + format.estimate_bytes(rows, rows, entries, value_bytes);
}

// N is M from the left and its transpose from the right. A symmetric M is half the sum of both, whatever the side.
template <class T, Space S>
SpaiMatrix<T, S>::SpaiMatrix(const Context<S>& ctx, SpaiProblems<T, S>& problems, const PrecondOptions& options,
                             const RowOrder<S>& order, const SpmvOptions& spmv_options)
    : symmetric_(options.symmetric) {
  const Context<Space::host> host = host_context(ctx);
  Sparsity pattern = problems.take_pattern();
  ValueMap<S> map;
  Array<T, S> values;
  if (symmetric_) {
    SymmetricUnion both = symmetric_union(host, pattern);
    const Array<Offset, S> own = make_array(ctx, both.own.cspan()), mirrored = make_array(ctx, both.mirrored.cspan());
    own_ = make_value_map(ctx, own.cspan(), problems.values().size());
    mirrored_ = make_value_map(ctx, mirrored.cspan(), problems.values().size());
    half_sum_ = Array<T, S>(ctx, both.pattern.nnz());
    mirror_ = Array<T, S>(ctx, both.pattern.nnz());
    add_halves(ctx, problems.values().cspan());
    pattern = std::move(both.pattern);
  } else if (options.of<SpaiOptions>().side == PrecondSide::right) {
    SourcedSparsity transposed = transpose_of(host, pattern.view());
    const Array<Offset, S> positions = make_array(ctx, transposed.source.cspan());
    map = make_value_map(ctx, positions.cspan(), problems.values().size());
    values = Array<T, S>(ctx, transposed.pattern.nnz());
    gather<T, S>(ctx, problems.values().cspan(), map, values.span());
    pattern = std::move(transposed.pattern);
  }
  const Array<Offset, S> row_ptr = make_array(ctx, pattern.row_ptr.cspan());
  const Array<Index, S> col = make_array(ctx, pattern.col.cspan());
  const Array<T, S>& from = symmetric_ ? half_sum_ : values.empty() ? problems.values() : values;
  CsrView<T, S> view(problems.rows(), problems.rows(), row_ptr.cspan(), col.cspan(), from.cspan());
  if (!map.identity()) view.value_map = &map;
  op_ = make_spmv(ctx, view, order, spmv_options);
}

template <class T, Space S>
void SpaiMatrix<T, S>::add_halves(const Context<S>& ctx, Span<const T, S> solutions) {
  gather<T, S>(ctx, solutions, own_, half_sum_.span());
  gather<T, S>(ctx, solutions, mirrored_, mirror_.span());
  axpby<T, S>(ctx, T(0.5), mirror_.cspan(), T(0.5), half_sum_.span());
}

template <class T, Space S>
void SpaiMatrix<T, S>::take(const Context<S>& ctx, Span<const T, S> solutions) {
  if (symmetric_) add_halves(ctx, solutions);
  op_->refresh(ctx, symmetric_ ? half_sum_.cspan() : solutions);
}

template <class T, Space S>
SpaiOperator<T, S>::SpaiOperator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                 const PrecondOptions& options, const SpmvOptions& spmv_options)
    : options_(options),
      pattern_given_(options.of<PatternOptions>().pattern != nullptr),
      problems_(ctx, a, order, options, SpaiPattern::as_options_say, clock_) {
  options_.of<PatternOptions>().pattern = nullptr;  // may be large, and has been read
  matrix_ = {ctx, problems_, options_, order, precond_spmv(options, spmv_options)};
  ctx.synchronize();
  clock_.end("format");
}

template <class T, Space S>
void SpaiOperator<T, S>::refresh(const Context<S>& ctx, Span<const T, S> values) {
  problems_.refresh(ctx, values);
  matrix_.take(ctx, problems_.values().cspan());
}

template <class T, Space S>
OperatorPtr<T, S> SpaiOperator<T, S>::renumbered(const Context<S>& ctx, const RowOrder<S>& order,
                                                 const SpmvOptions& options) {
  OperatorPtr<T, S> made = detail::renumbered_matrix(ctx, matrix_.op(), order, options);
  if (made == nullptr) return nullptr;
  std::unique_ptr<SpaiOperator> moved(new SpaiOperator(std::move(*this)));
  moved->matrix_.replace(std::move(made));
  return moved;
}

template <class T, Space S>
void SpaiOperator<T, S>::slots_written(const Context<S>& ctx) {
  problems_.solve(ctx);
  matrix_.take(ctx, problems_.values().cspan());
}

template <class T, Space S>
void SpaiOperator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  matrix_.op().apply(ctx, alpha, x, beta, y);
}

template <class T, Space S>
void SpaiOperator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  matrix_.op().apply_dot(ctx, x, y, xy);
}

template <class T, Space S>
void SpaiOperator<T, S>::apply_columns(const Context<S>& ctx, int columns, T alpha, Span<const T, S> x, T beta,
                                       Span<T, S> y, Span<char, S> work) const {
  matrix_.op().apply_columns(ctx, columns, alpha, x, beta, y, work);
}

template <class T, Space S>
void SpaiOperator<T, S>::apply_dot_columns(const Context<S>& ctx, int columns, Span<const T, S> x, Span<T, S> y,
                                           double* xy, Span<char, S> work) const {
  matrix_.op().apply_dot_columns(ctx, columns, x, y, xy, work);
}

template <class T, Space S>
std::uint64_t SpaiOperator<T, S>::column_work_bytes(int columns) const {
  return matrix_.op().column_work_bytes(columns);
}

template <class T, Space S>
OperatorInfo SpaiOperator<T, S>::info() const {
  const OperatorInfo matrix = matrix_.op().info();
  OperatorInfo info;
  info.name = "spai";
  info.detail = detail_line(options_, pattern_given_, matrix.name);
  info.rows = info.cols = rows();
  info.nonzeros = matrix.nonzeros;
  info.stored_slots = matrix.stored_slots;
  info.cached_share = matrix.cached_share;
  info.bytes_per_product = matrix.bytes_per_product;
  problems_.describe(info);
  info.bytes.emplace_back("M", matrix.total_bytes());
  info.bytes.emplace_back("symmetric M", matrix_.symmetric_bytes());
  info.setup_seconds = clock_.seconds();
  return info;
}

template <class T, Space S>
Spai0Operator<T, S>::Spai0Operator(const Context<S>& ctx, const CsrView<T, S>& a, const RowOrder<S>& order,
                                   const PrecondOptions& options, const SpmvOptions&)
    : side_(options.of<SpaiOptions>().side), problems_(ctx, a, order, options, SpaiPattern::diagonal, clock_) {
  problems_.take_pattern();
}

template <class T, Space S>
void Spai0Operator<T, S>::apply(const Context<S>& ctx, T alpha, Span<const T, S> x, T beta, Span<T, S> y) const {
  multiply<T, S>(ctx, alpha, problems_.values().cspan(), x, beta, y);
}

template <class T, Space S>
void Spai0Operator<T, S>::apply_dot(const Context<S>& ctx, Span<const T, S> x, Span<T, S> y, double* xy) const {
  multiply_dot<T, S>(ctx, problems_.values().cspan(), x, y, xy);
}

template <class T, Space S>
OperatorInfo Spai0Operator<T, S>::info() const {
  OperatorInfo info;
  info.name = "spai0";
  info.detail = side_ == PrecondSide::right ? "from the right" : "from the left";
  info.rows = info.cols = rows();
  info.nonzeros = info.stored_slots = rows();
  info.bytes_per_product = 3 * static_cast<std::uint64_t>(rows()) * sizeof(T);
  problems_.describe(info);
  info.setup_seconds = clock_.seconds();
  return info;
}

#define X(T, S)                      \
  template class SpaiOperator<T, S>; \
  template class Spai0Operator<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
