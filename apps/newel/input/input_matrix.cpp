// SPDX-License-Identifier: Apache-2.0
// Loading the matrix and the checks that a linear system asks for.
#include "input_matrix.hpp"

#include <algorithm>
#include <cmath>

#include <newel/core/error.hpp>
#include <newel/core/parallel.hpp>
#include <newel/io/matrix_file.hpp>
#include <newel/precond/amg/amg_options.hpp>
#include <newel/precond/pattern_options.hpp>
#include <newel/precond/saddle/saddle_options.hpp>

#include "apps/common/output_files.hpp"
#include "apps/common/run_clock.hpp"
#include "apps/common/text.hpp"
#include "apps/fem/problem.hpp"

namespace newel::cli {

InputMatrix load_matrix(const Context<Space::host>& ctx, const std::string& name, bool keep_mesh) {
  const Stopwatch watch;
  InputMatrix result;
  result.name = name;
  if (fem::is_generated(name)) {
    auto coordinates = std::make_shared<NodeCoordinates>();
    auto mesh = keep_mesh ? std::make_shared<fem::TetMesh>() : nullptr;
    result.a = fem::generate_matrix(ctx, name, coordinates.get(), mesh.get());
    if (!coordinates->xyz.empty()) result.coordinates = std::move(coordinates);
    if (mesh != nullptr && !mesh->nodes.empty()) result.mesh = std::move(mesh);
  } else {
    MatrixFile file = read_complex_matrix_file(ctx, input_file(name));
    result.a = std::move(file.a);
    result.imaginary = std::move(file.imaginary);
    result.header = file.header;
  }
  result.read_seconds = watch.seconds();
  return result;
}

void require_real(const InputMatrix& matrix, const char* program) {
  if (matrix.imaginary.empty()) return;
  throw InputError(matrix.name + ": expected real values, found complex ones: " + program +
                   " takes real matrices, and newel solve takes both");
}

Csr<double, Space::host> magnitudes_of(const Context<Space::host>& ctx, const InputMatrix& matrix) {
  Csr<double, Space::host> a = make_csr(ctx, CsrView<double, Space::host>(matrix.a));
  parallel_for(ctx, a.nnz(), [&](Offset k) { a.val[k] = std::hypot(a.val[k], matrix.imaginary[k]); });
  return a;
}

bool is_pattern_only(const InputMatrix& matrix) {
  return matrix.header && matrix.header->field == MatrixMarketHeader::Field::pattern;
}

void require_square(const InputMatrix& matrix) {
  const Csr<double, Space::host>& a = matrix.a;
  if (a.rows == a.cols) return;
  throw InputError(matrix.name + ": expected a square matrix, found " + count_of(a.rows, "row", "rows") + " and " +
                   count_of(a.cols, "column", "columns"));
}

namespace {

std::shared_ptr<const GivenPattern> read_pattern(const Context<Space::host>& ctx, const std::string& file, Index n) {
  const Csr<double, Space::host> entries = read_matrix_file(ctx, input_file(file)).a;
  if (entries.rows != n || entries.cols != n) {
    throw InputError(file + ": expected a pattern of " + std::to_string(n) + " x " + std::to_string(n) +
                     ", as in the matrix, found " + std::to_string(entries.rows) + " x " +
                     std::to_string(entries.cols));
  }
  auto pattern = std::make_shared<GivenPattern>();
  pattern->rows = n;
  pattern->row_ptr.assign(entries.row_ptr.begin(), entries.row_ptr.end());
  pattern->col.assign(entries.col.begin(), entries.col.end());
  return pattern;
}

// The values of an array, row by row. Throws InputError for a file of coordinates of entries, and for other sizes
// than `fits` wants, which `expected` says in words.
template <class Fits>
Csr<double, Space::host> read_rows(const Context<Space::host>& ctx, const std::string& file,
                                   const std::string& expected, const Fits& fits) {
  MatrixFile read = read_matrix_file(ctx, input_file(file));
  Csr<double, Space::host> found = std::move(read.a);
  if (read.full && fits(found)) return found;
  throw InputError(file + ": expected an array of " + expected + ", found " + std::to_string(found.rows) + " x " +
                   std::to_string(found.cols));
}

std::shared_ptr<const NearNullVectors> read_vectors(const Context<Space::host>& ctx, const std::string& file,
                                                    Index n) {
  const Csr<double, Space::host> found =
      read_rows(ctx, file, std::to_string(n) + " rows, as the matrix has, and a column for each vector",
                [&](const Csr<double, Space::host>& a) { return a.rows == n && a.cols > 0; });
  auto vectors = std::make_shared<NearNullVectors>();
  vectors->count = found.cols;
  vectors->values.assign(found.val.begin(), found.val.end());
  return vectors;
}

// Row numbers of the file begin with 1.
std::shared_ptr<const std::vector<Index>> read_constraints(const Context<Space::host>& ctx, const std::string& file,
                                                           Index n) {
  const Csr<double, Space::host> found = read_rows(ctx, file, "one column of row numbers",
                                                   [](const Csr<double, Space::host>& a) { return a.cols == 1; });
  auto rows = std::make_shared<std::vector<Index>>();
  for (const double number : found.val) {
    if (!(number >= 1 && number <= n) || number != std::floor(number)) {
      throw InputError(file + text(": expected row numbers from 1 to %d, found %.9g", static_cast<int>(n), number));
    }
    rows->push_back(static_cast<Index>(number) - 1);
  }
  return rows;
}

std::shared_ptr<const SchurMatrix> read_mass(const Context<Space::host>& ctx, const std::string& file) {
  const Csr<double, Space::host> found = read_matrix_file(ctx, input_file(file)).a;
  if (found.rows != found.cols) {
    throw InputError(file + ": expected a square matrix, found " + std::to_string(found.rows) + " x " +
                     std::to_string(found.cols));
  }
  auto mass = std::make_shared<SchurMatrix>();
  mass->rows = found.rows;
  mass->row_ptr.assign(found.row_ptr.begin(), found.row_ptr.end());
  mass->col.assign(found.col.begin(), found.col.end());
  mass->val.assign(found.val.begin(), found.val.end());
  return mass;
}

}  // namespace

void read_precond_files(const Context<Space::host>& ctx, const PrecondFiles& files, Index n,
                        PrecondOptions& options) {
  if (!files.pattern.empty()) options.of<PatternOptions>().pattern = read_pattern(ctx, files.pattern, n);
  if (!files.vectors.empty()) options.of<AmgOptions>().vectors = read_vectors(ctx, files.vectors, n);
  auto& saddle = options.of<SaddleOptions>();
  if (!files.constraints.empty()) saddle.rows = read_constraints(ctx, files.constraints, n);
  if (!files.mass.empty()) saddle.schur_matrix = read_mass(ctx, files.mass);
}

std::shared_ptr<const NodeCoordinates> read_coordinates(const Context<Space::host>& ctx, const std::string& file,
                                                        const InputMatrix& matrix) {
  if (file.empty()) return matrix.coordinates;
  const Csr<double, Space::host> points = read_rows(
      ctx, file, "points x 1, 2 or 3", [](const Csr<double, Space::host>& a) { return a.cols >= 1 && a.cols <= 3; });
  auto coordinates = std::make_shared<NodeCoordinates>();
  coordinates->xyz.assign(points.val.begin(), points.val.end());
  coordinates->dimension = points.cols;
  return coordinates;
}

Offset repeated_entries(const Context<Space::host>& ctx, const InputMatrix& matrix) {
  if (!matrix.header || matrix.header->layout != MatrixMarketHeader::Layout::coordinate) return 0;
  const Csr<double, Space::host>& a = matrix.a;
  Offset distinct = a.nnz();
  if (matrix.header->symmetry != MatrixMarketHeader::Symmetry::general) {
    const Offset diagonal = parallel_count<Offset>(ctx, a.rows, [&](Index i) {
      return std::binary_search(a.col.data() + a.row_ptr[i], a.col.data() + a.row_ptr[i + 1], i);
    });
    distinct = (a.nnz() - diagonal) / 2 + diagonal;
  }
  return matrix.header->entries - distinct;
}

}  // namespace newel::cli
