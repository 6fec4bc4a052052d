// SPDX-License-Identifier: Apache-2.0
// The XML around raw binary arrays, compressed block by block as VTK's own zlib compressor does.
#include "apps/fem/vtu.hpp"

#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <type_traits>

#include <newel/core/error.hpp>
#include <newel/core/file_writer.hpp>
#include <newel/core/parallel.hpp>

#include "apps/fem/xml_text.hpp"

namespace newel::fem {
namespace {

// Small enough to share among threads, large enough for a good match table.
constexpr std::size_t block_bytes = std::size_t{1} << 18;
// The numbers of a wave hardly compress: higher levels cost much time for little.
constexpr int level = 1;

void append_word(std::string& bytes, std::uint64_t word) {
  bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
}

// Number of blocks, size of each, size of the last where it is shorter, compressed sizes; then the blocks.
std::string compress(const Context<Space::host>& ctx, const void* data, std::size_t size) {
  const std::size_t blocks = (size + block_bytes - 1) / block_bytes;
  std::vector<std::string> packed(blocks);
  std::atomic<bool> failed{false};
  parallel_tasks(ctx, blocks, [&](std::size_t b) {
    const std::size_t length = std::min(block_bytes, size - b * block_bytes);
    uLongf room = compressBound(static_cast<uLong>(length));
    packed[b].resize(room);
    const auto* from = static_cast<const Bytef*>(data) + b * block_bytes;
    auto* to = reinterpret_cast<Bytef*>(packed[b].data());
    if (compress2(to, &room, from, static_cast<uLong>(length), level) != Z_OK) failed = true;
    packed[b].resize(room);
  });
  if (failed) throw Error("zlib could not compress a block of a .vtu file");
  std::string bytes;
  append_word(bytes, blocks);
  append_word(bytes, block_bytes);
  append_word(bytes, size % block_bytes);
  for (const std::string& block : packed) append_word(bytes, block.size());
  for (const std::string& block : packed) bytes += block;
  return bytes;
}

template <class T>
const char* vtk_type() {
  if (std::is_same_v<T, double>) return "Float64";
  if (std::is_same_v<T, float>) return "Float32";
  if (std::is_same_v<T, std::int64_t>) return "Int64";
  if (std::is_same_v<T, std::uint8_t>) return "UInt8";
  static_assert(sizeof(T) <= 8);
  return "Int32";
}

std::string attributes(const char* type, const std::string& name, int components) {
  std::string text = std::string("type=\"") + type + "\" Name=\"" + detail::xml_escaped(name) + '"';
  if (components > 1) text += " NumberOfComponents=\"" + std::to_string(components) + '"';
  return text;
}

VtuField::Values flat(const std::vector<Point>& vectors) {
  static_assert(sizeof(Point) == 3 * sizeof(double));
  const double* first = vectors.empty() ? nullptr : vectors.front().data();
  return Span<const double, Space::host>(first, 3 * static_cast<std::int64_t>(vectors.size()));
}

// Little or big: how the machine writes its own words.
const char* byte_order() {
  const std::uint16_t probe = 1;
  return *reinterpret_cast<const unsigned char*>(&probe) == 1 ? "LittleEndian" : "BigEndian";
}

}  // namespace

VtuField node_field(std::string name, VtuField::Values values) {
  return {std::move(name), VtuField::On::nodes, 1, values};
}

VtuField tet_field(std::string name, VtuField::Values values) {
  return {std::move(name), VtuField::On::tets, 1, values};
}

VtuField node_field(std::string name, const std::vector<Point>& vectors) {
  return {std::move(name), VtuField::On::nodes, 3, flat(vectors)};
}

VtuField tet_field(std::string name, const std::vector<Point>& vectors) {
  return {std::move(name), VtuField::On::tets, 3, flat(vectors)};
}

VtuWriter::VtuWriter(const Context<Space::host>& ctx, const TetMesh& mesh,
                     const std::vector<VtuField>& constant_fields)
    : ctx_(ctx), nodes_(mesh.node_count()), tets_(mesh.tet_count()) {
  constexpr std::uint8_t vtk_tetra = 10;
  pack_grid(mesh.nodes, mesh.tets.empty() ? nullptr : mesh.tets.front().data(), 4, vtk_tetra);
  for (const VtuField& field : constant_fields) {
    (field.on == VtuField::On::nodes ? node_fields_ : tet_fields_).push_back(pack(field));
  }
}

VtuWriter::VtuWriter(const Context<Space::host>& ctx, const std::vector<Point>& points)
    : ctx_(ctx), nodes_(static_cast<Index>(points.size())), tets_(nodes_) {
  std::vector<Index> each(points.size());
  std::iota(each.begin(), each.end(), 0);
  constexpr std::uint8_t vtk_vertex = 1;
  pack_grid(points, each.data(), 1, vtk_vertex);
}

void VtuWriter::pack_grid(const std::vector<Point>& points, const Index* connectivity, int corners,
                          std::uint8_t vtk_type_number) {
  const auto cells = static_cast<std::size_t>(tets_);
  const auto pack_array = [&](const auto* values, std::size_t count, const char* name) {
    using T = std::decay_t<decltype(*values)>;
    cells_.push_back({attributes(vtk_type<T>(), name, 1), compress(ctx_, values, count * sizeof(T))});
  };
  points_.push_back(
      {attributes("Float64", "Points", 3), compress(ctx_, points.data(), points.size() * sizeof(Point))});
  pack_array(connectivity, cells * static_cast<std::size_t>(corners), "connectivity");
  std::vector<std::int64_t> ends(cells);
  for (std::size_t c = 0; c < cells; ++c) ends[c] = corners * (static_cast<std::int64_t>(c) + 1);
  pack_array(ends.data(), cells, "offsets");
  const std::vector<std::uint8_t> types(cells, vtk_type_number);
  pack_array(types.data(), cells, "types");
}

VtuWriter::Packed VtuWriter::pack(const VtuField& field) const {
  return std::visit(
      [&](const auto& values) {
        using T = std::remove_const_t<std::remove_pointer_t<decltype(values.data)>>;
        const bool on_nodes = field.on == VtuField::On::nodes;
        const std::int64_t expected = std::int64_t{field.components} * (on_nodes ? nodes_ : tets_);
        if (field.components < 1 || values.size != expected) {
          throw InputError("the field '" + field.name + "' has " + std::to_string(values.size) +
                           " numbers, expected " + std::to_string(field.components) + " for each of " +
                           std::to_string(on_nodes ? nodes_ : tets_) + (on_nodes ? " nodes" : " tetrahedra"));
        }
        return Packed{attributes(vtk_type<T>(), field.name, field.components),
                      compress(ctx_, values.data, static_cast<std::size_t>(values.size) * sizeof(T))};
      },
      field.values);
}

void VtuWriter::write(const std::string& path, const std::vector<VtuField>& fields) const {
  write_file(path, fields, "");
}

void VtuWriter::write(const std::string& path, const std::vector<VtuField>& fields, double time) const {
  write_file(path, fields, detail::exact_text(time));
}

void VtuWriter::write_file(const std::string& path, const std::vector<VtuField>& fields,
                           const std::string& time) const {
  PackedFields node_fields, tet_fields;
  for (const VtuField& field : fields) {
    (field.on == VtuField::On::nodes ? node_fields : tet_fields).push_back(pack(field));
  }
  std::string xml = "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"" +
                    std::string(byte_order()) +
                    "\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\">\n<UnstructuredGrid>\n";
  if (!time.empty()) {
    xml += "<FieldData>\n<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">" +
           time + "</DataArray>\n</FieldData>\n";
  }
  xml +=
      "<Piece NumberOfPoints=\"" + std::to_string(nodes_) + "\" NumberOfCells=\"" + std::to_string(tets_) + "\">\n";
  std::vector<const Packed*> appended;
  std::size_t offset = 0;
  const auto declare = [&](const PackedFields& arrays) {
    for (const Packed& array : arrays) {
      xml += "<DataArray " + array.attributes + " format=\"appended\" offset=\"" + std::to_string(offset) + "\"/>\n";
      offset += array.bytes.size();
      appended.push_back(&array);
    }
  };
  const auto section = [&](const std::string& name, const PackedFields& first, const PackedFields& second) {
    xml += '<' + name + ">\n";
    declare(first);
    declare(second);
    xml += "</" + name + ">\n";
  };
  section("PointData", node_fields_, node_fields);
  section("CellData", tet_fields_, tet_fields);
  section("Points", points_, {});
  section("Cells", cells_, {});
  xml += "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_";

  FileWriter file(path);
  file.write(xml);
  for (const Packed* array : appended) file.write(array->bytes);
  file.write("\n</AppendedData>\n</VTKFile>\n");
  file.commit();
}

void write_vtu(const Context<Space::host>& ctx, const std::string& path, const TetMesh& mesh,
               const std::vector<VtuField>& fields) {
  VtuWriter(ctx, mesh).write(path, fields);
}

}  // namespace newel::fem
