// SPDX-License-Identifier: Apache-2.0
// What a cycle tells of itself: its parts in words, their bytes, and what a cycle reads.
#include "core/vectors/instantiate.hpp"
#include "precond/amg/cycle/amg_cycle.hpp"

namespace newel::detail {

double local_operations_of(const OperatorInfo& info) { return info.figure(local_operations).value_or(0); }

// f(operator, how often a cycle multiplies with it)
template <class T, Space S>
template <class F>
void AmgCycle<T, S>::for_operators(F&& f) const {
  for (const Level& level : levels_) {
    const int steps = static_cast<int>(level.steps.next.size());
    int times = level.cycles * (!level.transfer.exists() ? steps : 2 * steps + 2);
    if (level.again != nullptr && level.again->exact != nullptr) {
      f(*level.again->exact, level.cycles / 2);
    } else if (level.again != nullptr) {
      times += level.cycles / 2;
    }
    if (level.a != nullptr) f(*level.a, times);
    if (level.sparse.m != nullptr) {
      f(*level.sparse.m, level.cycles * (!level.transfer.exists() ? steps + 1 : 2 * steps + 2));
    }
  }
  if (inverse_ != nullptr) f(*inverse_, levels_.back().cycles);
}

template <class T, Space S>
std::string AmgCycle<T, S>::smoother_text(const AmgHierarchy<S>& hierarchy) const {
  std::string text;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const bool in_coarse = coarse_ != nullptr && l >= coarse_first_;
    if (levels_[l].a == nullptr && (!in_coarse || hierarchy.levels()[l].smoother_diagonal.size() == 0)) continue;
    const std::string name = name_of(used_smoother(hierarchy.levels()[l].smoother, levels_[l].sparse.m != nullptr));
    if (text.find(name) == std::string::npos) text += (text.empty() ? "" : " and ") + name;
  }
  return text.empty() ? "no smoother" : text;
}

template <class T, Space S>
std::string AmgCycle<T, S>::cycles_text() const {
  std::vector<std::string> twice;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    if (solved_twice(l)) twice.push_back(std::to_string(l + 1));
  }
  std::string text;
  for (std::size_t i = 0; i < twice.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == twice.size() ? " and " : ", ") + twice[i];
  }
  return text.empty() ? text : ", two cycles on level" + std::string(twice.size() > 1 ? "s " : " ") + text;
}

template <class T, Space S>
bool AmgCycle<T, S>::capturable() const {
  bool all = true;
  for_operators([&](const auto& op, int) { all = all && op.capturable(); });
  return all;
}

template <class T, Space S>
std::uint64_t AmgCycle<T, S>::bytes_per_cycle() const {
  std::uint64_t bytes = 0;
  for_operators(
      [&](const auto& op, int times) { bytes += static_cast<std::uint64_t>(times) * op.info().bytes_per_product; });
  for (const Level& level : levels_) {
    const auto steps = static_cast<std::uint64_t>(level.steps.next.size());
    // The first step moves 4 vectors, each further one 6, the one after the coarse correction 6.
    const std::uint64_t vectors = !level.transfer.exists() ? 4 + 6 * steps : 10 + 12 * steps;
    std::uint64_t once = vectors * level.smoother.bytes();
    if (level.transfer.exists()) once += level.transfer.bytes_read();
    bytes += static_cast<std::uint64_t>(level.cycles) * once;
    if (level.again == nullptr) continue;
    // Between two cycles x is scaled, b and x go to double and r comes from there; behind them x takes the second.
    const std::uint64_t between = 8 * level.x.bytes() + 3 * level.again->exact_x.bytes();
    bytes += static_cast<std::uint64_t>(level.cycles / 2) * between;
  }
  if (coarse_ != nullptr) {
    const int cycles = coarse_first_ == 0 ? 1 : levels_[coarse_first_ - 1].cycles;
    bytes += static_cast<std::uint64_t>(cycles) * coarse_->bytes_per_cycle();
  }
  return bytes;
}

template <class T, Space S>
std::vector<std::pair<std::string, std::uint64_t>> AmgCycle<T, S>::bytes() const {
  std::uint64_t matrices = 0, prolongators = 0, smoothers = 0,
                vectors = converted_.bytes() + own_b_.bytes() + own_x_.bytes();
  for (const Level& level : levels_) {
    if (level.a != nullptr) matrices += level.a->info().total_bytes();
    if (level.transfer.exists()) prolongators += level.transfer.bytes();
    if (level.sparse.m != nullptr) smoothers += level.sparse.m->info().total_bytes();
    vectors += level.smoother.bytes() + level.z.bytes() + level.r.bytes() + level.d.bytes() + level.b.bytes() +
               level.x.bytes();
    if (level.again == nullptr) continue;
    vectors += level.again->vector_bytes();
    if (level.again->exact != nullptr) matrices += level.again->exact->info().total_bytes();
  }
  std::uint64_t inverse = inverse_ == nullptr ? 0 : inverse_->info().total_bytes();
  if (coarse_ != nullptr) {
    matrices += coarse_->matrix_bytes();
    prolongators += coarse_->prolongator_bytes();
    inverse += coarse_->inverse_bytes();
    vectors += coarse_->vector_bytes();
  }
  return {{"matrices of the levels", matrices},
          {"prolongators", prolongators},
          {"smoothers", smoothers},
          {"coarsest inverse", inverse},
          {"vectors", vectors}};
}

template <class T, Space S>
std::pair<Offset, Offset> AmgCycle<T, S>::nonzeros_and_slots() const {
  std::pair<Offset, Offset> sums{0, 0};
  for_operators([&](const auto& op, int) {
    const OperatorInfo info = op.info();
    sums.first += info.nonzeros;
    sums.second += info.stored_slots;
  });
  const auto add = [&](Offset entries) {
    sums.first += entries;
    sums.second += entries;
  };
  for (const Level& level : levels_) add(level.transfer.exists() ? level.transfer.entries() : 0);
  if (coarse_ != nullptr) add(coarse_->entries());
  return sums;
}

template <class T, Space S>
double AmgCycle<T, S>::local_operations() const {
  double sum = 0;
  for (const Level& level : levels_)
    sum += level.sparse.m == nullptr ? 0 : local_operations_of(level.sparse.m->info());
  return sum;
}

#define X(T, S)                                                                              \
  template std::string AmgCycle<T, S>::smoother_text(const AmgHierarchy<S>&) const;          \
  template std::string AmgCycle<T, S>::cycles_text() const;                                  \
  template bool AmgCycle<T, S>::capturable() const;                                          \
  template std::uint64_t AmgCycle<T, S>::bytes_per_cycle() const;                            \
  template std::vector<std::pair<std::string, std::uint64_t>> AmgCycle<T, S>::bytes() const; \
  template std::pair<Offset, Offset> AmgCycle<T, S>::nonzeros_and_slots() const;             \
  template double AmgCycle<T, S>::local_operations() const;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
