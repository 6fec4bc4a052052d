// SPDX-License-Identifier: Apache-2.0
// 03  Device pointers and a stream of one's own: the temperature in a heated cube,
//
//         -u_xx - u_yy - u_zz = f   in the unit cube,      u = 0 on its surface
//
// Finite differences on k x k x k interior points, h = 1 / (k + 1), multiplied by h^2: 6 at the point itself, -1 at
// its six neighbours. f is that of u = x (1 - x) y (1 - y) z (1 - z), for which the differences are exact: the
// program compares with it.
//
// Shows: a matrix, b and u in memory from cudaMalloc; Context<Space::device>(0, stream). The library queues its work
// on that stream behind what the program queued there, so nothing has to be waited for in between.
// Compile: needs a library built with CUDA; link newel::newel and CUDA::cudart_static; here the target
// 03_device_pointers_device. There is no kernel in it, so a C++ compiler suffices. Ends with 77 where no GPU answers.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#include <newel/newel.hpp>

using namespace newel;
constexpr Space device = Space::device;

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(3);
}

template <class T>
T* upload(const std::vector<T>& from, cudaStream_t stream) {
  T* to = nullptr;
  check(cudaMalloc(&to, from.size() * sizeof(T)));
  check(cudaMemcpyAsync(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice, stream));
  return to;
}

int main() {
  if (device_count() == 0) {
    std::printf("skipped: no CUDA device answers\n");
    return 77;
  }
  const Index k = 48, n = k * k * k;
  const double h = 1.0 / (k + 1);
  std::vector<Index> row_ptr{0}, col;
  std::vector<double> val, b, exact;
  const auto arch = [h](Index i) { return h * (i + 1) * (1 - h * (i + 1)); };  // x (1 - x)
  for (Index row = 0; row < n; ++row) {
    const Index place[3] = {row / (k * k), row / k % k, row % k}, step[3] = {k * k, k, 1};
    const auto entry = [&](Index column, double value) {
      col.push_back(column);
      val.push_back(value);
    };
    for (int d = 0; d < 3; ++d)
      if (place[d] > 0) entry(row - step[d], -1);
    entry(row, 6);
    for (int d = 2; d >= 0; --d)
      if (place[d] < k - 1) entry(row + step[d], -1);
    row_ptr.push_back(static_cast<Index>(col.size()));
    const double x = arch(place[2]), y = arch(place[1]), z = arch(place[0]);
    exact.push_back(x * y * z);
    b.push_back(h * h * 2 * (y * z + x * z + x * y));
  }

  // The program's own stream and memory.
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  Index* const d_row_ptr = upload(row_ptr, stream);
  Index* const d_col = upload(col, stream);
  double* const d_val = upload(val, stream);
  double* const d_b = upload(b, stream);
  double* d_u = nullptr;
  check(cudaMalloc(&d_u, n * sizeof(double)));
  check(cudaMemsetAsync(d_u, 0, n * sizeof(double), stream));

  bool converged = false;
  int iterations = 0;
  {
    const Context<device> ctx(0, stream);  // the stream outlives it, and everything made with it
    const auto nnz = static_cast<std::int64_t>(col.size());
    const CsrView<double, device> matrix(n, n, Span<const Index, device>(d_row_ptr, n + 1), {d_col, nnz},
                                         {d_val, nnz});
    SystemOptions options;
    options.stop.rel_tol = 1e-10;
    LinearSystem<double, device> system(ctx, matrix, options);
    const SolveReport report = system.solve({d_b, n}, {d_u, n});
    converged = report.converged();
    iterations = report.iterations;
  }

  std::vector<double> u(exact.size());
  check(cudaMemcpyAsync(u.data(), d_u, n * sizeof(double), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  for (void* memory : {static_cast<void*>(d_row_ptr), static_cast<void*>(d_col), static_cast<void*>(d_val),
                       static_cast<void*>(d_b), static_cast<void*>(d_u)}) {
    check(cudaFree(memory));
  }
  check(cudaStreamDestroy(stream));

  double error = 0;
  for (Index i = 0; i < n; ++i) error = std::max(error, std::fabs(u[i] - exact[i]));
  std::printf("%s after %d iterations on a stream of the program's, error %.1e\n",
              converged ? "converged" : "not converged", iterations, error);
  // The error is at most |r| over the smallest eigenvalue, which is more than 29 h^2; |b| is less than k^1.5 h^2.
  return converged && error < 1e-10 * std::pow(k, 1.5) / 29 ? 0 : 1;
}
