// SPDX-License-Identifier: Apache-2.0
// What a system keeps of its solves as plain numbers, for another run.
#include <newel/core/error.hpp>
#include <newel/core/vector_ops.hpp>
#include "core/vectors/instantiate.hpp"
#include "solver/system/system_state.hpp"

namespace newel::detail {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw InputError("the state of a sequence " + what); }

void require_rows(std::int64_t found, Index rows) {
  if (found == rows) return;
  refuse("is of " + std::to_string(found) + " unknowns, and the system has " + std::to_string(rows));
}

void require_values(std::size_t found, std::int64_t expected) {
  if (static_cast<std::int64_t>(found) == expected) return;
  refuse("has " + std::to_string(found) + " values, expected " + std::to_string(expected));
}

// The numbers of past solutions: rows, columns of right-hand sides, vectors of each; then the policy, then each
// column. Those of recycled vectors come last, and their vectors last: rows, the most vectors, their kind, those that
// are held, the place of the next, whether their products have been counted. Their values begin with the largest
// eigenvalue and the policy.
constexpr std::size_t sizes = 3, of_column = 3, of_recycled = 6, factors = 1 + RecyclePolicy::count_size;
constexpr auto kinds = static_cast<std::int64_t>(RecycledKind::cycles);

void check(const GuessState& state, Index rows, const GuessRule& rule) {
  const std::vector<std::int64_t>& counts = state.counts;
  if (counts.size() < sizes + GuessPolicy::count_size) refuse("is too short");
  require_rows(counts[0], rows);
  if (counts[2] != rule.vectors)
    refuse("keeps " + std::to_string(counts[2]) + " solutions, and the option guess asks for " +
           std::to_string(rule.vectors));
  const std::size_t known = sizes + GuessPolicy::count_size;
  const auto columns = static_cast<std::size_t>(counts[1]);
  if (counts[1] < 0 || (counts.size() - known) / of_column != columns || (counts.size() - known) % of_column != 0)
    refuse("has another number of counts than its columns need");
  std::int64_t vectors = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::int64_t held = counts[known + of_column * c], next = counts[known + of_column * c + 1];
    if (held < 0 || held > rule.vectors || next < 0 || next >= rule.vectors || (held < rule.vectors && next != held))
      refuse("has counts that do not belong together");
    vectors += held + 1;
  }
  require_values(state.values.size(), vectors * rows);
}

// The part of recycled vectors, which it takes out of the state.
GuessState split_recycled(GuessState& state, Index rows, const RecycleRule& rule) {
  GuessState part;
  if (!rule.keeps()) return part;
  if (state.counts.size() < of_recycled) refuse("is too short");
  const auto first = state.counts.end() - of_recycled;
  part.counts.assign(first, state.counts.end());
  state.counts.erase(first, state.counts.end());
  require_rows(part.counts[0], rows);
  if (part.counts[1] != rule.vectors)
    refuse("recycles at most " + std::to_string(part.counts[1]) + " vectors, and the option recycle asks for " +
           std::to_string(rule.vectors));
  const std::int64_t kind = part.counts[2], held = part.counts[3], next = part.counts[4];
  if (kind < 0 || kind > kinds || held < 0 || held > rule.vectors || next < 0 || next > held)
    refuse("has counts that do not belong together");
  const auto size = factors + static_cast<std::size_t>(held) * static_cast<std::size_t>(rows);
  if (state.values.size() < size) refuse("has too few values for its recycled vectors");
  const auto value = state.values.end() - static_cast<std::ptrdiff_t>(size);
  part.values.assign(value, state.values.end());
  state.values.erase(value, state.values.end());
  return part;
}

/// Vectors of a state, in the caller's order there and in solver order here.
template <class T, Space S>
class StateVectors {
 public:
  StateVectors(const SystemState<T, S>& of, std::vector<double>& values)
      : s_(of), values_(values), user_(of.ctx, of.rows), ordered_(of.ctx, of.rows) {}

  void add(Span<const T, S> vector) {
    s_.gather_to_user_order(vector, user_.span());
    const std::vector<T> values = to_vector(s_.ctx, user_.cspan());
    values_.insert(values_.end(), values.begin(), values.end());
  }
  template <class Kept>
  void add_kept(Span<const Kept, S> vector) {
    convert<Kept, T, S>(s_.ctx, vector, ordered_.span());
    add(ordered_.cspan());
  }
  void take(std::size_t& at, Span<T, S> vector) {
    const auto first = values_.begin() + static_cast<std::ptrdiff_t>(at);
    const std::vector<T> values(first, first + s_.rows);
    at += static_cast<std::size_t>(s_.rows);
    copy<T>(s_.ctx, Span<const T, Space::host>(values.data(), s_.rows), user_.span());
    s_.gather_to_solver_order(user_.cspan(), vector);
  }
  template <class Kept>
  void take_kept(std::size_t& at, Span<Kept, S> vector) {
    take(at, ordered_.span());
    convert<T, Kept, S>(s_.ctx, ordered_.cspan(), vector);
  }

 private:
  const SystemState<T, S>& s_;
  std::vector<double>& values_;
  Array<T, S> user_, ordered_;
};

template <class T, Space S>
void add_past(SystemState<T, S>& s, GuessState& state) {
  StateVectors<T, S> vectors(s, state.values);
  std::vector<PastSolutions<T, S>>& columns = s.sequence.columns();
  state.counts = {s.rows, static_cast<std::int64_t>(columns.size()), s.sequence.rule().vectors};
  for (const std::int64_t count : s.sequence.policy().counts()) state.counts.push_back(count);
  for (PastSolutions<T, S>& past : columns) {
    const PastState of = past.state();
    state.counts.insert(state.counts.end(), {of.held, of.next, of.images_current ? 1 : 0});
    for (int j = 0; j < of.held; ++j) vectors.add(past.ring().difference(j));
    vectors.add(past.ring().last());
  }
}

template <class T, Space S>
void add_recycled(SystemState<T, S>& s, GuessState& state) {
  StateVectors<T, S> vectors(s, state.values);
  RecycledVectors<S>& recycled = s.recycling.vectors();
  const RecycledState& of = recycled.state();
  state.counts.insert(state.counts.end(), {s.rows, recycled.most(), static_cast<std::int64_t>(of.kind), of.held,
                                           of.next, of.prepared ? 1 : 0});
  state.values.push_back(of.largest);
  for (const double count : s.recycling.policy().counts()) state.values.push_back(count);
  for (int j = 0; j < of.held; ++j) vectors.add_kept(Span<const float, S>(recycled.vector(j)));
}

template <class T, Space S>
void take_past(SystemState<T, S>& s, GuessState& state) {
  check(state, s.rows, s.sequence.rule());
  const auto counts = state.counts.begin();
  std::vector<PastState> columns;
  for (std::size_t at = sizes + GuessPolicy::count_size; at < state.counts.size(); at += of_column) {
    columns.push_back(
        {static_cast<int>(state.counts[at]), static_cast<int>(state.counts[at + 1]), state.counts[at + 2] != 0});
  }
  s.sequence.begin_state(s.ctx, s.rows, columns, {counts + sizes, counts + sizes + GuessPolicy::count_size});
  StateVectors<T, S> vectors(s, state.values);
  std::size_t at = 0;
  for (PastSolutions<T, S>& past : s.sequence.columns()) {
    for (int j = 0; j < past.ring().held(); ++j) vectors.take(at, past.ring().difference(j));
    vectors.take(at, past.ring().last());
  }
}

template <class T, Space S>
void take_recycled(SystemState<T, S>& s, GuessState& part) {
  const auto of = [&](int k) { return static_cast<int>(part.counts[static_cast<std::size_t>(k)]); };
  s.recycling.begin_state(s.ctx, s.rows, {static_cast<RecycledKind>(of(2)), of(3), of(4), part.values[0], of(5) != 0},
                          {part.values.begin() + 1, part.values.begin() + factors});
  StateVectors<T, S> vectors(s, part.values);
  std::size_t at = factors;
  for (int j = 0; j < of(3); ++j) vectors.take_kept(at, s.recycling.vectors().vector(j));
}

}  // namespace

template <class T, Space S>
GuessState guess_state(SystemState<T, S>& s) {
  GuessState state;
  if (s.sequence.rule().keeps()) add_past(s, state);
  if (s.recycling.used()) add_recycled(s, state);
  return state;
}

template <class T, Space S>
void set_guess_state(SystemState<T, S>& s, const GuessState& given) {
  if (given.counts.empty()) {
    s.recycling.forget();
    return s.sequence.begin_state(s.ctx, s.rows, {}, {});
  }
  GuessState state = given;
  GuessState recycled = split_recycled(state, s.rows, s.recycling.rule());
  if (s.sequence.rule().keeps() || !state.counts.empty()) take_past(s, state);
  if (s.recycling.used()) take_recycled(s, recycled);
  s.ctx.synchronize();
}

#define X(T, S)                                        \
  template GuessState guess_state(SystemState<T, S>&); \
  template void set_guess_state(SystemState<T, S>&, const GuessState&);
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
