// SPDX-License-Identifier: Apache-2.0
// Complex vectors to the real system, and its solution back.
#include <newel/solver/complex_system.hpp>

#include <utility>

#include <newel/core/error.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/complex/complex_state.hpp"
#include "solver/complex/real_options.hpp"

namespace newel {
namespace {

using detail::pairs;
using detail::UnknownChange;

// Complex numbers as real ones, real and imaginary parts next to each other: what std::complex promises.
template <class T, Space S>
Span<const T, S> flat(Span<const std::complex<T>, S> z) {
  return {reinterpret_cast<const T*>(z.data), 2 * z.size};
}
template <class T, Space S>
Span<T, S> flat(Span<std::complex<T>, S> z) {
  return {reinterpret_cast<T*>(z.data), 2 * z.size};
}

void require_size(std::int64_t found, std::int64_t rows, std::int64_t columns) {
  if (columns < 0) throw InputError("the number of columns must be 0 or more, not " + std::to_string(columns));
  if (found == rows * columns) return;
  throw InputError(std::to_string(found) + " complex values for " + std::to_string(columns) +
                   (columns == 1 ? " column of " : " columns of ") + std::to_string(rows) + " unknowns");
}

template <class T, Space S>
void require_apart(Span<const T, S> read, Span<T, S> written, const char* which) {
  if (read.size == 0 || read.data >= written.data + written.size || written.data >= read.data + read.size) return;
  throw InputError(std::string(which) + " share memory");
}

}  // namespace

std::string_view name_of(RealForm form) {
  constexpr std::string_view names[] = {"general", "symmetric", "real_parts"};
  return names[static_cast<int>(form)];
}

template <class T, Space S>
struct ComplexSystem<T, S>::Impl : detail::ComplexState<T, S> {
  using detail::ComplexState<T, S>::ComplexState;

  Array<T, S> in, out;  // real and imaginary parts of vectors

  void reserve_parts(std::int64_t size) {
    if (in.size() < 2 * size) in = {}, out = {};
    if (in.empty()) in = Array<T, S>(this->ctx, 2 * size), out = Array<T, S>(this->ctx, 2 * size);
  }
  void separate(Span<const Value, S> z, Array<T, S>& parts, Index columns);
  void join(const Array<T, S>& parts, Span<Value, S> z, Index columns);
  std::vector<SolveReport> solve(Span<const Value, S> b, Span<Value, S> x, Index columns, const ProgressFn& progress,
                                 InitialGuess guess);
  std::vector<SolveReport> solve_parts(Span<const Value, S> b, Span<Value, S> x, Index columns,
                                       const ProgressFn& progress, InitialGuess guess);
};

template <class T, Space S>
void ComplexSystem<T, S>::Impl::separate(Span<const Value, S> z, Array<T, S>& parts, Index columns) {
  for (Index c = 0; c < columns; ++c) {
    T* const to = parts.data() + 2 * std::int64_t{c} * this->rows;
    detail::sweep(this->ctx, this->rows,
                  detail::SeparateStep<T>(pairs(z.data) + std::int64_t{c} * this->rows, to, to + this->rows));
  }
}

template <class T, Space S>
void ComplexSystem<T, S>::Impl::join(const Array<T, S>& parts, Span<Value, S> z, Index columns) {
  for (Index c = 0; c < columns; ++c) {
    const T* const from = parts.data() + 2 * std::int64_t{c} * this->rows;
    detail::sweep(this->ctx, this->rows,
                  detail::JoinStep<T>(from, from + this->rows, pairs(z.data) + std::int64_t{c} * this->rows));
  }
}

template <class T, Space S>
std::vector<SolveReport> ComplexSystem<T, S>::Impl::solve_parts(Span<const Value, S> b, Span<Value, S> x,
                                                                Index columns, const ProgressFn& progress,
                                                                InitialGuess guess) {
  const std::int64_t size = std::int64_t{this->rows} * columns;
  reserve_parts(size);
  separate(b, in, columns);
  if (guess == InitialGuess::in_x) separate(Span<const Value, S>(x), out, columns);
  ProgressFn of_parts;
  if (progress) {
    of_parts = [&](const Progress& p) {
      Progress mine = p;
      mine.column /= 2;
      mine.columns = columns;
      return progress(mine);
    };
  }
  const std::vector<SolveReport> reports = this->system->solve_columns(
      Span<const T, S>(in.data(), 2 * size), Span<T, S>(out.data(), 2 * size), 2 * columns, of_parts, guess);
  join(out, x, columns);
  std::vector<SolveReport> whole;
  for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
    whole.push_back(detail::report_of_parts(reports[2 * c], reports[2 * c + 1], this->options.stop));
  }
  return whole;
}

template <class T, Space S>
std::vector<SolveReport> ComplexSystem<T, S>::Impl::solve(Span<const Value, S> b, Span<Value, S> x, Index columns,
                                                          const ProgressFn& progress, InitialGuess guess) {
  this->ctx.make_current();
  require_size(b.size, this->rows, columns);
  require_size(x.size, this->rows, columns);
  require_apart<Value, S>(b, x, "b and x");
  this->real();
  if (this->in_parts()) return solve_parts(b, x, columns, progress, guess);
  const auto turn = [&](UnknownChange to) {
    if (!this->change.identity())
      detail::sweep(this->ctx, x.size, detail::ChangeStep<T>(pairs(x.data), to, pairs(x.data)));
  };
  if (guess == InitialGuess::in_x) turn(this->change.inverse());
  std::vector<SolveReport> reports;
  if (columns == 1) {
    reports.push_back(this->system->solve(flat(b), flat(x), progress, guess));
  } else {
    reports = this->system->solve_columns(flat(b), flat(x), columns, progress, guess);
  }
  turn(this->change);
  return reports;
}

template <class T, Space S>
ComplexSystem<T, S>::ComplexSystem(const Context<S>& ctx, const MatrixInput<Value, S>& a, SystemOptions options,
                                   SystemParts<T, S> parts, ComplexUnknowns unknowns)
    : impl_(new Impl(ctx, std::move(options))) {
  Impl& s = *impl_;
  s.own_unknowns = unknowns == ComplexUnknowns::as_given || parts.has_preconditioner();
  s.ctx.make_current();
  s.assembled.emplace(ctx, a);
  const CsrView<Value, S> view = s.assembled->view();
  s.take_pattern(view);
  s.set_up(view, std::move(parts));
  s.assembled->drop_pattern();
}

template <class T, Space S>
ComplexSystem<T, S>::ComplexSystem(const Context<S>& ctx, std::shared_ptr<const LinearOperator<T, S>> a,
                                   SystemOptions options, SystemParts<T, S> parts)
    : impl_(new Impl(ctx, std::move(options))) {
  Impl& s = *impl_;
  if (a == nullptr || a->rows() % 2 != 0)
    throw InputError("expected an operator on real and imaginary parts, with an even number of rows");
  s.rows = a->rows() / 2;
  s.reason = "an operator on real and imaginary parts";
  s.system.emplace(ctx, std::move(a), detail::options_of_pairs(host_context(ctx), s.options, s.rows),
                   std::move(parts));
}

template <class T, Space S>
void ComplexSystem<T, S>::EndOfImpl::operator()(Impl* impl) const noexcept {
  delete impl;
}

template <class T, Space S>
Index ComplexSystem<T, S>::rows() const {
  return impl_->rows;
}

template <class T, Space S>
void ComplexSystem<T, S>::refresh(Span<const Value, S> values, RefreshScope scope) {
  impl_->refresh(values, scope);
}

template <class T, Space S>
void ComplexSystem<T, S>::move_nodes(std::shared_ptr<const NodeCoordinates> coordinates) {
  real_system().move_nodes(std::move(coordinates));
}

template <class T, Space S>
SolveReport ComplexSystem<T, S>::solve(Span<const Value, S> b, Span<Value, S> x, const ProgressFn& progress,
                                       InitialGuess guess) {
  return std::move(impl_->solve(b, x, 1, progress, guess).front());
}

template <class T, Space S>
std::vector<SolveReport> ComplexSystem<T, S>::solve_columns(Span<const Value, S> b, Span<Value, S> x, Index columns,
                                                            const ProgressFn& progress, InitialGuess guess) {
  return impl_->solve(b, x, columns, progress, guess);
}

template <class T, Space S>
void ComplexSystem<T, S>::multiply(Span<const Value, S> x, Span<Value, S> y) {
  Impl& s = *impl_;
  s.ctx.make_current();
  require_size(x.size, s.rows, 1);
  require_size(y.size, s.rows, 1);
  require_apart<Value, S>(x, y, "x and y");
  if (s.in_parts()) {
    s.reserve_parts(s.rows);
    s.separate(x, s.in, 1);
    for (const std::int64_t part : {std::int64_t{0}, std::int64_t{s.rows}}) {
      real_system().multiply(Span<const T, S>(s.in.data() + part, s.rows), Span<T, S>(s.out.data() + part, s.rows));
    }
    s.join(s.out, y, 1);
    return;
  }
  Span<const Value, S> from = x;
  if (!s.change.identity()) {
    if (s.turned.empty()) s.turned = Array<Value, S>(s.ctx, s.rows);
    detail::sweep(s.ctx, s.rows, detail::ChangeStep<T>(pairs(x.data), s.change.inverse(), pairs(s.turned.data())));
    from = s.turned.cspan();
  }
  real_system().multiply(flat(from), flat(y));
}

template <class T, Space S>
RealForm ComplexSystem<T, S>::form() const {
  return impl_->form;
}
template <class T, Space S>
std::string ComplexSystem<T, S>::form_reason() const {
  return impl_->reason;
}

template <class T, Space S>
SystemInfo ComplexSystem<T, S>::info() const {
  SystemInfo info = impl_->real().info();
  if (!impl_->in_parts() && info.free_unknowns.count > 0) {
    info.free_unknowns.count /= 2;
    info.free_unknowns.first /= 2;
  }
  return info;
}

template <class T, Space S>
SystemHistory<T, S> ComplexSystem<T, S>::history() const {
  return impl_->real().history();
}

template <class T, Space S>
void ComplexSystem<T, S>::set_stop_criterion(const StopCriterion& stop) {
  impl_->options.stop = stop;
  real_system().set_stop_criterion(impl_->in_parts() ? detail::stop_of_parts(stop) : stop);
}

template <class T, Space S>
LinearSystem<T, S>& ComplexSystem<T, S>::real_system() {
  return impl_->real();
}

namespace {

RowCount halved(const RowCount& rows) { return {(rows.count + 1) / 2, rows.count == 0 ? -1 : rows.first / 2}; }

}  // namespace

template <class T, Space S>
std::vector<SystemFacts> ComplexSystem<T, S>::facts(Span<const Value, S> b, Index columns) {
  Impl& s = *impl_;
  require_size(b.size, s.rows, columns);
  if (!s.in_parts()) {
    std::vector<SystemFacts> found = facts_of<T, S>(s.ctx, s.real(), flat(b), columns);
    for (SystemFacts& f : found) {
      f.rows = s.rows;
      for (RowCount* rows : {&f.zero_rows, &f.impossible_rows, &f.zero_columns, &f.not_finite_rows}) {
        *rows = halved(*rows);
      }
    }
    return found;
  }
  s.reserve_parts(b.size);
  s.separate(b, s.in, columns);
  const std::vector<SystemFacts> parts =
      facts_of<T, S>(s.ctx, s.real(), Span<const T, S>(s.in.data(), 2 * b.size), 2 * columns);
  std::vector<SystemFacts> found;
  for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) {
    found.push_back(parts[2 * c]);
    const RowCount& other = parts[2 * c + 1].impossible_rows;
    if (other.count > found.back().impossible_rows.count) found.back().impossible_rows = other;
  }
  return found;
}

template <class T, Space S>
std::vector<SystemFacts> facts_of(const Context<S>&, ComplexSystem<T, S>& system, Span<const std::complex<T>, S> b,
                                  Index columns) {
  return system.facts(b, columns);
}

#define X(T, S)                                                                       \
  template class ComplexSystem<T, S>;                                                 \
  template std::vector<SystemFacts> facts_of(const Context<S>&, ComplexSystem<T, S>&, \
                                             Span<const std::complex<T>, S>, Index);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
