// SPDX-License-Identifier: Apache-2.0
// 16  On all GPUs of a workstation: the membrane of the first example, with its rows shared out among them.
//
//         -u_xx - u_yy = f   on the unit square,   u = 0 on its edge,   u = x (1 - x) y (1 - y)
//
// The program has one thread, the whole matrix and whole vectors, all on the host. Without a GPU two teams of threads
// share the rows.
//
// Shows: TeamSystem.
// Compile: find_package(newel), target_link_libraries(program PRIVATE newel::newel).
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <newel/newel.hpp>

using namespace newel;

struct Membrane {
  std::vector<Offset> row_ptr{0};
  std::vector<Index> col;
  std::vector<double> val, b, exact;
};

Membrane make_membrane(Index n) {
  Membrane m;
  const double h = 1.0 / (n + 1);
  for (Index row = 0; row < n * n; ++row) {
    const Index i = row % n, j = row / n;
    const auto entry = [&](Index column, double value) {
      m.col.push_back(column);
      m.val.push_back(value);
    };
    if (j > 0) entry(row - n, -1);
    if (i > 0) entry(row - 1, -1);
    entry(row, 4);
    if (i < n - 1) entry(row + 1, -1);
    if (j < n - 1) entry(row + n, -1);
    m.row_ptr.push_back(static_cast<Offset>(m.col.size()));
    const double x = (i + 1) * h, y = (j + 1) * h;
    m.b.push_back(h * h * 2 * (x * (1 - x) + y * (1 - y)));
    m.exact.push_back(x * (1 - x) * y * (1 - y));
  }
  return m;
}

// One rank for each context.
template <Space S>
int solve(const std::vector<Context<S>>& contexts, const std::string& what) {
  const Index rows = 100 * 100;
  const Membrane m = make_membrane(100);
  const std::vector<double>& b = m.b;
  const auto matrix = MatrixInput<double, Space::host>::csr(rows, rows, Span<const Offset, Space::host>(m.row_ptr),
                                                            Span<const Index, Space::host>(m.col), m.val);
  SystemOptions options;
  options.stop.rel_tol = 1e-10;

  TeamSystem<double, S> system(contexts, matrix, options);
  std::vector<double> u(b.size());
  const SolveReport report = system.solve(b, u, {}, InitialGuess::zero);

  double error = 0;
  for (std::size_t i = 0; i < u.size(); ++i) error = std::fmax(error, std::fabs(u[i] - m.exact[i]));
  std::printf("link: %s\n%s after %d iterations on %zu %s, error %.1e\n", system.link().c_str(),
              report.converged() ? "converged" : "FAILED", report.iterations, contexts.size(), what.c_str(), error);
  return report.converged() && error < 1e-8 ? 0 : 1;
}

int main() {
#if NEWEL_HAS_CUDA
  std::vector<Context<Space::device>> gpus;
  for (int gpu = 0; gpu < device_count(); ++gpu) gpus.emplace_back(gpu);
  if (!gpus.empty()) return solve(gpus, "GPUs");
#endif
  std::vector<Context<Space::host>> threads;
  for (int rank = 0; rank < 2; ++rank) threads.emplace_back(1);
  return solve(threads, "threads");
}
