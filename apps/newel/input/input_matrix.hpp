// SPDX-License-Identifier: Apache-2.0
/// The matrix `A` of the command line: a file, or a system generated on the spot.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <newel/io/matrix_market.hpp>
#include <newel/precond/preconditioner.hpp>
#include <newel/reorder/partition.hpp>

#include "apps/common/precond_files.hpp"
#include "apps/fem/mesh.hpp"

namespace newel::cli {

/// What `A` may be, for --help.
inline constexpr const char* system_words =
    "File of Matrix Market, SciPy (.npz), NumPy (.npy) or PETSc (.gz too, - for standard input), or a\n"
    "generated system:\n"
    "generate:KIND:N[:PE], mesh:FILE:KIND[:R].\n"
    "KIND is elasticity, diffusion or convection, for generate: also grid7";

/// Numbers in memory that nobody writes before they are computed.
using HostVector = Array<double, Space::host>;

struct InputMatrix {
  std::string name;  ///< as given
  Csr<double, Space::host> a;
  HostVector imaginary;  ///< parts of `a.val`, which has the real parts; empty: the matrix is real
  std::optional<MatrixMarketHeader> header;            ///< of a Matrix Market file
  std::shared_ptr<const NodeCoordinates> coordinates;  ///< of a generated system on a mesh
  std::shared_ptr<const fem::TetMesh> mesh;            ///< that mesh, if it was wanted
  double read_seconds = 0;
};

/// Reads the file or generates the system `name`, and keeps its mesh where that is wanted. Throws InputError,
/// OutOfMemory.
InputMatrix load_matrix(const Context<Space::host>& ctx, const std::string& name, bool keep_mesh = false);

/// Throws InputError for a complex matrix: `program` describes or measures real ones.
void require_real(const InputMatrix& matrix, const char* program);

/// |a_ij| for a complex matrix: which of its rows and columns are zero or not finite.
Csr<double, Space::host> magnitudes_of(const Context<Space::host>& ctx, const InputMatrix& matrix);

/// Whether it was read from a file without values, where each entry counts as 1.
bool is_pattern_only(const InputMatrix& matrix);

/// What is said of such a file.
inline constexpr const char* values_taken_as_one = "a pattern without values: each entry of the file is taken as 1";

/// Throws InputError unless the matrix is square.
void require_square(const InputMatrix& matrix);

/// Reads what a preconditioner of a matrix of n rows is to have from files, the pattern and the near-null vectors,
/// into `options`. Throws InputError for files of other sizes, and as `read_matrix_file`.
void read_precond_files(const Context<Space::host>& ctx, const PrecondFiles& files, Index n, PrecondOptions& options);

/// The nodes' coordinates, from a file if one is named, else those that a generated system knows; null: not known.
std::shared_ptr<const NodeCoordinates> read_coordinates(const Context<Space::host>& ctx, const std::string& file,
                                                        const InputMatrix& matrix);

/// How many entries the file repeats, which reading summed up.
Offset repeated_entries(const Context<Space::host>& ctx, const InputMatrix& matrix);

}  // namespace newel::cli
