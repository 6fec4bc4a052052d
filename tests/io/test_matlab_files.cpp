// SPDX-License-Identifier: Apache-2.0
// Files of MATLAB are answered with what converts them. python/tests/test_files.py runs the lines.
#include "tests/io/io_support.hpp"

namespace {

std::string answer(const std::string& bytes, const std::string& name) {
  return message_of<InputError>([&] { parse_matrix_file(HostContext(1), bytes, name); });
}

}  // namespace

TEST_CASE("a file of MATLAB is answered with the line that converts it", "[io][matlab]") {
  const std::string five = answer("MATLAB 5.0 MAT-file, Platform: GLNXA64", "dir/K.mat");
  CHECK(contains(five, "dir/K.mat: expected a Matrix Market, NumPy or PETSc file, found a MATLAB file (version 5)"));
  CHECK(contains(five, "python3 -c \"import scipy.io as io;"));
  CHECK(contains(five, "io.loadmat('dir/K.mat')"));
  CHECK(contains(five, "io.mmwrite('dir/K.mtx'"));
  const std::string seven = answer("MATLAB 7.3 MAT-file, Platform: GLNXA64", "K.mat");
  CHECK(contains(seven, "(version 7.3)"));
  CHECK(contains(seven, "h5py.File('K.mat')"));
  CHECK(contains(answer("\x89HDF\r\n", "K.mat"), "h5py.File('K.mat')"));
  CHECK(contains(answer(std::string("\0\0\0\0\3\0\0\0", 8), "K.mat"), "version 4"));
  CHECK(contains(answer("MATLAB 5.0 MAT-file", "/dev/stdin"), "io.loadmat('A.mat')"));
  CHECK(contains(answer("MATLAB 5.0 MAT-file", "it's $HOME.mat"), "io.loadmat('A.mat')"));
}

TEST_CASE("other files are named as the reader of Matrix Market names them", "[io][matlab]") {
  CHECK(contains(answer("\x89HDF\r\n", "K.h5"), "found an HDF5 file"));
  CHECK(contains(answer("PK\x03\x04 word/document.xml", "K.docx"), "found a zip archive"));
  CHECK(contains(answer("", "K"), "found an empty file"));
  CHECK(contains(answer("1 2 3\n", "K.dat"), "expected the banner %%MatrixMarket"));
}
