// SPDX-License-Identifier: Apache-2.0
// Where cuSPARSE is found: as the system finds libraries, then in the toolkit that the library was built with.
#include "core/memory/cusparse_device.hpp"

#include <string>

#include "core/memory/dynamic_library.hpp"

namespace newel::detail {
namespace {

Cusparse load_cusparse() {
  const std::string name = NEWEL_CUSPARSE_NAME, folder = NEWEL_CUSPARSE_FOLDER;
  const DynamicLibrary library("cuSPARSE, which csr:alg1 and csr:alg2 call,", {name, folder + '/' + name});
  Cusparse functions;
#define X(name) library.find(#name, functions.name);
  NEWEL_CUSPARSE_FUNCTIONS(X)
#undef X
  return functions;
}

}  // namespace

const Cusparse& cusparse() {
  static const Cusparse functions = load_cusparse();
  return functions;
}

cusparseHandle_t cusparse_handle(const Context<Space::device>& ctx) {
  cusparseHandle_t& handle = ctx.state().cusparse;
  if (handle == nullptr) {
    const Cusparse& api = cusparse();
    NEWEL_CHECK_CUSPARSE(api.cusparseCreate(&handle));
    NEWEL_CHECK_CUSPARSE(api.cusparseSetStream(handle, ctx.stream()));
  }
  return handle;
}

void check_cusparse(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  throw DeviceError(std::string(call) + " failed: " + cusparse().cusparseGetErrorString(status));
}

}  // namespace newel::detail
