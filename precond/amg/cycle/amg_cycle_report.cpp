// SPDX-License-Identifier: Apache-2.0
// What a cycle tells of itself: its parts in words, their bytes, and what a cycle reads.
#include "core/vectors/instantiate.hpp"
#include "precond/amg/cycle/cycle_levels.hpp"

namespace newel::detail {

double local_operations_of(const OperatorInfo& info) { return info.figure(local_operations).value_or(0); }

namespace {

// f(operator, how often a cycle multiplies with it)
template <class T, Space S, class F>
void for_operators(const CycleLevels<T, S>& levels, F&& f) {
  for (const CycleLevel<T, S>& level : levels.all) {
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
  if (levels.inverse != nullptr) f(*levels.inverse, levels.all.back().cycles);
}

// Bytes that the vectors and prolongators of a level move in a cycle.
template <class T, Space S>
std::uint64_t vector_traffic(const CycleLevel<T, S>& level) {
  const auto steps = static_cast<std::uint64_t>(level.steps.next.size());
  // The first step moves 4 vectors, each further one 6, the one after the coarse correction 6.
  const std::uint64_t vectors = !level.transfer.exists() ? 4 + 6 * steps : 10 + 12 * steps;
  std::uint64_t once = vectors * level.smoother.bytes();
  if (level.transfer.exists()) once += level.transfer.bytes_read();
  const std::uint64_t all = static_cast<std::uint64_t>(level.cycles) * once;
  if (level.again == nullptr) return all;
  // Between two cycles x is scaled, b and x go to double and r comes from there; after them x takes the second.
  const std::uint64_t between = 8 * level.x.bytes() + 3 * level.again->exact_x.bytes();
  return all + static_cast<std::uint64_t>(level.cycles / 2) * between;
}

}  // namespace

template <class T, Space S>
OperatorInfo CycleLevels<T, S>::info() const {
  OperatorInfo info;
  for_operators(*this, [&](const auto& op, int times) {
    const OperatorInfo of_one = op.info();
    info.nonzeros += of_one.nonzeros;
    info.stored_slots += of_one.stored_slots;
    info.bytes_per_product += static_cast<std::uint64_t>(times) * of_one.bytes_per_product;
  });
  const auto add_entries = [&](Offset entries) {
    info.nonzeros += entries;
    info.stored_slots += entries;
  };
  std::uint64_t matrices = 0, prolongators = 0, smoothers = 0;
  std::uint64_t vectors = converted.bytes() + own_b.bytes() + own_x.bytes();
  double operations = 0;
  for (const CycleLevel<T, S>& level : all) {
    info.bytes_per_product += vector_traffic(level);
    if (level.a != nullptr) matrices += level.a->info().total_bytes();
    if (level.transfer.exists()) {
      add_entries(level.transfer.entries());
      prolongators += level.transfer.bytes();
    }
    if (level.sparse.m != nullptr) {
      const OperatorInfo of_smoother = level.sparse.m->info();
      smoothers += of_smoother.total_bytes();
      operations += local_operations_of(of_smoother);
    }
    vectors += level.smoother.bytes() + level.vector_bytes();
    if (level.again != nullptr && level.again->exact != nullptr) matrices += level.again->exact->info().total_bytes();
  }
  std::uint64_t of_inverse = inverse == nullptr ? 0 : inverse->info().total_bytes();
  if (coarse != nullptr) {
    const CoarseCycleSizes sizes = coarse->sizes();
    const int cycles = coarse_first == 0 ? 1 : all[coarse_first - 1].cycles;
    add_entries(sizes.entries);
    info.bytes_per_product += static_cast<std::uint64_t>(cycles) * sizes.bytes_per_cycle;
    matrices += sizes.matrix_bytes;
    prolongators += sizes.prolongator_bytes;
    of_inverse += sizes.inverse_bytes;
    vectors += sizes.vector_bytes;
  }
  info.bytes = {{"matrices of the levels", matrices},
                {"prolongators", prolongators},
                {"smoothers", smoothers},
                {"coarsest inverse", of_inverse},
                {"vectors", vectors}};
  if (operations > 0) info.figures = {{local_operations, operations}};
  return info;
}

template <class T, Space S>
std::string CycleLevels<T, S>::smoother_text(const AmgHierarchy<S>& hierarchy) const {
  std::string text;
  for (std::size_t l = 0; l < all.size(); ++l) {
    const AmgLevel<S>& from = hierarchy.levels()[l];
    if (all[l].a == nullptr && (!in_coarse(l) || from.smoother_diagonal.size() == 0)) continue;
    const std::string name = name_of(used_smoother(from.smoother, all[l].sparse.m != nullptr));
    if (text.find(name) == std::string::npos) text += (text.empty() ? "" : " and ") + name;
  }
  return text.empty() ? "no smoother" : text;
}

template <class T, Space S>
std::string CycleLevels<T, S>::cycles_text() const {
  std::vector<std::string> twice;
  for (std::size_t l = 0; l < all.size(); ++l) {
    if (solved_twice(l)) twice.push_back(std::to_string(l + 1));
  }
  std::string text;
  for (std::size_t i = 0; i < twice.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == twice.size() ? " and " : ", ") + twice[i];
  }
  return text.empty() ? text : ", two cycles on level" + std::string(twice.size() > 1 ? "s " : " ") + text;
}

template <class T, Space S>
bool CycleLevels<T, S>::capturable() const {
  bool every = true;
  for_operators(*this, [&](const auto& op, int) { every = every && op.capturable(); });
  return every;
}

#define X(T, S) template struct CycleLevels<T, S>;
NEWEL_FOR_TYPES_AND_SPACES(X)
#undef X

}  // namespace newel::detail
