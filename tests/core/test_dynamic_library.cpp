// SPDX-License-Identifier: Apache-2.0
// A library that is loaded on first use: one that every Linux has, and what is said of those that are not there.
#include "tests/catch.hpp"

#include "core/memory/dynamic_library.hpp"

using detail::DynamicLibrary;

TEST_CASE("A library is loaded by the first name that there is", "[dynamic_library]") {
  const DynamicLibrary library("the mathematics", {"libnewel_absent.so.7", "libm.so.6"});
  double (*cube_root)(double) = nullptr;
  library.find("cbrt", cube_root);
  REQUIRE(cube_root != nullptr);
  CHECK(cube_root(27.0) == Approx(3));
}

TEST_CASE("A library that is not there is named with all places that were tried", "[dynamic_library]") {
  const std::string message = message_of<DeviceError>([] {
    DynamicLibrary("cuSPARSE", {"libnewel_absent.so.7", "/newel/absent/libnewel_other.so.3"});
  });
  for (const std::string words : {"cuSPARSE cannot be loaded", "libnewel_absent.so.7",
                                  "/newel/absent/libnewel_other.so.3", "LD_LIBRARY_PATH"}) {
    INFO(message << " lacks " << words);
    CHECK(contains(message, words));
  }
}

TEST_CASE("A function that a library does not have is named with the library", "[dynamic_library]") {
  const DynamicLibrary library("the mathematics", {"libm.so.6"});
  void (*function)() = nullptr;
  const std::string message = message_of<DeviceError>([&] { library.find("newel_absent", function); });
  CHECK(message.find("the mathematics in libm.so.6 has no function newel_absent") == 0);
  CHECK(function == nullptr);
}
