// SPDX-License-Identifier: Apache-2.0
// A, M and their order made again in another format.
#include "solver/operators/format_change.hpp"

#include <optional>
#include <utility>

#include "core/vectors/instantiate.hpp"
#include "solver/operators/operator_builder.hpp"
#include "solver/operators/system_estimates.hpp"

namespace newel::detail {
namespace {

// The seconds of iterations, which were those of another format, or of the one that was expected.
template <class T, Space S>
void expect_present_format(Operators<T, S>& s, std::optional<PrecondOutlooks>& outlooks) {
  const IterationModel model = SystemEstimates<T, S>(s).model();
  const std::optional<CostEstimate> product = outlooks ? model.product(s.options.spmv.format) : std::nullopt;
  if (!product) return;
  const auto expect = [&](PrecondOutlook& outlook) {
    const double seconds = model.iteration(outlook.name, *product).seconds;
    outlook.take_seconds(seconds, seconds);
  };
  expect(outlooks->present);
  for (PrecondOutlook& outlook : outlooks->stronger) expect(outlook);
}

// What takes the place of A, M and their order.
template <class T, Space S>
struct Rebuilt {
  RowOrder<S> order;
  OperatorPtr<T, S> A, M;
  std::unique_ptr<FixedUnknowns<T, S>> fixed;
  bool renumbered = false, same_preconditioner = false;
};

// M comes last: to renumber it may take it apart.
template <class T, Space S>
Rebuilt<T, S> rebuilt(const Operators<T, S>& s, const OperatorBuilder<T, S>& builder, const CsrView<T, S>& a) {
  Rebuilt<T, S> next;
  next.order = builder.order_for(a);
  builder.require_memory(a, next.order);
  PermutedCsr<T, S> permuted;
  const CsrView<T, S> view = builder.in_order(a, next.order, permuted);
  next.A = make_spmv(s.ctx, view, next.order, s.options.spmv);
  next.fixed = builder.fixed(builder.free_unknowns(a), next.order);
  const bool has_precond = s.M != nullptr;
  if (has_precond) next.M = s.M->renumbered(s.ctx, next.order, precond_spmv(s.options.precond, s.options.spmv));
  next.renumbered = next.M != nullptr;
  next.same_preconditioner = !has_precond || next.renumbered || !s.M->traits().diagonal.empty();
  if (!has_precond || next.renumbered) return next;
  if (s.chosen.precond_older)
    throw InputError("the preconditioner is older than the matrix and cannot be set up again");
  next.M = s.parts.make_preconditioner != nullptr
               ? s.parts.make_preconditioner(s.ctx, view, next.order)
               : make_precond(s.ctx, view, next.order, s.options.precond, s.options.spmv);
  return next;
}

// The choices of a system in that format.
template <class T, Space S>
void choose_other_format(Operators<T, S>& s, const std::string& format) {
  s.chosen.order_follows = false;
  s.chosen.format.reason = "replaced " + s.chosen.format.format;
  s.chosen.expected_format = s.chosen.format.format = s.options.spmv.format = format;
  expect_present_format(s, s.chosen.outlooks);
  expect_present_format(s, s.chosen.weaker_outlooks);
}

}  // namespace

template <class T, Space S>
bool rebuild_in_format(Operators<T, S>& s, const std::string& format) {
  SystemEstimates<T, S>(s).weigh();
  const std::optional<CsrView<T, S>> csr = s.A->as_csr();
  if (!csr || !s.order.natural() || s.given_order() || !s.sound() || !s.made.empty()) return false;
  const OperatorBuilder<T, S> builder(s);
  const SystemChoices before = s.chosen;
  const std::string former = s.options.spmv.format;
  Rebuilt<T, S> next;
  try {
    choose_other_format(s, format);
    next = rebuilt(s, builder, *csr);
  } catch (...) {
    s.chosen = before;
    s.options.spmv.format = former;
    throw;
  }
  const OperatorPtr<T, S> of_csr = std::exchange(s.A, std::move(next.A));
  s.M = std::move(next.M);
  s.weaker.reset();
  s.order = std::move(next.order);
  s.fixed = std::move(next.fixed);
  s.renumbered_serial = next.renumbered ? s.M->serial() : 0;
  s.same_preconditioner = next.same_preconditioner;
  s.source.emplace(s.ctx, *s.A, s.order);
  builder.keep_source(*csr);
  s.source->keep_values(*csr);
  return true;
}

#define X(T, S) template bool rebuild_in_format(Operators<T, S>&, const std::string&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
