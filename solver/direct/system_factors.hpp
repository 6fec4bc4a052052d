// SPDX-License-Identifier: Apache-2.0
/// SystemFactors: the factors that the direct solver corrects x with, in the space of the system. Internal.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <newel/solver/method.hpp>
#include "solver/direct/factor_chain.hpp"

namespace newel::detail {

/// Vectors and values are in the order of the matrix that the factors are made from.
template <class T, Space S>
class SystemFactors {
 public:
  virtual ~SystemFactors() = default;

  /// Of the present factors, as in Factorisation.
  virtual const std::string& title() const = 0;
  /// The values of the entries, which are read now. They are factorised when `factorise` is called.
  virtual void take_values(const Context<S>& ctx, Span<const T, S> values) = 0;
  /// False: there are no factors of these values. Throws OutOfMemory.
  [[nodiscard]] virtual bool factorise(const Context<S>& ctx) = 0;
  /// x += 2^exponent inverse(A) r, as far as the factors allow; r and x may be several columns, one after another.
  virtual void correct(const Context<S>& ctx, Span<const T, S> r, int exponent, Span<T, S> x) = 0;
  /// Takes other factors in place of these. False: there are none, or they were refused.
  [[nodiscard]] virtual bool next(const Context<S>& ctx) = 0;
  /// What would have been next, but for time or memory.
  virtual const std::vector<Untried>& refused() const = 0;
  /// The seconds that would have to be allowed for those that were refused for time; 0: none were.
  virtual double seconds_of_refused() const = 0;
  /// Entries that what is factorised has more than A, which is structurally singular then; 0: it is A.
  virtual Index added() const = 0;
  /// With more entries than A: x += 2^exponent y, for the y with the least |r - A y|. The result is a lower bound of
  /// |r - A y| for all y, or 0 if none is known. For one column.
  virtual double correct_least_squares(const Context<S>& ctx, Span<const T, S> r, int exponent, Span<T, S> x) = 0;
  /// What the present factors say of A. False: not that it is singular.
  virtual bool find_singular(const Context<S>& ctx, Failure& failure) = 0;
};

/// The pattern by rows, on the host. Throws InputError if there are more entries than Index numbers.
template <class T, Space S>
ColumnPattern host_pattern(const Context<S>& ctx, const CsrView<T, S>& a);

template <class T, Space S>
bool is_symmetric(const Context<S>& ctx, const SolverMatrix<T, S>& matrix) {
  return (matrix.traits != nullptr ? *matrix.traits : matrix_traits(ctx, matrix.a)).symmetric();
}

/// Factors on the host. For a system on a device vectors and values are copied.
template <class T, Space S>
class HostFactors final : public SystemFactors<T, S> {
 public:
  /// As FactorChain; `matrix` gives the pattern. The table outlives this.
  HostFactors(const Context<S>& ctx, const std::vector<HostFactorisation>& table, const SolverMatrix<T, S>& matrix);
  HostFactors(const Context<S>& ctx, const std::vector<HostFactorisation>& table, ColumnPattern rows, bool symmetric,
              double most_seconds);

  const std::string& title() const override { return chain_.title(); }
  void take_values(const Context<S>& ctx, Span<const T, S> values) override;
  bool factorise(const Context<S>& ctx) override { return chain_.factorise(host_context(ctx)); }
  void correct(const Context<S>& ctx, Span<const T, S> r, int exponent, Span<T, S> x) override;
  bool next(const Context<S>& ctx) override { return chain_.next(host_context(ctx)); }
  const std::vector<Untried>& refused() const override { return chain_.refused(); }
  double seconds_of_refused() const override { return chain_.seconds_of_refused(); }
  Index added() const override { return chain_.added(); }
  double correct_least_squares(const Context<S>& ctx, Span<const T, S> r, int exponent, Span<T, S> x) override;
  bool find_singular(const Context<S>& ctx, Failure& failure) override {
    return chain_.find_singular(host_context(ctx), failure);
  }

 private:
  template <class Solve>
  void add_solution(const Context<S>& ctx, Span<const T, S> r, Span<T, S> x, const Solve& solve);

  std::vector<double> correction_;
  FactorChain chain_;
  std::vector<T> copied_;  // of a device vector
  Array<T, S> on_device_;  // the correction; of a system on the host empty
};

/// The factors that are preferred for a system: on a device those of cuDSS, if it is there.
template <class T>
std::unique_ptr<SystemFactors<T, Space::host>> make_system_factors(const Context<Space::host>& ctx,
                                                                   const SolverMatrix<T, Space::host>& matrix);
template <class T>
std::unique_ptr<SystemFactors<T, Space::device>> make_system_factors(const Context<Space::device>& ctx,
                                                                     const SolverMatrix<T, Space::device>& matrix);

}  // namespace newel::detail
