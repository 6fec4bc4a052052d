// SPDX-License-Identifier: Apache-2.0
// 18  Under MPI on GPUs: the membrane of example 12, solved on the GPUs of the processes' hosts.
//
// Each process makes its rows on the host, as before. There may be more processes than GPUs: then the first of those
// that share a GPU solves for the others. Without GPUs, every second process does.
//
// Shows: device_of_rank, OffloadedSystem.
// Compile: find_package(newel COMPONENTS mpi), target_link_libraries(program PRIVATE newel::mpi). Run: mpirun -n 3
// 18_mpi_gpus.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include <newel/mpi/mpi_ranks.hpp>
#include <newel/newel.hpp>

using namespace newel;

// This process' rows of the matrix and the load, on n x n points.
struct Part {
  std::vector<Offset> row_ptr{0};
  std::vector<std::int64_t> col;
  std::vector<double> val, b, exact;
};

Part make_part(std::int64_t n, int rank, int ranks) {
  Part p;
  const double h = 1.0 / static_cast<double>(n + 1);
  for (std::int64_t row = n * n * rank / ranks; row < n * n * (rank + 1) / ranks; ++row) {
    const std::int64_t i = row % n, j = row / n;
    const auto entry = [&](std::int64_t column, double value) {
      p.col.push_back(column);
      p.val.push_back(value);
    };
    if (j > 0) entry(row - n, -1);
    if (i > 0) entry(row - 1, -1);
    entry(row, 4);
    if (i < n - 1) entry(row + 1, -1);
    if (j < n - 1) entry(row + n, -1);
    p.row_ptr.push_back(static_cast<Offset>(p.col.size()));
    const double x = static_cast<double>(i + 1) * h, y = static_cast<double>(j + 1) * h;
    p.b.push_back(h * h * 2 * (x * (1 - x) + y * (1 - y)));
    p.exact.push_back(x * (1 - x) * y * (1 - y));
  }
  return p;
}

// `context`: of a process that solves; none on the others.
template <Space S>
bool solve(const std::optional<Context<S>>& context, const std::shared_ptr<Communicator>& ranks) {
  const Part p = make_part(100, ranks->rank(), ranks->size());
  SystemOptions options;
  options.stop.rel_tol = 1e-10;
  OffloadedSystem<double, S> system(context, ranks, {p.row_ptr, p.col, p.val}, options);
  std::vector<double> u(p.b.size(), 0.0);
  const SolveReport report = system.solve(p.b, u);

  double error = 0;
  for (std::size_t i = 0; i < u.size(); ++i) error = std::fmax(error, std::fabs(u[i] - p.exact[i]));
  ranks->max(&error, 1);
  if (ranks->rank() == 0) {
    std::printf("link: %s\n%s after %d iterations on %d processes, error %.1e\n", system.link().c_str(),
                report.converged() ? "converged" : "FAILED", report.iterations, ranks->size(), error);
  }
  return report.converged() && error < 1e-8;
}

bool solve(const std::shared_ptr<Communicator>& ranks) {
#if NEWEL_HAS_CUDA
  const RankDevice own = device_of_rank(*ranks);
  std::optional<Context<Space::device>> gpu;
  if (own.all_have && !own.shares) gpu.emplace(own.device);
  if (own.all_have) return solve(gpu, ranks);
#endif
  std::optional<Context<Space::host>> thread;
  if (ranks->rank() % 2 == 0) thread.emplace(1);
  return solve(thread, ranks);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool good = solve(mpi_ranks(MPI_COMM_WORLD));
  MPI_Finalize();
  return good ? 0 : 1;
}
