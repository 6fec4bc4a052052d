// SPDX-License-Identifier: Apache-2.0
// 17  Complex values: a vibrating membrane with damping, at the frequency w,
//
//         -u_xx - u_yy + (i d w - w^2) u = f   on the unit square,      u = 0 on its edge
//
// Finite differences on n x n interior points, h = 1 / (n + 1), multiplied by h^2. u is the amplitude: its real part
// is in phase with the force f, its imaginary part a quarter of a period behind. Below the first resonance, at w = pi
// sqrt(2) = 4.44, u is almost real; at the resonance it is almost imaginary.
//
// Shows: ComplexSystem, refresh with complex values of the same pattern, and the report.
// Compile: as 01; here the target 17_complex.
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include <newel/newel.hpp>

using namespace newel;
using Complex = std::complex<double>;

namespace {

constexpr int n = 60;

struct Membrane {
  std::vector<Offset> row_ptr = {0};
  std::vector<Index> col;
  std::vector<Complex> val;
};

Membrane membrane(double damping, double w) {
  Membrane a;
  const double h = 1.0 / (n + 1);
  for (int row = 0; row < n * n; ++row) {
    const int i = row % n, j = row / n;
    const auto add = [&](int column, Complex value) {
      a.col.push_back(column);
      a.val.push_back(value);
    };
    if (j > 0) add(row - n, -1);
    if (i > 0) add(row - 1, -1);
    add(row, 4.0 + h * h * Complex(-w * w, damping * w));
    if (i < n - 1) add(row + 1, -1);
    if (j < n - 1) add(row + n, -1);
    a.row_ptr.push_back(static_cast<Offset>(a.col.size()));
  }
  return a;
}

// |b - A x| / |b|
double residual(const Membrane& a, const std::vector<Complex>& b, const std::vector<Complex>& x) {
  double sum = 0, whole = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    Complex r = b[i];
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) r -= a.val[k] * x[a.col[k]];
    sum += std::norm(r);
    whole += std::norm(b[i]);
  }
  return std::sqrt(sum / whole);
}

}  // namespace

int main() {
  const Context<Space::host> ctx;
  const double damping = 0.5;
  Membrane a = membrane(damping, 1);
  std::vector<Complex> b(n * n, 1.0 / (n * n)), u(n * n);
  const Span<const Complex, Space::host> force(b);
  const Span<Complex, Space::host> amplitude(u);

  using Input = MatrixInput<Complex, Space::host>;
  const auto matrix = Input::csr(n * n, n * n, Span<const Offset, Space::host>(a.row_ptr),
                                 Span<const Index, Space::host>(a.col), Span<const Complex, Space::host>(a.val));
  ComplexSystem<double, Space::host> system(ctx, matrix);
  bool good = true;
  for (const double w : {1.0, std::sqrt(2.0) * 3.14159265}) {
    a = membrane(damping, w);
    system.refresh(a.val);  // the same pattern: nothing is analysed again
    const SolveReport report = system.solve(force, amplitude);
    const Complex middle = u[n * (n / 2) + n / 2];
    std::printf("w = %.2f: %s after %d iterations, |b - A u| / |b| = %.1e, middle at a phase of %.0f degrees\n", w,
                std::string(name_of(report.status)).c_str(), report.iterations, residual(a, b, u),
                -std::arg(middle) * 180 / 3.14159265);
    good = good && report.converged() && residual(a, b, u) < 2e-8;
  }
  return good ? 0 : 1;
}
