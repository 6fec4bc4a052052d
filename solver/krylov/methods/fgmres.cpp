// SPDX-License-Identifier: Apache-2.0
// Flexible GMRES: Saad, Iterative Methods for Sparse Linear Systems, algorithm 9.6, restarted.
#include <newel/solver/fgmres.hpp>

#include "core/vectors/instantiate.hpp"
#include "solver/krylov/methods/gmres_recurrence.hpp"

namespace newel {
namespace detail {

/// GMRES from the right that keeps every z_j = M v_j, so that M may be another one in every step.
template <class T, Space S>
class FgmresRecurrence final : public GmresRecurrence<T, S, T> {
  using Gmres = GmresRecurrence<T, S, T>;

 public:
  FgmresRecurrence(const Context<S>& ctx, Index n, int restart)
      : Gmres(ctx, n, restart, false, 0), Z_(ctx, std::int64_t{this->m_} * n) {}

  RecurrenceParts<T, S> parts() override {
    RecurrenceParts<T, S> parts = Gmres::parts();
    parts.name = "fgmres";
    return parts;
  }

 private:
  Span<const T, S> direction(int j) override {
    if (this->M_.op == nullptr) return this->V_.newest(j);
    const Span<T, S> z = Z_.span().subspan(std::int64_t{j} * this->n_, this->n_);
    this->M_.op->apply(this->system_->ctx, T(1), this->V_.newest(j), T(0), z);  // z_j = M v_j
    return z;
  }
  void add_directions(int columns, const double* y) override {
    if (this->M_.op == nullptr) return Gmres::add_directions(columns, y);
    const Context<S>& ctx = this->system_->ctx;
    basis_combine(ctx, Z_.data(), this->n_, columns, y, this->w_.data());  // w = Z y
    axpy<T, S>(ctx, T(1), this->w_.cspan(), this->system_->x);             // x = x + w
  }

  Array<T, S> Z_;  // m columns of n
};

}  // namespace detail

template <class T, Space S>
Fgmres<T, S>::Fgmres(const Context<S>& ctx, Index n, int restart)
    : RecurrenceSolver<T, S>(std::make_unique<detail::FgmresRecurrence<T, S>>(ctx, n, restart)) {}

#define X(T, S) template class Fgmres<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel
