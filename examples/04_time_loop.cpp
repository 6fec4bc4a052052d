// SPDX-License-Identifier: Apache-2.0
// 04  A time loop: heat in a plate whose conductivity grows with its temperature,
//
//         du/dt = div((1 + u) grad u)   on the unit square, nothing through its edges
//
// Finite volumes on N x N cells, backward Euler, the conductivity taken from the step before:
//
//         (I + dt/h^2 L(u_old)) u_new = u_old,    L_ij = -(1 + (u_i + u_j) / 2) for neighbours,  L_ii = -sum of L_ij
//
// The pattern never changes; the values do, every step. Columns of L add up to zero, so the heat, sum of u, stays
// what it was: what the program checks at its end.
//
// Shows: refresh; one source for host and device (`04_time_loop host` stays on the host); the errors that are thrown.
// A second argument names a file for the temperatures at every 25th step, a line each, for a plot.
// docs/tutorial-transient.md explains it piece by piece.
// Compile: as 01; here the target 04_time_loop.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <vector>

#include <newel/newel.hpp>

using namespace newel;

constexpr Index N = 64;
constexpr double dt = 1e-3;
constexpr int steps = 200;

// The simulation's own data: CSR arrays as most codes have them, with 32-bit row pointers.
struct Plate {
  std::vector<std::int32_t> row_ptr{0};
  std::vector<Index> col;
  std::vector<double> val;
  std::vector<std::int32_t> diagonal;  // where each row's stands
  std::vector<double> u;               // the state

  Plate() : u(N * N, 0.0) {
    for (Index i = 0; i < N * N; ++i) {
      const Index x = i % N, y = i / N;
      if (y > 0) col.push_back(i - N);
      if (x > 0) col.push_back(i - 1);
      diagonal.push_back(static_cast<std::int32_t>(col.size()));
      col.push_back(i);
      if (x < N - 1) col.push_back(i + 1);
      if (y < N - 1) col.push_back(i + N);
      row_ptr.push_back(static_cast<std::int32_t>(col.size()));
      if (x < N / 4 && y < N / 4) u[i] = 10;  // a hot corner
    }
    val.resize(col.size());
    assemble();
  }

  // New values for the current state, in the order of the pattern.
  void assemble() {
    for (Index i = 0; i < N * N; ++i) {
      double sum = 0;  // of the neighbours' entries
      for (std::int32_t e = row_ptr[i]; e < row_ptr[i + 1]; ++e) {
        sum += val[e] = col[e] == i ? 0 : -dt * N * N * (1 + 0.5 * (u[i] + u[col[e]]));
      }
      val[diagonal[i]] = 1 - sum;
    }
  }
  double heat() const { return std::accumulate(u.begin(), u.end(), 0.0); }
  void write(std::ofstream& out) const {
    for (Index i = 0; i < N * N; ++i) out << u[i] << (i + 1 < N * N ? ' ' : '\n');
  }
};

template <Space S>
int simulate(const Context<S>& ctx, Plate& plate, std::ofstream& out) {
  // Once: the arrays in the space of the solver, and everything that depends on the pattern alone.
  const auto row_ptr = make_array(ctx, plate.row_ptr);
  const auto col = make_array(ctx, plate.col);
  auto val = make_array(ctx, plate.val);
  auto b = make_array(ctx, plate.u);
  auto x = make_array(ctx, plate.u);  // the guess: the state before
  SystemOptions options;
  options.solver.name = "cg";  // the matrix is symmetric and positive definite
  options.stop.rel_tol = 1e-10;
  options.expected_products = 10 * steps;  // what one setup is for: "auto" weighs formats by it
  LinearSystem<double, S> system(ctx, {N * N, N * N, row_ptr.cspan(), col.cspan(), val.cspan()}, options);

  // Every step: values in, solution out. Nothing is analysed again, nothing is allocated in S.
  for (int step = 0; step < steps; ++step) {
    plate.assemble();
    copy<double>(ctx, Span<const double, Space::host>(plate.val), val.span());
    system.refresh(val.cspan());
    const SolveReport report = system.solve(b.cspan(), x.span());
    if (!report.converged()) {
      std::fprintf(stderr, "step %d: %s, %s\n", step, name_of(report.status).data(), report.reason.c_str());
      return 1;
    }
    copy<double>(ctx, x.cspan(), b.span());
    copy<double>(ctx, x.cspan(), Span<double, Space::host>(plate.u));
    if (out.is_open() && (step + 1) % 25 == 0) plate.write(out);
  }
  std::printf("%d steps on the %s, matrix as %s\n", steps, name_of(S).data(), system.info().matrix.name.c_str());
  return 0;
}

int run([[maybe_unused]] bool host_only, const char* file) {
  Plate plate;
  std::ofstream out;
  if (file != nullptr) out.open(file);
  const double before = plate.heat();
  int status = -1;
#if NEWEL_HAS_CUDA
  if (!host_only && device_count() > 0) status = simulate(Context<Space::device>(0), plate, out);
#endif
  if (status < 0) status = simulate(Context<Space::host>(), plate, out);
  const double lost = std::fabs(plate.heat() - before) / before;
  std::printf("heat lost: %.1e of all; the far corner is at %.4f\n", lost, plate.u.back());
  return status != 0 ? status : lost < 1e-6 ? 0 : 1;
}

int main(int argc, char** argv) {
  try {
    return run(argc > 1 && std::strcmp(argv[1], "host") == 0, argc > 2 ? argv[2] : nullptr);
  } catch (const DeviceError& error) {
    std::fprintf(stderr, "the device failed: %s\n", error.what());
    return 3;
  } catch (const std::exception& error) {  // InputError: what was expected and what came; OutOfMemory
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}
