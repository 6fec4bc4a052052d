// SPDX-License-Identifier: Apache-2.0
// 12  Under MPI: the membrane of the first example, with its rows shared out among processes.
//
// Each process makes a range of rows, with column numbers of the whole matrix in 64 bits, and gets its part of u. All
// call Newel's functions together.
//
// Shows: mpi_ranks, DistributedSystem.
// Compile: find_package(newel COMPONENTS mpi), target_link_libraries(program PRIVATE newel::mpi). Run: mpirun -n 3
// 12_mpi.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <newel/mpi/mpi_ranks.hpp>
#include <newel/newel.hpp>

using namespace newel;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  double error = 0;
  bool good = false;
  {
    const auto ranks = mpi_ranks(MPI_COMM_WORLD);

    // This process' rows of the matrix and the load.
    const std::int64_t n = 100, rows = n * n;
    const std::int64_t first = rows * ranks->rank() / ranks->size(), end = rows * (ranks->rank() + 1) / ranks->size();
    const double h = 1.0 / static_cast<double>(n + 1);
    std::vector<Offset> row_ptr{0};
    std::vector<std::int64_t> col;
    std::vector<double> val, b, exact;
    for (std::int64_t row = first; row < end; ++row) {
      const std::int64_t i = row % n, j = row / n;
      const auto entry = [&](std::int64_t column, double value) {
        col.push_back(column);
        val.push_back(value);
      };
      if (j > 0) entry(row - n, -1);
      if (i > 0) entry(row - 1, -1);
      entry(row, 4);
      if (i < n - 1) entry(row + 1, -1);
      if (j < n - 1) entry(row + n, -1);
      row_ptr.push_back(static_cast<Offset>(col.size()));
      const double x = static_cast<double>(i + 1) * h, y = static_cast<double>(j + 1) * h;
      b.push_back(h * h * 2 * (x * (1 - x) + y * (1 - y)));
      exact.push_back(x * (1 - x) * y * (1 - y));
    }

    // One thread for each process; the report is the same on all.
    SystemOptions options;
    options.stop.rel_tol = 1e-10;
    DistributedSystem<double> system(Context<Space::host>(1), ranks, {row_ptr, col, val}, options);
    std::vector<double> u(b.size(), 0.0);
    const SolveReport report = system.solve(b, u);

    for (std::size_t i = 0; i < u.size(); ++i) error = std::fmax(error, std::fabs(u[i] - exact[i]));
    ranks->max(&error, 1);
    good = report.converged() && error < 1e-8;
    if (ranks->rank() == 0) {
      std::printf("%s after %d iterations on %d processes, error %.1e\n", report.converged() ? "converged" : "FAILED",
                  report.iterations, ranks->size(), error);
    }
  }
  MPI_Finalize();
  return good ? 0 : 1;
}
