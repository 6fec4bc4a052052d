// SPDX-License-Identifier: Apache-2.0
/// RecurrenceSolver: what the library's Krylov methods share.
#pragma once

#include <memory>

#include <newel/solver/method.hpp>

namespace newel {

namespace detail {
template <class T, Space S>
class Recurrence;
}  // namespace detail

/// A Krylov method as a recurrence, and the driver of solves that all of them have. Methods derive from it.
template <class T, Space S>
class RecurrenceSolver : public KrylovSolver<T, S> {
 public:
  RecurrenceSolver(RecurrenceSolver&&) noexcept;             ///< work vectors stay where they are
  RecurrenceSolver& operator=(RecurrenceSolver&&) noexcept;  ///< likewise
  ~RecurrenceSolver() override;

  [[nodiscard]] SolveReport run(const SolveRequest<T, S>& request) override;

 protected:
  /// `recurrence` is not null.
  explicit RecurrenceSolver(std::unique_ptr<detail::Recurrence<T, S>> recurrence);

  /// The method's own.
  template <class Own>
  Own& recurrence() {
    return static_cast<Own&>(*recurrence_);
  }

 private:
  std::unique_ptr<detail::Recurrence<T, S>> recurrence_;
  int last_iterations_ = 0;  // of the last solve
};

}  // namespace newel
