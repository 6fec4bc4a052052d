// SPDX-License-Identifier: Apache-2.0
// Results for ParaView, taken apart again by a reader of the tests' own.
#include "tests/catch.hpp"

#include <zlib.h>

#include "apps/fem/vtu.hpp"

using namespace newel::fem;

namespace {

using Frames = std::vector<std::pair<double, std::string>>;

std::uint64_t word_at(const std::string& bytes, std::size_t at) {
  std::uint64_t word = 0;
  REQUIRE(at + sizeof word <= bytes.size());
  std::memcpy(&word, bytes.data() + at, sizeof word);
  return word;
}

// The array whose element holds `attributes`, as VTK's file format describes appended, compressed data.
template <class T>
std::vector<T> read_array(const std::string& file, const std::string& attributes) {
  const std::size_t element = file.find("<DataArray " + attributes);
  INFO(attributes);
  REQUIRE(element != std::string::npos);
  const std::string mark = " offset=\"";
  const std::size_t offset = std::stoull(file.substr(file.find(mark, element) + mark.size()));
  const std::string start = "<AppendedData encoding=\"raw\">\n_";
  const std::size_t header = file.find(start) + start.size() + offset;
  const std::uint64_t blocks = word_at(file, header);
  const std::uint64_t block = word_at(file, header + 8);
  const std::uint64_t last = word_at(file, header + 16);
  std::size_t at = header + 24 + 8 * blocks;
  std::string all;
  for (std::uint64_t b = 0; b < blocks; ++b) {
    const std::uint64_t packed = word_at(file, header + 24 + 8 * b);
    std::string piece(b + 1 == blocks && last != 0 ? last : block, '\0');
    uLongf size = piece.size();
    REQUIRE(uncompress(reinterpret_cast<Bytef*>(piece.data()), &size,
                       reinterpret_cast<const Bytef*>(file.data() + at), packed) == Z_OK);
    REQUIRE(size == piece.size());
    all += piece;
    at += packed;
  }
  std::vector<T> values(all.size() / sizeof(T));
  std::memcpy(values.data(), all.data(), all.size());
  return values;
}

Frames frames_of(const PvdSeries& series) {
  Frames frames;
  for (const auto& frame : series.frames()) frames.emplace_back(frame.time, frame.file);
  return frames;
}

}  // namespace

TEST_ON_HOST("a .vtu file holds mesh and fields exactly", "[fem][vtu]") {
  const TemporaryFolder folder;
  const TetMesh mesh = make_cube(ctx, 30);  // several blocks
  std::vector<double> voltage;
  std::vector<float> narrow;
  for (const Point& p : mesh.nodes) voltage.push_back(p[0] / 3 + p[1]);
  for (const double v : voltage) narrow.push_back(static_cast<float>(v));
  std::vector<Index> part;
  std::vector<Point> fiber;
  for (Index t = 0; t < mesh.tet_count(); ++t) {
    part.push_back(t % 5);
    fiber.push_back({1.0 * t, 0, -1});
  }
  const VtuWriter writer(ctx, mesh, {tet_field("fiber", fiber), tet_field("part", part)});
  writer.write(folder.file("a.vtu"), {node_field("a < \"b\" & c", voltage), node_field("narrow", narrow)}, 0.1);
  const std::string file = file_content(folder.file("a.vtu"));

  REQUIRE(contains(file, "<Piece NumberOfPoints=\"27000\" NumberOfCells=\"146334\">"));
  REQUIRE(contains(file, "Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">0.1<"));
  REQUIRE(read_array<double>(file, "type=\"Float64\" Name=\"a &lt; &quot;b&quot; &amp; c\"") == voltage);
  REQUIRE(read_array<float>(file, "type=\"Float32\" Name=\"narrow\"") == narrow);
  REQUIRE(read_array<Index>(file, "type=\"Int32\" Name=\"part\"") == part);
  REQUIRE(read_array<Point>(file, "type=\"Float64\" Name=\"fiber\" NumberOfComponents=\"3\"") == fiber);
  REQUIRE(read_array<Point>(file, "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"") == mesh.nodes);
  REQUIRE(read_array<Tet>(file, "type=\"Int32\" Name=\"connectivity\"") == mesh.tets);
  const auto ends = read_array<std::int64_t>(file, "type=\"Int64\" Name=\"offsets\"");
  REQUIRE(ends.size() == mesh.tets.size());
  REQUIRE(ends.back() == 4 * static_cast<std::int64_t>(mesh.tets.size()));
  const auto types = read_array<std::uint8_t>(file, "type=\"UInt8\" Name=\"types\"");
  REQUIRE(types == std::vector<std::uint8_t>(mesh.tets.size(), 10));
}

TEST_IN_FOLDER("a .vtu file has the same bytes for any number of threads, and leaves no other file", "[fem][vtu]") {
  const TetMesh mesh = make_cube(Context<Space::host>(1), 30);
  write_vtu(Context<Space::host>(1), folder.file("one.vtu"), mesh, {node_field("x", mesh.nodes)});
  write_vtu(Context<Space::host>(3), folder.file("three.vtu"), mesh, {node_field("x", mesh.nodes)});
  REQUIRE(file_content(folder.file("one.vtu")) == file_content(folder.file("three.vtu")));
  const std::filesystem::directory_iterator files(folder.path()), none;
  REQUIRE(std::distance(files, none) == 2);
}

TEST_ON_HOST("a field of the wrong length and a place that cannot be written are refused", "[fem][vtu]") {
  const TemporaryFolder folder;
  const TetMesh mesh = make_cube(ctx, 3);
  const std::vector<double> few(26);
  REQUIRE_THROWS_AS(write_vtu(ctx, folder.file("a.vtu"), mesh, {node_field("u", few)}), InputError);
  REQUIRE_THROWS_AS(VtuWriter(ctx, mesh, {tet_field("u", few)}), InputError);
  REQUIRE_THROWS_AS(write_vtu(ctx, folder.file("no/such/a.vtu"), mesh, {}), InputError);
  REQUIRE_FALSE(std::filesystem::exists(folder.file("a.vtu")));
}

TEST_IN_FOLDER("a series is a list of frames after each of them", "[fem][vtu]") {
  PvdSeries series(folder.file("run.pvd"));
  series.append(0, "run_0.vtu");
  series.append(0.1, "run & \"1\".vtu");
  REQUIRE(file_content(series.path()) ==
          "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n<Collection>\n"
          "<DataSet timestep=\"0\" part=\"0\" file=\"run_0.vtu\"/>\n"
          "<DataSet timestep=\"0.1\" part=\"0\" file=\"run &amp; &quot;1&quot;.vtu\"/>\n"
          "</Collection>\n</VTKFile>\n");
  series.append(0.1, "again.vtu");
  REQUIRE(frames_of(series) == Frames{{0, "run_0.vtu"}, {0.1, "again.vtu"}});
  REQUIRE_THROWS_AS(series.append(0.05, "back.vtu"), InputError);
}

TEST_IN_FOLDER("a series that is reopened drops what lies after the resumed time", "[fem][vtu]") {
  const std::string path = folder.file("run.pvd");
  REQUIRE(PvdSeries::reopen(path, 1).frames().empty());
  PvdSeries series(path);
  for (int k = 0; k < 5; ++k) series.append(k * 0.1, "f<" + std::to_string(k) + ">.vtu");
  PvdSeries resumed = PvdSeries::reopen(path, 2 * 0.1);
  REQUIRE(frames_of(resumed) == Frames{{0, "f<0>.vtu"}, {0.1, "f<1>.vtu"}, {0.2, "f<2>.vtu"}});
  resumed.append(0.5, "g.vtu");
  REQUIRE(frames_of(PvdSeries::reopen(path, 9)) ==
          Frames{{0, "f<0>.vtu"}, {0.1, "f<1>.vtu"}, {0.2, "f<2>.vtu"}, {0.5, "g.vtu"}});
}

TEST_IN_FOLDER("what is no series is refused", "[fem][vtu]") {
  REQUIRE_THROWS_AS(PvdSeries::reopen(folder.write("a.pvd", "hello\n"), 1), InputError);
  REQUIRE_THROWS_AS(PvdSeries::reopen(folder.write("b.pvd", "type=\"Collection\"\n<DataSet file=\"x\"/>\n"), 1),
                    InputError);
  REQUIRE_THROWS_AS(
      PvdSeries::reopen(folder.write("c.pvd", "type=\"Collection\"\n<DataSet timestep=\"1x\" file=\"x\"/>\n"), 1),
      InputError);
}
