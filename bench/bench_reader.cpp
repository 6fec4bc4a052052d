// SPDX-License-Identifier: Apache-2.0
// The Newel side of bench/run/bench_reader.py: makes a large finite-element-like file, and reads one again and again.
//   bench_reader make FILE MEGABYTES rows|columns|symmetric
//   bench_reader read FILE THREADS     reads once per line on stdin and answers
//                                      "SECONDS PROCESSOR_SECONDS ROWS ENTRIES CHECKSUM"
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

#include <newel/core/error.hpp>
#include <newel/core/file_writer.hpp>
#include <newel/io/matrix_market.hpp>

namespace {

using namespace newel;

// Three unknowns on each node of a cube, every node coupled with its 26 neighbours: 81 entries in an inner row.
class CubeMatrix {
 public:
  explicit CubeMatrix(Index side) : side_(side) {}
  Index rows() const { return 3 * side_ * side_ * side_; }

  // Calls f(row, col) for every column of a row, ascending.
  template <class F>
  void for_row(Index row, F&& f) const {
    const Index node = row / 3;
    const Index x = node % side_, y = node / side_ % side_, z = node / (side_ * side_);
    for (Index k = low(z); k <= high(z); ++k) {
      for (Index j = low(y); j <= high(y); ++j) {
        for (Index i = low(x); i <= high(x); ++i) {
          const Index first = 3 * ((k * side_ + j) * side_ + i);
          for (Index unknown = 0; unknown < 3; ++unknown) f(row, first + unknown);
        }
      }
    }
  }

 private:
  Index low(Index i) const { return i > 0 ? i - 1 : i; }
  Index high(Index i) const { return i + 1 < side_ ? i + 1 : i; }

  Index side_;
};

// A value with all its 53 bits in use, within four powers of ten.
double some_value(Index row, Index col) {
  std::uint64_t x = static_cast<std::uint64_t>(row) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(col);
  x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u;
  x ^= x >> 29;
  constexpr double scales[] = {1, 10, 100, 1000};
  return (static_cast<double>(x >> 11) * 0x1p-53 - 0.5) * scales[x & 3];
}

void make(const std::string& path, double megabytes, const std::string& order) {
  constexpr double line_bytes = 33.5;
  const bool symmetric = order == "symmetric";
  Index side = 2;
  while (243.0 * side * side * side * line_bytes * (symmetric ? 0.5 : 1) < megabytes * 1e6) ++side;
  const CubeMatrix a(side);
  Offset entries = 0;
  const auto each = [&](auto&& f) {
    for (Index row = 0; row < a.rows(); ++row) {
      a.for_row(row, [&](Index i, Index j) {
        if (!symmetric || j >= i) f(i, j);
      });
    }
  };
  each([&](Index, Index) { ++entries; });
  FileWriter file(path);
  file.write(std::string("%%MatrixMarket matrix coordinate real ") + (symmetric ? "symmetric\n" : "general\n"));
  file.write(std::to_string(a.rows()) + " " + std::to_string(a.rows()) + " " + std::to_string(entries) + "\n");
  each([&](Index i, Index j) {
    if (order != "rows") std::swap(i, j);
    char* p = file.reserve(100);
    p = std::to_chars(p, p + 20, i + 1).ptr;
    *p++ = ' ';
    p = std::to_chars(p, p + 20, j + 1).ptr;
    *p++ = ' ';
    p = std::to_chars(p, p + 40, some_value(i, j)).ptr;
    *p++ = '\n';
    file.advance(p);
  });
  file.commit();
}

void read(const std::string& path, int threads) {
  const Context<Space::host> ctx(threads);
  for (std::string line; std::getline(std::cin, line);) {
    const std::clock_t processor_begin = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    const Csr<double, Space::host> a = read_matrix(ctx, path);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const double processor_seconds = static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC;
    double sum = 0;
    for (const double value : a.val) sum += value;
    std::printf("%.6f %.6f %d %lld %.17g\n", seconds, processor_seconds, a.rows, static_cast<long long>(a.nnz()),
                sum);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "make" && argc == 5) {
      make(argv[2], std::atof(argv[3]), argv[4]);
    } else if (what == "read" && argc == 4) {
      read(argv[2], std::atoi(argv[3]));
    } else {
      std::fputs(
          "usage: bench_reader make FILE MEGABYTES rows|columns|symmetric\n"
          "       bench_reader read FILE THREADS\n",
          stderr);
      return 2;
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "bench_reader: %s\n", error.what());
    return 2;
  }
  return 0;
}
