// SPDX-License-Identifier: Apache-2.0
/// One small mesh in every format that is read, written by the tests: six nodes of which one is unused, a triangle,
/// two tetrahedra, and vectors on both.
#pragma once

#include "tests/catch.hpp"

#include "apps/fem/mesh.hpp"

namespace newel::testing {

inline const std::vector<fem::Point> fixture_nodes{{0, 0, 0},   {1, 0, 0}, {9, 9, 9},
                                                   {0, 1.5, 0}, {0, 0, 2}, {1, 1, 1}};
/// 0-based in the list above; positive volumes.
inline const std::vector<fem::Tet> fixture_tets{{0, 1, 3, 4}, {1, 5, 3, 4}};
inline const std::vector<fem::Point> fixture_node_vectors{{1, 0, 0}, {2, 0, 0}, {3, 0, 0},
                                                          {4, 0, 0}, {5, 0, 0}, {6, 0.5, -1}};
inline const std::vector<fem::Point> fixture_tet_vectors{{0, 7, 0}, {0, 8, 0.25}};

/// Appends numbers to text: decimal words, or bytes in either order.
class NumberWriter {
 public:
  NumberWriter(bool binary, bool big_endian) : binary_(binary), swap_(big_endian) {}

  NumberWriter& text(const std::string& t) {
    out_ += t;
    return *this;
  }
  template <class T>
  NumberWriter& put(T value) {
    if (!binary_) {
      char word[40];
      std::snprintf(word, sizeof word, "%.17g ", static_cast<double>(value));
      out_ += word;
      return *this;
    }
    char bytes[sizeof(T)];
    std::memcpy(bytes, &value, sizeof(T));
    for (std::size_t k = 0; k < sizeof(T); ++k) out_ += bytes[swap_ ? sizeof(T) - 1 - k : k];
    return *this;
  }
  NumberWriter& put(const fem::Point& p) { return put(p[0]).put(p[1]).put(p[2]); }
  /// A line end where numbers are words.
  NumberWriter& line() {
    if (!binary_) out_ += '\n';
    return *this;
  }
  const std::string& str() const { return out_; }

 private:
  bool binary_, swap_;
  std::string out_;
};

/// Node i has the tag `node_tags[i]`; tetrahedra are elements 11 and 12.
struct GmshFixture {
  std::string version = "2.2";  // or 4.0, 4.1
  bool binary = false, big_endian = false,
       parametric = false;  // parametric: of version 2.2, the first node on a curve
  std::vector<int> node_tags{1, 2, 3, 4, 5, 6};
  std::vector<fem::Tet> tets = fixture_tets;
};

inline std::string gmsh_data(const GmshFixture& o, const char* section, const std::vector<int>& tags,
                             const std::vector<fem::Point>& values) {
  NumberWriter w(o.binary, o.big_endian);
  w.text(std::string("$") + section + "\n1\n\"fibre field\"\n1\n0.0\n3\n0\n3\n" + std::to_string(tags.size()) + "\n");
  for (std::size_t i = 0; i < tags.size(); ++i) w.put(std::int32_t{tags[i]}).put(values[i]).line();
  return w.text(std::string(o.binary ? "\n" : "") + "$End" + section + "\n").str();
}

inline std::string gmsh_text(const GmshFixture& o = {}) {
  NumberWriter w(o.binary, o.big_endian);
  w.text(std::string("$MeshFormat\n") + o.version + (o.binary ? " 1" : " 0") + " 8\n");
  if (o.binary) w.put(std::int32_t{1}).text("\n");
  w.text("$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"the body\"\n$EndPhysicalNames\n");
  const std::string nodes_name = o.parametric ? "ParametricNodes" : "Nodes";
  w.text("$" + nodes_name + "\n");
  const auto nodes = static_cast<std::uint64_t>(fixture_nodes.size());
  if (o.version == "2.2") {
    w.text(std::to_string(nodes) + "\n");
    for (std::size_t i = 0; i < nodes; ++i) {
      w.put(std::int32_t{o.node_tags[i]}).put(fixture_nodes[i]);
      if (o.parametric) w.put(std::int32_t{i == 0 ? 1 : 3}).put(std::int32_t{1});
      if (o.parametric && i == 0) w.put(0.5);
      w.line();
    }
  } else if (o.version == "4.0") {
    // The same two blocks as in 4.1: the entity before its dimension, each number before its node.
    w.put(std::uint64_t{2}).put(nodes).line();
    w.put(std::int32_t{7}).put(std::int32_t{1}).put(std::int32_t{1}).put(std::uint64_t{1}).line();
    w.put(std::int32_t{o.node_tags[0]}).put(fixture_nodes[0]).put(0.5).line();
    w.put(std::int32_t{7}).put(std::int32_t{3}).put(std::int32_t{0}).put(nodes - 1).line();
    for (std::size_t i = 1; i < nodes; ++i) w.put(std::int32_t{o.node_tags[i]}).put(fixture_nodes[i]).line();
  } else {
    // Two blocks: the first node alone, on a curve with its parameter; the others in a volume.
    w.put(std::uint64_t{2}).put(nodes).put(std::uint64_t{1}).put(std::uint64_t{99}).line();
    w.put(std::int32_t{1}).put(std::int32_t{1}).put(std::int32_t{1}).put(std::uint64_t{1}).line();
    w.put(static_cast<std::uint64_t>(o.node_tags[0])).line().put(fixture_nodes[0]).put(0.5).line();
    w.put(std::int32_t{3}).put(std::int32_t{1}).put(std::int32_t{0}).put(nodes - 1).line();
    for (std::size_t i = 1; i < nodes; ++i) w.put(static_cast<std::uint64_t>(o.node_tags[i])).line();
    for (std::size_t i = 1; i < nodes; ++i) w.put(fixture_nodes[i]).line();
  }
  w.text(std::string(o.binary ? "\n" : "") + "$End" + nodes_name + "\n$Elements\n");
  const auto tag_of = [&](int node) { return o.node_tags[node]; };
  if (o.version == "4.0") {
    w.put(std::uint64_t{2}).put(std::uint64_t{3}).line();
    w.put(std::int32_t{7}).put(std::int32_t{2}).put(std::int32_t{2}).put(std::uint64_t{1}).line();
    w.put(std::int32_t{10});
    for (const int corner : {0, 1, 3}) w.put(std::int32_t{tag_of(corner)});
    w.line().put(std::int32_t{7}).put(std::int32_t{3}).put(std::int32_t{4}).put(std::uint64_t{2}).line();
    for (int t = 0; t < 2; ++t) {
      w.put(std::int32_t{11 + t});
      for (const Index corner : o.tets[t]) w.put(std::int32_t{tag_of(corner)});
      w.line();
    }
  } else if (o.version == "2.2") {
    w.text("3\n");
    // Number, type, tags: in binary files the type comes once for a block.
    if (o.binary) w.put(std::int32_t{2}).put(std::int32_t{1}).put(std::int32_t{2});
    w.put(std::int32_t{10});
    if (!o.binary) w.text("2 2 ");
    w.put(std::int32_t{5}).put(std::int32_t{5});
    for (const int corner : {0, 1, 3}) w.put(std::int32_t{tag_of(corner)});
    w.line();
    if (o.binary) w.put(std::int32_t{4}).put(std::int32_t{2}).put(std::int32_t{2});
    for (int t = 0; t < 2; ++t) {
      w.put(std::int32_t{11 + t});
      if (!o.binary) w.text("4 2 ");
      w.put(std::int32_t{5}).put(std::int32_t{5});
      for (const Index corner : o.tets[t]) w.put(std::int32_t{tag_of(corner)});
      w.line();
    }
  } else {
    w.put(std::uint64_t{2}).put(std::uint64_t{3}).put(std::uint64_t{10}).put(std::uint64_t{12}).line();
    w.put(std::int32_t{2}).put(std::int32_t{1}).put(std::int32_t{2}).put(std::uint64_t{1}).line();
    w.put(std::uint64_t{10});
    for (const int corner : {0, 1, 3}) w.put(static_cast<std::uint64_t>(tag_of(corner)));
    w.line().put(std::int32_t{3}).put(std::int32_t{1}).put(std::int32_t{4}).put(std::uint64_t{2}).line();
    for (int t = 0; t < 2; ++t) {
      w.put(static_cast<std::uint64_t>(11 + t));
      for (const Index corner : o.tets[t]) w.put(static_cast<std::uint64_t>(tag_of(corner)));
      w.line();
    }
  }
  w.text(std::string(o.binary ? "\n" : "") + "$EndElements\n");
  return w.str() + gmsh_data(o, "NodeData", o.node_tags, fixture_node_vectors) +
         gmsh_data(o, "ElementData", {11, 12}, fixture_tet_vectors);
}

struct VtkFixture {
  bool version5 = false, binary = false;
};

inline std::string vtk_text(const VtkFixture& o = {}) {
  NumberWriter w(o.binary, true);
  w.text(std::string("# vtk DataFile Version ") + (o.version5 ? "5.1" : "3.0") + "\na title with DATASET\n" +
         (o.binary ? "BINARY" : "ASCII") + "\nDATASET UNSTRUCTURED_GRID\nFIELD FieldData 1\nTimeValue 1 1 double\n");
  w.put(0.5).text("\nPOINTS 6 float\n");
  for (const fem::Point& p : fixture_nodes) {
    for (const double x : p) w.put(static_cast<float>(x));
  }
  w.text(o.version5 ? "\nMETADATA\nINFORMATION 0\n\nCELLS 4 11\nOFFSETS vtktypeint64\n" : "\n\nCELLS 3 14\n");
  const std::vector<std::vector<int>> cells{{0, 1, 3}, {0, 1, 3, 4}, {1, 5, 3, 4}};
  if (o.version5) {
    for (const std::int64_t offset : {0, 3, 7, 11}) w.put(offset);
    w.text("\nCONNECTIVITY vtktypeint64\n");
  }
  for (const auto& cell : cells) {
    if (!o.version5) w.put(static_cast<std::int32_t>(cell.size()));
    for (const int corner : cell) o.version5 ? w.put(std::int64_t{corner}) : w.put(std::int32_t{corner});
    w.line();
  }
  w.text("\nCELL_TYPES 3\n").put(std::int32_t{5}).put(std::int32_t{10}).put(std::int32_t{10});
  w.text("\nCELL_DATA 3\nSCALARS part int 1\nLOOKUP_TABLE default\n");
  for (const std::int32_t part : {1, 2, 3}) w.put(part);
  w.text("\nVECTORS cell%20fibre double\n").put(0.0).put(0.0).put(0.0);
  for (const fem::Point& v : fixture_tet_vectors) w.put(v);
  w.text("\nPOINT_DATA 6\nNORMALS n float\n");
  for (int k = 0; k < 18; ++k) w.put(1.0f);
  w.text("\nFIELD FieldData 2\nu 1 6 double\n");
  for (int k = 0; k < 6; ++k) w.put(0.1 * k);
  w.text("\nfibre 3 6 double\n");
  for (const fem::Point& v : fixture_node_vectors) w.put(v);
  return w.text("\n").str();
}

/// A text with the first `what` replaced.
inline std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

/// What `read` says of a file of this text, behind the name of the file.
template <class Read>
std::string complaint_of(Read&& read, const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = folder.write("file.mesh", text), message = message_of<InputError>([&] { read(path); });
  if (message.empty()) return "accepted";
  REQUIRE(message.rfind(path + ":", 0) == 0);
  return message.substr(path.size() + 1);
}

inline std::string with_carriage_returns(const std::string& text) {
  std::string windows;
  for (const char c : text) windows += c == '\n' ? std::string("\r\n") : std::string(1, c);
  return windows;
}

}  // namespace newel::testing
