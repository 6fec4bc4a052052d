// SPDX-License-Identifier: Apache-2.0
// Finding and loading libnewel_mpi_c.
#include "mpi_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <newel/core/rank_handle.hpp>

namespace newel::cli {
namespace {

constexpr const char* library_name = "libnewel_mpi_c.so.1";

// MPI itself loads parts that need its names, so they are visible to all.
void* load_library(const Launch& launch) {
  std::error_code unknown;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  for (const char* const folder : {NEWEL_LIB_FROM_BIN "/", "../lib/", ""}) {
    const std::string name = *folder == '\0' ? library_name : self.parent_path() / folder / library_name;
    if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
  }
  const char* const why = dlerror();
  throw InputError("a launcher of MPI has started " + std::to_string(launch.size) +
                   " processes, and the library with which they find each other cannot be loaded (" +
                   (why == nullptr ? library_name : why) + "): build Newel where CMake finds MPI, with NEWEL_MPI=ON");
}

template <class Function>
Function* function_of(void* library, const char* name) {
  auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function == nullptr) throw InputError(std::string(library_name) + " has no function " + name);
  return function;
}

}  // namespace

// The library stays loaded: MPI leaves threads and handlers of the end of the process.
MpiLibrary::MpiLibrary(const Launch& launch) {
  void* const library = load_library(launch);
  world_ = function_of<int(newel_comm**)>(library, "newel_mpi_world");
  end_ = function_of<void(int)>(library, "newel_mpi_end");
  destroy_ = function_of<void(newel_comm*)>(library, "newel_comm_destroy");
  const int size = ranks()->size();
  if (size == launch.size) return;
  end_(0);
  throw InputError("a launcher of MPI has started " + std::to_string(launch.size) + " processes, but the MPI that " +
                   library_name + " was built with sees " + std::to_string(size) +
                   ": start them with the launcher of that MPI");
}

MpiLibrary::~MpiLibrary() { end_(0); }

std::shared_ptr<Communicator> MpiLibrary::ranks() const {
  newel_comm* handle = nullptr;
  const int status = world_(&handle);
  if (status != 0 || handle == nullptr) {
    throw Error("newel_mpi_world ended with status " + std::to_string(status) + ": MPI cannot be initialised");
  }
  std::shared_ptr<Communicator> ranks = handle->ranks;
  destroy_(handle);
  return ranks;
}

void MpiLibrary::abort(int status) const {
  end_(status);
  std::_Exit(status);
}

}  // namespace newel::cli
