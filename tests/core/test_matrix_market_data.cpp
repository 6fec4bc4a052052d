// SPDX-License-Identifier: Apache-2.0
// Real matrices, where there are some: sizes and entries as the table beside them says.
#include "tests/core/matrix_market_support.hpp"

namespace {

struct TableRow {
  std::string file, values;
  std::int64_t rows, cols, entries;
};

// | file | kind | rows | cols | entries (expanded) | symmetry | values | positive definite |
std::vector<TableRow> read_table(const std::string& path) {
  std::ifstream stream(path);
  std::vector<TableRow> table;
  for (std::string line; std::getline(stream, line);) {
    if (!contains(line, ".mtx") || line[0] != '|') continue;
    std::istringstream cells(line.substr(1));
    std::vector<std::string> cell;
    for (std::string text; std::getline(cells, text, '|');) {
      const std::size_t begin = text.find_first_not_of(' ');
      cell.push_back(begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1));
    }
    if (cell.size() <= 6) continue;  // of another table
    table.push_back({cell[0], cell[6], std::stoll(cell[2]), std::stoll(cell[3]), std::stoll(cell[4])});
  }
  return table;
}

}  // namespace

TEST_CASE("real matrices are read as their table says", "[matrix_market][data]") {
  if (skipped_without_data()) return;
  const std::vector<TableRow> table = read_table(data_folder() + "/README.md");
  REQUIRE(!table.empty());
  const HostContext ctx(2);
  for (const TableRow& row : table) {
    INFO(row.file);
    const std::string path = data_folder() + "/matrices/" + row.file;
    if (row.values == "complex") {
      CHECK(contains(input_error([&] { read_matrix(ctx, path); }), "found 'complex'"));
      continue;
    }
    const auto a = read_matrix(ctx, path);
    CHECK(a.rows == row.rows);
    CHECK(a.cols == row.cols);
    CHECK(a.nnz() == row.entries);
    if (row.cols == 1) CHECK(read_vector(ctx, path).size() == row.rows);
  }
}
