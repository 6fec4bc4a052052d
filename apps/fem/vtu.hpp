// SPDX-License-Identifier: Apache-2.0
/// Results for ParaView: unstructured grids (.vtu) and the list of frames of a run (.pvd).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <newel/core/span.hpp>

#include "apps/fem/mesh.hpp"

namespace newel::fem {

/// Numbers on nodes or tetrahedra. Refers to the caller's memory. `values` holds `components` numbers per node or
/// tetrahedron, one after the other.
struct VtuField {
  enum class On { nodes, tets };
  using Values =
      std::variant<Span<const double, Space::host>, Span<const float, Space::host>, Span<const Index, Space::host>>;

  std::string name;
  On on = On::nodes;
  int components = 1;
  Values values;
};

/// Fields from the usual arrays: scalars (double, float or Index) and vectors.
VtuField node_field(std::string name, VtuField::Values values);
VtuField tet_field(std::string name, VtuField::Values values);
VtuField node_field(std::string name, const std::vector<Point>& vectors);
VtuField tet_field(std::string name, const std::vector<Point>& vectors);

/// Writes frames of one mesh. The mesh, and fields that stay, are compressed once; a frame compresses its own fields
/// and writes. Binary data is appended raw, compressed by zlib in blocks of fixed size, so that the bits do not
/// depend on the number of threads; coordinates are double. Every frame repeats mesh and constant fields: three
/// numbers per tetrahedron (fibres) are most of a file, and better written once to a file of their own.
class VtuWriter {
 public:
  /// Keeps no reference to the mesh or to the fields. Throws InputError for a field whose length does not fit.
  VtuWriter(const Context<Space::host>& ctx, const TetMesh& mesh, const std::vector<VtuField>& constant_fields = {});

  /// The same for points without a mesh: each is a cell of its own, a vertex, so that ParaView shows them.
  VtuWriter(const Context<Space::host>& ctx, const std::vector<Point>& points);

  /// Writes to a temporary name next to `path`, then renames: a reader sees a whole file or none. `time` is kept in
  /// the file as ParaView's TimeValue. Throws InputError for a field whose length does not fit and for a file
  /// that cannot be written.
  void write(const std::string& path, const std::vector<VtuField>& fields) const;
  void write(const std::string& path, const std::vector<VtuField>& fields, double time) const;

 private:
  // One array of the file: what its element says of it, and its bytes, compressed.
  struct Packed {
    std::string attributes;
    std::string bytes;
  };
  using PackedFields = std::vector<Packed>;

  // Points and cells; cell c has the nodes connectivity[c * corners] and following.
  void pack_grid(const std::vector<Point>& points, const Index* connectivity, int corners, std::uint8_t vtk_type);
  Packed pack(const VtuField& field) const;
  void write_file(const std::string& path, const std::vector<VtuField>& fields, const std::string& time) const;

  Context<Space::host> ctx_;
  Index nodes_;
  Index tets_;
  PackedFields points_, cells_, node_fields_, tet_fields_;
};

/// One file at once; see VtuWriter.
void write_vtu(const Context<Space::host>& ctx, const std::string& path, const TetMesh& mesh,
               const std::vector<VtuField>& fields);

/// The list of a run's frames, which ParaView opens as one animation. Rewritten (temporary name, rename) after every
/// frame, so that a run that was killed leaves a list that is right.
class PvdSeries {
 public:
  /// A new, empty series; written with its first frame.
  explicit PvdSeries(std::string path);
  /// Continues with the series at `path`, which this class wrote: frames later than `time` are dropped. A file that
  /// is not there is an empty series. Throws InputError for one that is not such a list.
  static PvdSeries reopen(std::string path, double time);

  /// Adds a frame; `file` is relative to the folder of the .pvd. A frame of the same time is replaced. Throws
  /// InputError for a time before the last frame's and for a file that cannot be written.
  void append(double time, const std::string& file);

  /// Takes the frame `file` out of the list, and then away from the folder. Does nothing where it is not in the list.
  void remove(const std::string& file);

  struct Frame {
    double time;
    std::string file;
  };
  const std::vector<Frame>& frames() const { return frames_; }
  const std::string& path() const { return path_; }

 private:
  void write() const;

  std::string path_;
  std::vector<Frame> frames_;
};

}  // namespace newel::fem
