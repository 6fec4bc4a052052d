// SPDX-License-Identifier: Apache-2.0
// Files of MATLAB, which are not read, and the line of Python that converts them.
#include <newel/core/error.hpp>
#include "io/file_parsers.hpp"
#include "core/text/starts_with.hpp"

namespace newel::detail {
namespace {

bool ends_with_mat(const std::string& name) {
  return name.size() > 4 &&
         (name.compare(name.size() - 4, 4, ".mat") == 0 || name.compare(name.size() - 4, 4, ".MAT") == 0);
}

// The name as it may stand in the quotes of the line; a placeholder for one that would break them.
std::string quotable(const std::string& name) {
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\'' || c == '"' || c == '\\' || c == '$' || c == '`' || c == '!')
      return "A.mat";
  }
  return ends_with_mat(name) ? name : "A.mat";
}

[[noreturn]] void refuse(const std::string& name, const char* version, const std::string& python) {
  const std::string from = quotable(name);
  const std::string to = from.substr(0, from.size() - 4) + ".mtx";
  std::string line;
  for (std::size_t at = 0; at < python.size(); ++at) {
    line += python[at] == '<' ? from : python[at] == '>' ? to : std::string(1, python[at]);
  }
  throw InputError(name + ": expected a Matrix Market, NumPy or PETSc file, found a MATLAB file (" + version +
                   "). To convert its first variable, or the matrix A of a struct, run:\n  python3 -c \"" + line +
                   "\"");
}

}  // namespace

void refuse_matlab(std::string_view head, const std::string& name) {
  // < and > stand for the two files. A struct with a field A is how the SuiteSparse collection has its matrices.
  const std::string scipy =
      "import scipy.io as io; v = [v for k, v in io.loadmat('<').items() if k[0] != '_'][0]; "
      "io.mmwrite('>', v['A'][0, 0] if v.dtype.names else v)";
  const std::string h5py =
      "import h5py, scipy.io as io, scipy.sparse as sp; f = h5py.File('<'); g = f[next(k for k in f if k[0] != "
      "'#')]; "
      "g = g['A'] if hasattr(g, 'keys') and 'A' in g else g; "
      "io.mmwrite('>', sp.csc_array((g['data'][()], g['ir'][()], g['jc'][()]), "
      "shape=(int(g.attrs['MATLAB_sparse']), len(g['jc']) - 1)) if hasattr(g, 'keys') else g[()].T)";
  const bool hdf5 = starts_with(head, "\x89HDF");
  if (starts_with(head, "MATLAB 7.3 MAT-file") || (hdf5 && ends_with_mat(name))) refuse(name, "version 7.3", h5py);
  if (starts_with(head, "MATLAB 5.0 MAT-file")) refuse(name, "version 5", scipy);
  // Version 4 begins with five integers and has no mark.
  if (ends_with_mat(name)) refuse(name, "version 4, by its name", scipy);
}

}  // namespace newel::detail
