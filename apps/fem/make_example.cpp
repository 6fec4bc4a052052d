// SPDX-License-Identifier: Apache-2.0
// Writes the system that the quickstart solves: a steel beam, clamped at one end, sagging under its own weight.
#include <zlib.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <string>

#include <newel/core/error.hpp>

#include "apps/fem/assembly.hpp"

namespace {

using namespace newel;
using namespace newel::fem;

void append(std::string& text, double value) {
  char digits[32];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

// The lower triangle, row by row.
std::string symmetric_text(const HostCsr& a, const std::string& comment) {
  Offset stored = 0;
  std::string entries;
  for (Index row = 0; row < a.rows; ++row) {
    for (Offset k = a.row_ptr[row]; k < a.row_ptr[row + 1] && a.col[k] <= row; ++k) {
      entries += std::to_string(row + 1) + " " + std::to_string(a.col[k] + 1) + " ";
      append(entries, a.val[k]);
      entries += "\n";
      ++stored;
    }
  }
  return "%%MatrixMarket matrix coordinate real symmetric\n" + comment + std::to_string(a.rows) + " " +
         std::to_string(a.cols) + " " + std::to_string(stored) + "\n" + entries;
}

std::string vector_text(const HostVector& b, const std::string& comment) {
  std::string text = "%%MatrixMarket matrix array real general\n" + comment + std::to_string(b.size()) + " 1\n";
  for (const double value : b) {
    append(text, value);
    text += "\n";
  }
  return text;
}

// A row for each node; Matrix Market stores columns, so x of all nodes comes first.
std::string nodes_text(const TetMesh& mesh, const std::string& comment) {
  std::string text =
      "%%MatrixMarket matrix array real general\n" + comment + std::to_string(mesh.node_count()) + " 3\n";
  for (const int axis : {0, 1, 2}) {
    for (const Point& node : mesh.nodes) {
      append(text, node[axis]);
      text += "\n";
    }
  }
  return text;
}

void write_gzip(const std::string& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb9");
  if (file == nullptr) throw InputError(path + ": cannot be written");
  const int written = gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  if (gzclose(file) != Z_OK || written != static_cast<int>(text.size()))
    throw InputError(path + ": cannot be written");
  std::printf("%s: %zu bytes of text\n", path.c_str(), text.size());
}

void make_cantilever_beam(const std::string& folder) {
  const Context<Space::host> ctx;
  const std::string comment =
      "% A steel beam of 2 m x 0.4 m x 0.4 m, clamped at x = 0, under its own weight along -z: linear elasticity,\n"
      "% P1 tetrahedra. Rows 3i-2, 3i-1, 3i: the displacement of node i along x, y, z in metres; loads in newtons.\n";
  BoxOptions options;
  options.jitter = 0.15;
  options.renumber = true;
  const TetMesh mesh = make_beam(ctx, 31, 7, 7, 2.0, 0.4, 0.4, options);
  const NodeFilter clamped = [](Index, const Point& at) { return at[0] == 0; };
  constexpr double youngs_modulus = 210e9, poisson_ratio = 0.3, density = 7850, gravity = 9.81;
  const HostCsr a = assemble_elasticity(ctx, mesh, youngs_modulus, poisson_ratio, clamped);
  const VectorSource weight = [](const Point&) { return Point{0, 0, -density * gravity}; };
  const HostVector b = assemble_body_force(ctx, mesh, weight, clamped);
  write_gzip(folder + "/cantilever_beam.mtx.gz", symmetric_text(a, comment));
  write_gzip(folder + "/cantilever_beam_b.mtx.gz", vector_text(b, comment));
  write_gzip(folder + "/cantilever_beam_nodes.mtx.gz",
             nodes_text(mesh, "% The nodes of cantilever_beam.mtx.gz: node i along x, y, z in metres.\n"));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: newel_make_example FOLDER\n");
    return 2;
  }
  try {
    make_cantilever_beam(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "newel_make_example: %s\n", error.what());
    return 2;
  }
  return 0;
}
