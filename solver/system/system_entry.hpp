// SPDX-License-Identifier: Apache-2.0
/// What the public functions of a LinearSystem begin with, and its solves in the caller's numbering. Internal.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "solver/system/solve_session.hpp"

namespace newel::detail {

template <class T, Space S>
void require_apart(Span<const T, S> read, Span<const T, S> written, const char* which) {
  if (read.size == 0 || read.data >= written.data + written.size || written.data >= read.data + read.size) return;
  throw InputError(std::string(which) + " share memory");
}

/// No solve is pending, the device is current, and no vector is shorter or longer than the system.
template <class T, Space S>
SystemState<T, S>& enter(SystemState<T, S>& s, std::initializer_list<std::int64_t> lengths) {
  s.gate.require_free();
  s.ctx.make_current();
  for (const std::int64_t length : lengths) {
    if (length == s.rows) continue;
    throw InputError("a vector of length " + std::to_string(length) + " for a system of " + std::to_string(s.rows) +
                     " unknowns");
  }
  return s;
}

/// The same for columns one after the other.
template <class T, Space S>
SystemState<T, S>& enter_columns(SystemState<T, S>& s, Span<const T, S> b, Span<const T, S> x, Index columns) {
  enter(s, {});
  if (columns < 0) throw InputError("the number of columns must be 0 or more, not " + std::to_string(columns));
  const std::int64_t size = std::int64_t{s.rows} * columns;
  for (const std::int64_t length : {b.size, x.size}) {
    if (length == size) continue;
    throw InputError(std::to_string(length) + " values for " + std::to_string(columns) + " columns of " +
                     std::to_string(s.rows) + " unknowns");
  }
  require_apart<T, S>(b, x, "b and x");
  return s;
}

/// See `LinearSystem::solve` and `LinearSystem::solve_columns`.
template <class T, Space S>
SolveReport solve_as_given(SystemState<T, S>& state, Span<const T, S> b, Span<T, S> x, const ProgressFn& progress,
                           InitialGuess guess);
template <class T, Space S>
std::vector<SolveReport> solve_columns_as_given(SystemState<T, S>& state, Span<const T, S> b, Span<T, S> x,
                                                Index columns, const ProgressFn& progress, InitialGuess guess);

}  // namespace newel::detail
