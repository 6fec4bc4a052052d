// SPDX-License-Identifier: Apache-2.0
// Any bytes at all through the readers of NumPy's, SciPy's and PETSc's files and of tables: they give a well-formed
// matrix, or an error that they mean to give.
#include <cstdint>
#include <string>
#include <string_view>

#include <newel/core/error.hpp>
#include "io/file_parsers.hpp"

#include "well_formed.hpp"

namespace {

using namespace newel;
using namespace newel::fuzz;

template <class Parse>
void check(Parse&& parse) {
  MatrixFile file;
  try {
    file = parse();
  } catch (const InputError&) {
    return;
  } catch (const OutOfMemory&) {
    return;
  }
  check_well_formed(file.a);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Context<Space::host> ctx(1);
  static const std::string name = "fuzz";
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // A few bytes may not ask for a million rows again and again.
  detail::FileLimits limits;
  limits.empty_rows = 5000;
  if (detail::begins_as_npy(bytes)) {
    check([&] { return detail::full_npy(ctx, detail::parse_npy(bytes, name), detail::ValueKinds::complex_too); });
  } else if (detail::begins_as_petsc(bytes)) {
    check([&] { return detail::parse_petsc(ctx, bytes, name, detail::Wanted::matrix, limits); });
  } else if (bytes.substr(0, 2) == "PK") {
    check([&] { return detail::parse_npz(ctx, bytes, name, detail::ValueKinds::complex_too, limits); });
  } else {
    check([&] { return detail::parse_table(ctx, bytes, name); });
  }
  return 0;
}
