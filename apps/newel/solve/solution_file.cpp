// SPDX-License-Identifier: Apache-2.0
// The suffix of --out, and the solution on the nodes for ParaView.
#include "solution_file.hpp"

#include <unistd.h>

#include <complex>
#include <filesystem>

#include <newel/core/file_writer.hpp>
#include <newel/io/matrix_file.hpp>

#include "apps/common/exit_status.hpp"
#include "apps/common/output_files.hpp"
#include "apps/common/text.hpp"
#include "apps/fem/problem.hpp"
#include "apps/fem/vtu.hpp"

namespace newel::cli {
namespace {

bool is_vtu(const std::string& file) {
  const std::string suffix = std::filesystem::path(file).extension().string();
  return suffix == ".vtu" || suffix == ".VTU";
}

template <class T>
void write_values(const std::string& out, Span<const T, Space::host> values, Index columns) {
  if (is_standard_stream(out)) {
    FileWriter file(STDOUT_FILENO, "standard output");
    write_columns(file, values, columns);
  } else if (is_special_file(out) && !format_of_name(out)) {
    write_columns<T>(out, values, columns);
  } else {
    write_columns_file<T>(out, values, columns);
  }
}

template <class T>
void write_complex_values(const std::string& out, Span<const std::complex<T>, Space::host> values, Index columns) {
  if (is_standard_stream(out)) {
    FileWriter file(STDOUT_FILENO, "standard output");
    write_columns(file, values, columns);
  } else if (!format_of_name(out)) {
    write_columns<std::complex<T>>(out, values, columns);
  } else {
    write_complex_columns_file<T>(out, values, columns);
  }
}

// Two unknowns for each node are vectors in the plane, which ParaView wants with a third component.
std::vector<double> with_zeros(Span<const double, Space::host> pairs) {
  std::vector<double> triples(static_cast<std::size_t>(pairs.size) / 2 * 3, 0.0);
  for (std::int64_t i = 0; i < pairs.size; ++i) triples[static_cast<std::size_t>(i / 2 * 3 + i % 2)] = pairs[i];
  return triples;
}

void write_on_nodes(const Context<Space::host>& ctx, const std::string& out, const SolutionGrid& grid,
                    Span<const double, Space::host> x, Index columns) {
  const std::int64_t rows = x.size / columns;
  const auto each = static_cast<int>(rows / static_cast<std::int64_t>(grid.nodes()));
  std::vector<std::vector<double>> triples(static_cast<std::size_t>(columns));
  std::vector<fem::VtuField> fields;
  for (Index c = 0; c < columns; ++c) {
    Span<const double, Space::host> column(x.data + c * rows, rows);
    if (each == 2) {
      std::vector<double>& padded = triples[static_cast<std::size_t>(c)] = with_zeros(column);
      column = {padded.data(), static_cast<std::int64_t>(padded.size())};
    }
    const std::string name = columns == 1 ? "x" : "x" + std::to_string(c + 1);
    fields.push_back({name, fem::VtuField::On::nodes, each == 2 ? 3 : each, column});
  }
  const fem::VtuWriter writer =
      grid.mesh != nullptr ? fem::VtuWriter(ctx, *grid.mesh) : fem::VtuWriter(ctx, grid.points);
  writer.write(out, fields);
}

}  // namespace

void check_solution_name(const SolveOptions& options) {
  const std::string& out = options.out;
  if (out.empty() || is_standard_stream(out)) return;
  if (is_vtu(out)) {
    const bool known = !options.precond_files.coordinates.empty() || fem::is_generated(options.matrix);
    if (!known)
      throw UsageError("--out " + out + ": .vtu needs the nodes: pass --coordinates X.mtx, or a system on a mesh");
    return;
  }
  const std::optional<FileFormat> format = format_of_name(out);
  if (format && *format != FileFormat::npz) return;
  if (!format && is_special_file(out)) return;
  throw UsageError("--out " + out + ": expected a name that ends in " + columns_suffixes +
                   ", optionally followed by .gz, or in .vtu");
}

void check_complex_solution_name(const SolveOptions& options) {
  const std::string& out = options.out;
  if (out.empty() || is_standard_stream(out)) return;
  const std::optional<FileFormat> format = format_of_name(out);
  if (format == FileFormat::matrix_market || format == FileFormat::npy ||
      (!format && !is_vtu(out) && is_special_file(out)))
    return;
  throw UsageError("--out " + out + ": expected a name that ends in " + complex_columns_suffixes +
                   ", optionally followed by .gz: other formats have no complex values");
}

bool wants_mesh(const SolveOptions& options) { return is_vtu(options.out); }

SolutionGrid grid_for(const SolveOptions& options, const InputMatrix& matrix, const NodeCoordinates* coordinates) {
  SolutionGrid grid;
  if (!is_vtu(options.out)) return grid;
  if (options.precond_files.coordinates.empty()) grid.mesh = matrix.mesh;
  if (grid.mesh == nullptr && coordinates != nullptr) {
    const int dimension = coordinates->dimension;
    grid.points.resize(coordinates->xyz.size() / static_cast<std::size_t>(dimension));
    for (std::size_t i = 0; i < coordinates->xyz.size(); ++i) {
      grid.points[i / static_cast<std::size_t>(dimension)][i % static_cast<std::size_t>(dimension)] =
          coordinates->xyz[i];
    }
  }
  if (grid.nodes() == 0) throw InputError("--out " + options.out + ": the nodes of this system are not known");
  if (static_cast<std::size_t>(matrix.a.rows) % grid.nodes() != 0) {
    throw InputError("--out " + options.out + ": " + count_of(matrix.a.rows, "row", "rows") +
                     " cannot be divided among " + thousands(static_cast<std::int64_t>(grid.nodes())) + " nodes");
  }
  return grid;
}

void write_complex_solution(const SolveOptions& options, Span<const double, Space::host> x, Index columns) {
  if (!options.single_precision) {
    return write_complex_values<double>(options.out,
                                        {reinterpret_cast<const std::complex<double>*>(x.data), x.size / 2}, columns);
  }
  std::vector<std::complex<float>> rounded;
  for (std::int64_t i = 0; i < x.size; i += 2) {
    rounded.emplace_back(static_cast<float>(x[i]), static_cast<float>(x[i + 1]));
  }
  write_complex_values<float>(options.out, {rounded.data(), x.size / 2}, columns);
}

void write_solution(const Context<Space::host>& ctx, const SolveOptions& options, const SolutionGrid& grid,
                    Span<const double, Space::host> x, Index columns) {
  if (is_vtu(options.out)) return write_on_nodes(ctx, options.out, grid, x, columns);
  if (!options.single_precision) return write_values<double>(options.out, x, columns);
  const std::vector<float> rounded(x.begin(), x.end());
  write_values<float>(options.out, {rounded.data(), x.size}, columns);
}

}  // namespace newel::cli
