// SPDX-License-Identifier: Apache-2.0
// 08  Inside a CUDA graph: heat spreads in a square plate whose edge is kept cold,
//
//         du/dt = u_xx + u_yy   on the unit square,      u = 0 on its edge,      u = 1 in its middle at the start
//
// Finite differences on n x n interior points, h = 1 / (n + 1), and backward Euler with the step dt:
//
//         (I + dt L) u_new = u_old,      L u_ij = (4 u_ij - u_(i-1)j - u_(i+1)j - u_i(j-1) - u_i(j+1)) / h^2
//
// The eigenvectors of L are products of sines, sin(p pi x) sin(q pi y) with the eigenvalue
// l_p + l_q, l_p = (2 sin(p pi h / 2) / h)^2. A step divides each of them by 1 + dt (l_p + l_q): so the program knows
// what u is after all steps, and compares.
//
// Shows: Cg::iterate, a number of CG iterations that is fixed beforehand and reads nothing back, captured together
// with a copy of the program's own; a whole time step is then one launch. LinearSystem makes matrix and
// preconditioner; the loop keeps its vectors in the order that they have there.
// Compile: as 03; here the target 08_cuda_graph_device. Ends with 77 where no GPU answers.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include <newel/newel.hpp>

using namespace newel;
constexpr Space device = Space::device;
constexpr Index n = 64;
constexpr double h = 1.0 / (n + 1), dt = 1e-4;
constexpr int steps = 100, iterations = 16;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(3);
}

// u after all steps by the eigenvectors, from g(x) g(y), g being 1 between 1/4 and 3/4: g = sum of g_p sin(p pi x).
std::vector<double> exact_state(const std::vector<double>& g) {
  const double pi = std::acos(-1.0);
  std::vector<double> sine(n * n), coefficient(n, 0.0), eigenvalue(n), u(n * n, 0.0);
  for (Index p = 0; p < n; ++p) {
    eigenvalue[p] = std::pow(2 * std::sin((p + 1) * pi * h / 2) / h, 2);
    for (Index i = 0; i < n; ++i) {
      sine[p * n + i] = std::sin((p + 1) * pi * (i + 1) * h);
      coefficient[p] += 2 * h * g[i] * sine[p * n + i];
    }
  }
  for (Index p = 0; p < n; ++p) {
    for (Index q = 0; q < n; ++q) {
      const double amplitude =
          coefficient[p] * coefficient[q] * std::pow(1 + dt * (eigenvalue[p] + eigenvalue[q]), -steps);
      for (Index i = 0; i < n * n; ++i) u[i] += amplitude * sine[p * n + i % n] * sine[q * n + i / n];
    }
  }
  return u;
}

int main() {
  if (device_count() == 0) {
    std::printf("skipped: no CUDA device answers\n");
    return 77;
  }
  std::vector<Index> row_ptr{0}, col;
  std::vector<double> val, g, u;
  const double s = dt / (h * h);
  const auto entry = [&](Index column, double value) {
    col.push_back(column);
    val.push_back(value);
  };
  for (Index i = 0; i < n; ++i) g.push_back(i >= n / 4 && i < n - n / 4 ? 1 : 0);
  for (Index row = 0; row < n * n; ++row) {
    const Index i = row % n, j = row / n;
    if (j > 0) entry(row - n, -s);
    if (i > 0) entry(row - 1, -s);
    entry(row, 1 + 4 * s);
    if (i < n - 1) entry(row + 1, -s);
    if (j < n - 1) entry(row + n, -s);
    row_ptr.push_back(static_cast<Index>(col.size()));
    u.push_back(g[i] * g[j]);
  }

  const Context<device> ctx;
  const auto d_row_ptr = make_array(ctx, row_ptr), d_col = make_array(ctx, col);
  const auto d_val = make_array(ctx, val);
  LinearSystem<double, device> system(ctx, {n * n, n * n, d_row_ptr.cspan(), d_col.cspan(), d_val.cspan()});
  Cg<double, device> cg(ctx, n * n);
  const auto start = make_array(ctx, u);
  Array<double, device> state(ctx, n * n), old(ctx, n * n);
  system.ordered().from_user_order(start.cspan(), state.span());

  // One step, recorded: old = state, then `iterations` steps of CG from state.
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t step = nullptr;
  check(cudaStreamBeginCapture(ctx.stream(), cudaStreamCaptureModeThreadLocal));
  check(cudaMemcpyAsync(old.data(), state.data(), state.bytes(), cudaMemcpyDeviceToDevice, ctx.stream()));
  cg.iterate(ctx, system.ordered().matrix(), system.ordered().preconditioner(), old.cspan(), state.span(),
             iterations);
  check(cudaStreamEndCapture(ctx.stream(), &graph));
  check(cudaGraphInstantiate(&step, graph, 0));

  for (int i = 0; i < steps; ++i) check(cudaGraphLaunch(step, ctx.stream()));
  Array<double, device> result(ctx, n * n);
  system.ordered().to_user_order(state.cspan(), result.span());
  u = to_vector(ctx, result.cspan());  // waits for the stream
  check(cudaGraphExecDestroy(step));
  check(cudaGraphDestroy(graph));

  const std::vector<double> exact = exact_state(g);
  double error = 0, largest = 0;
  for (Index i = 0; i < n * n; ++i) {
    error = std::max(error, std::fabs(u[i] - exact[i]));
    largest = std::max(largest, std::fabs(exact[i]));
  }
  std::printf("%d launches of %d iterations, error %.1e of %.2f\n", steps, iterations, error, largest);
  return error < 1e-6 && largest > 0.1 ? 0 : 1;
}
