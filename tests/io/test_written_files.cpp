// SPDX-License-Identifier: Apache-2.0
// Files that are written, against bytes that this test puts together, and read back.
#include "tests/io/io_support.hpp"

namespace {

const std::vector<double> values{1.5, -2, 0.1, 4, 1e-300, 6};

template <class T>
std::string written(const TemporaryFolder& folder, const std::string& name, Index cols) {
  const std::vector<T> x(values.begin(), values.end());
  write_columns_file<T>(folder.file(name), {x.data(), static_cast<std::int64_t>(x.size())}, cols);
  return file_content(folder.file(name));
}

// A .npy file of little-endian numbers as NumPy's own documentation describes it.
template <class T>
std::string npy(const std::string& dictionary) {
  std::string text = dictionary;
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string bytes = "\x93NUMPY";
  bytes += std::string("\1\0", 2);
  bytes += static_cast<char>(text.size() % 256);
  bytes += static_cast<char>(text.size() / 256);
  bytes += text;
  for (const double value : values) {
    const auto number = static_cast<T>(value);
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  return bytes;
}

}  // namespace

TEST_IN_FOLDER("vectors are written in the format of the suffix", "[io][write]") {
  CHECK(written<double>(folder, "x.mtx", 1).find("%%MatrixMarket matrix array real general\n6 1\n1.5\n") == 0);
  CHECK(written<double>(folder, "x.npy", 1) ==
        npy<double>("{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }"));
  CHECK(written<float>(folder, "x.NPY", 1) ==
        npy<float>("{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }"));
  CHECK(written<double>(folder, "X.npy", 2) ==
        npy<double>("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }"));
  CHECK(written<double>(folder, "x.csv", 1) == "1.5\n-2\n0.1\n4\n1e-300\n6\n");
  CHECK(written<double>(folder, "X.csv", 2) == "1.5,4\n-2,1e-300\n0.1,6\n");
  CHECK(written<double>(folder, "x.petsc", 1) ==
        BigEndian().put_all<std::int32_t>({1211214, 6}).put_all(values).bytes());
  CHECK(written<double>(folder, "X.petsc", 2) ==
        BigEndian().put_all<std::int32_t>({1211216, 3, 2, -1}).put_all<double>({1.5, 4, -2, 1e-300, 0.1, 6}).bytes());
}

TEST_IN_FOLDER("vectors that were written are read back to the same bits, packed or not", "[io][write]") {
  for (const char* suffix : {".mtx", ".npy", ".csv", ".petsc", ".bin", ".mm"}) {
    for (const char* packed : {"", ".gz"}) {
      for (const Index cols : {1, 2, 3}) {
        const std::string name = std::string("x") + suffix + packed;
        INFO(name << " " << cols);
        written<double>(folder, name, cols);
        const DenseColumns found = read_columns_file(HostContext(1), folder.file(name));
        CHECK(found.cols == cols);
        CHECK(values_of(found.values) == values);
      }
    }
  }
  CHECK(file_content(folder.file("x.npy.gz")).substr(0, 2) == "\x1f\x8b");
}

TEST_IN_FOLDER("matrices that were written are read back to the same bits", "[io][write]") {
  const HostContext ctx(1);
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\n3 4 4\n1 1 0.1\n1 4 -2\n3 2 1e300\n3 3 0\n";
  const MatrixFile a = parse_matrix_file(ctx, text, "a.mtx");
  for (const char* name : {"a.mtx", "a.npz", "a.petsc", "a.npz.gz", "a.petsc.gz", "a.bin"}) {
    INFO(name);
    write_matrix_file<double>(folder.file(name), a.a);
    const MatrixFile found = read_matrix_file(ctx, folder.file(name));
    CHECK(found.a.rows == 3);
    CHECK(found.a.cols == 4);
    CHECK(entries_of(found.a) == entries_of(a.a));
  }
}

TEST_IN_FOLDER("suffixes that name no format are refused before a file is made", "[io][write]") {
  const MatrixFile a = parse_matrix_file(HostContext(1), "%%MatrixMarket matrix array real general\n1 1\n1\n", "a");
  for (const char* name : {"x", "x.vtk", "x.npz", "x.mat", "x.gz", "folder.npy/x", ".npy/x"}) {
    INFO(name);
    CHECK(contains(message_of<InputError>([&] { written<double>(folder, name, 1); }),
                   "that ends in .mtx, .npy, .csv or .petsc"));
  }
  for (const char* name : {"a", "a.npy", "a.csv", "a.mat"}) {
    INFO(name);
    CHECK(contains(message_of<InputError>([&] { write_matrix_file<double>(folder.file(name), a.a); }),
                   "that ends in .mtx, .npz or .petsc"));
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}
