// SPDX-License-Identifier: Apache-2.0
// Complex Matrix Market files against the values in words of this test.
#include "tests/io/io_support.hpp"

#include "io/matrix_market/matrix_market_read.hpp"

namespace {

using Complex = std::complex<double>;
using Dense = std::map<std::pair<Index, Index>, Complex>;

std::string file(const std::string& name) { return std::string(NEWEL_IO_FILES) + "/" + name; }

Dense dense_of(const MatrixFile& read) {
  const HostContext ctx;
  MatrixFile copy;
  copy.a = make_csr(ctx, CsrView<double, Space::host>(read.a));
  copy.imaginary = make_array(ctx, read.imaginary.cspan());
  const Csr<Complex, Space::host> a = complex_matrix(ctx, std::move(copy));
  Dense dense;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset k = a.row_ptr[i]; k < a.row_ptr[i + 1]; ++k) dense[{i, a.col[k]}] = a.val[k];
  }
  return dense;
}

MatrixFile parsed(const std::string& text) { return parse_complex_matrix_file(HostContext(2), text, "t.mtx"); }

std::string banner(const std::string& layout, const std::string& symmetry) {
  return "%%MatrixMarket matrix " + layout + " complex " + symmetry + "\n% a comment\n";
}

std::string complaint(const std::string& text) {
  try {
    parsed(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("complex entries are read in every symmetry", "[io][complex]") {
  const Complex a(1, -2), b(0.5, 3);
  const std::string entries = "2 2 2\n2 1 1 -2\n2 2 5.e-1 +3D0\n";
  CHECK(dense_of(parsed(banner("coordinate", "general") + entries)) == Dense{{{1, 0}, a}, {{1, 1}, b}});
  CHECK(dense_of(parsed(banner("coordinate", "symmetric") + entries)) ==
        Dense{{{0, 1}, a}, {{1, 0}, a}, {{1, 1}, b}});
  CHECK(dense_of(parsed(banner("coordinate", "skew-symmetric") + "2 2 1\n2 1 1 -2\n")) ==
        Dense{{{0, 1}, -a}, {{1, 0}, a}});
  CHECK(dense_of(parsed(banner("coordinate", "Hermitian") + "2 2 2\n2 1 1 -2\n1 1 4 0\n")) ==
        Dense{{{0, 0}, 4.0}, {{0, 1}, std::conj(a)}, {{1, 0}, a}});
  // Above the diagonal, with a repeated entry.
  CHECK(dense_of(parsed(banner("coordinate", "hermitian") + "2 2 2\n1 2 1 -2\n1 2 1 1\n")) ==
        Dense{{{0, 1}, Complex(2, -1)}, {{1, 0}, Complex(2, 1)}});
}

TEST_CASE("complex arrays are read in every symmetry", "[io][complex]") {
  const Complex p(1, 1), q(2, -1), r(3, 0.5), s(4, 0);
  CHECK(dense_of(parsed(banner("array", "general") + "2 2\n1 1\n2 -1\n3 .5\n4 0\n")) ==
        Dense{{{0, 0}, p}, {{1, 0}, q}, {{0, 1}, r}, {{1, 1}, s}});
  CHECK(dense_of(parsed(banner("array", "symmetric") + "2 2\n1 1\n2 -1\n4 0\n")) ==
        Dense{{{0, 0}, p}, {{1, 0}, q}, {{0, 1}, q}, {{1, 1}, s}});
  CHECK(dense_of(parsed(banner("array", "skew-symmetric") + "2 2\n2 -1\n")) == Dense{{{1, 0}, q}, {{0, 1}, -q}});
  const MatrixFile hermitian = parsed(banner("array", "hermitian") + "2 2\n7 0\n2 -1\n4 0\n");
  CHECK(dense_of(hermitian) == Dense{{{0, 0}, 7.0}, {{1, 0}, q}, {{0, 1}, std::conj(q)}, {{1, 1}, s}});
  CHECK(hermitian.full);
  CHECK(hermitian.header->field == MatrixMarketHeader::Field::complex);
  CHECK(hermitian.header->symmetry == MatrixMarketHeader::Symmetry::hermitian);
}

TEST_CASE("a complex file that is not well formed is refused with its line", "[io][complex]") {
  CHECK(contains(complaint(banner("coordinate", "general") + "1 1 1\n1 1 1\n"), "t.mtx:4: expected a number"));
  CHECK(contains(complaint(banner("coordinate", "general") + "1 1 1\n1 1 1 2 3\n"), "t.mtx:4: expected the end of"));
  CHECK(contains(complaint(banner("coordinate", "general") + "1 1 1\n1 1 1 nan\n"), "t.mtx:4: expected a number"));
  CHECK(contains(complaint(banner("coordinate", "hermitian") + "1 1 1\n1 1 1 2\n"), "only real values on the diag"));
  CHECK(contains(complaint(banner("array", "hermitian") + "1 1\n1 2\n"), "only real values on the diagonal"));
  CHECK(contains(complaint(banner("coordinate", "skew-symmetric") + "1 1 1\n1 1 0 2\n"), "only zeros on the diag"));
  CHECK(contains(complaint(banner("coordinate", "hermitian") + "2 2 2\n1 2 1 2\n2 1 1 -2\n"), "one triangle only"));
  CHECK(
      contains(complaint("%%MatrixMarket matrix coordinate real hermitian\n1 1 1\n1 1 1\n"), "complex values in a"));
  CHECK_THROWS_AS(parse_matrix_file(HostContext(2), banner("coordinate", "general") + "1 1 1\n1 1 1 2\n", "t.mtx"),
                  InputError);
}

TEST_CASE("a real file has no imaginary parts, and stands for a complex matrix", "[io][complex]") {
  const MatrixFile file = parsed("%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 3\n");
  CHECK(file.imaginary.empty());
  CHECK(dense_of(file) == Dense{{{0, 1}, 3.0}, {{1, 0}, 3.0}});
}

TEST_CASE("many pieces of a complex file give the matrix of one", "[io][complex]") {
  std::string text = banner("coordinate", "general") + "40 40 400\n";
  for (int k = 0; k < 400; ++k) {
    text += std::to_string(1 + k * 7 % 40) + ' ' + std::to_string(1 + k * 11 % 37) + ' ' + std::to_string(k) +
            ".5 -" + std::to_string(k) + ".25\n";
  }
  const std::string name = "t.mtx";
  detail::ReadLimits small;
  small.piece_bytes = 50;
  const HostContext ctx(3);
  CHECK(dense_of(detail::parse_plain_file(ctx, {text, name}, detail::ValueKinds::complex_too, small)) ==
        dense_of(parsed(text)));
}

TEST_IN_FOLDER("complex vectors and matrices are read back with the same bits", "[io][complex]") {
  const HostContext ctx;
  const std::vector<Complex> x = {{1.0 / 3, -2.0 / 7}, {0, 1e-300}, {-4, 0}, {1e300, 5e-324}};
  for (const char* name : {"x.mtx", "x.mtx.gz"}) {
    write_columns<Complex>(folder.file(name), {x.data(), 4}, 2);
    const DenseColumns columns = read_complex_columns_file(ctx, folder.file(name));
    CHECK(columns.rows == 2);
    CHECK(columns.cols == 2);
    const Array<Complex, Space::host> back = complex_columns(ctx, columns);
    CHECK(std::vector<Complex>(back.begin(), back.end()) == x);
    CHECK_THROWS_AS(read_columns_file(ctx, folder.file(name)), InputError);
  }
  write_vector<Complex>(folder.file("v.mtx"), {x.data(), 4});
  const Array<Complex, Space::host> vector =
      complex_columns(ctx, read_complex_columns_file(ctx, folder.file("v.mtx")));
  CHECK(std::vector<Complex>(vector.begin(), vector.end()) == x);

  const std::vector<Offset> row_ptr = {0, 1, 2};
  const std::vector<Index> col = {1, 0};
  write_matrix<Complex>(folder.file("A.mtx"),
                        CsrView<Complex, Space::host>(2, 2, Span<const Offset, Space::host>(row_ptr), col,
                                                      Span<const Complex, Space::host>(x.data(), 2)));
  CHECK(dense_of(read_complex_matrix_file(ctx, folder.file("A.mtx"))) == Dense{{{0, 1}, x[0]}, {{1, 0}, x[1]}});
  const std::vector<std::complex<float>> narrow = {{0.1f, -0.3f}};
  write_vector<std::complex<float>>(folder.file("f.mtx"), narrow);
  const DenseColumns floats = read_complex_columns_file(ctx, folder.file("f.mtx"));
  CHECK(static_cast<float>(floats.values[0]) == 0.1f);
  CHECK(static_cast<float>(floats.imaginary[0]) == -0.3f);
}

TEST_CASE("a coordinate file of a complex vector leaves the others zero", "[io][complex]") {
  const DenseColumns x = parse_complex_columns_file(
      HostContext(), banner("coordinate", "general") + "1 3 2\n1 3 1 2\n1 3 1 1\n", "t.mtx");
  CHECK(x.from_row);
  CHECK(values_of(x.values) == std::vector<double>{0, 0, 2});
  CHECK(values_of(x.imaginary) == std::vector<double>{0, 0, 3});
}

TEST_CASE("complex matrices of SciPy are read in every format", "[io][complex]") {
  const HostContext ctx(2);
  const Dense expected{{{0, 0}, Complex(0, 1)},   {{0, 2}, Complex(4, -4)},  {{1, 1}, 3.0},
                       {{2, 4}, Complex(8, -12)}, {{3, 0}, Complex(5, 2.5)}, {{3, 5}, Complex(-7, -14)}};
  for (const char* name : {"complex_coo.npz", "complex_csr.npz", "complex_csc.npz", "complex_dia.npz",
                           "complex_bsr.npz", "complex64_csr.npz"}) {
    INFO(name);
    Dense found = dense_of(read_complex_matrix_file(ctx, file(name)));
    for (auto entry = found.begin(); entry != found.end();) {  // zeros that fill blocks up
      entry = entry->second == 0.0 ? found.erase(entry) : std::next(entry);
    }
    CHECK(found == expected);
    CHECK(contains(message_of<InputError>([&] { read_matrix_file(ctx, file(name)); }), "found complex ones"));
  }
  CHECK(read_complex_matrix_file(ctx, file("csr.npz")).imaginary.empty());
}

TEST_CASE("complex arrays of NumPy are read, and written as NumPy reads them", "[io][complex]") {
  const HostContext ctx(1);
  const DenseColumns found = read_complex_columns_file(ctx, file("complex_by_columns.npy"));
  CHECK(found.rows == 3);
  CHECK(found.cols == 2);
  CHECK(values_of(found.values) == std::vector<double>{-1.5, 0.5, 2.5, -0.5, 1.5, 3.5});
  CHECK(values_of(found.imaginary) == std::vector<double>{2.5, 0.5, -1.5, 3.5, 1.5, -0.5});
  const auto& bad = file("complex_nan.npy");
  CHECK(message_of<InputError>([&] { read_complex_columns_file(ctx, bad); }) ==
        bad + ": value 2: expected a finite number, found nan");

  const TemporaryFolder folder;
  const auto z = complex_columns(ctx, found);
  const std::string written = folder.file("written.npy");
  write_complex_columns_file<double>(written, z.cspan(), found.cols);
  CHECK(file_content(written) == file_content(file("complex_by_columns.npy")));
  CHECK(contains(message_of<InputError>([&] { write_complex_columns_file<double>("x.csv", z.cspan(), 2); }),
                 "ends in .mtx or .npy"));
}
