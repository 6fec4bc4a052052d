// SPDX-License-Identifier: Apache-2.0
/// What every test begins with: Catch2, version 2 or 3, the headers that most of them read, and the library's names.
#pragma once

#if NEWEL_CATCH2_VERSION >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <newel/config.hpp>
#include <newel/core/context.hpp>
#include <newel/core/error.hpp>
#include <newel/core/types.hpp>
#include <newel/core/vector_ops.hpp>

#include "tests/support.hpp"
#include "tests/temporary_folder.hpp"

/// A test case whose body is a member function, so that what it needs is made before it.
#define NEWEL_JOIN2(a, b) a##b
#define NEWEL_JOIN(a, b) NEWEL_JOIN2(a, b)
#define TEST_WITH_IMPL(id, member, name, tags) \
  namespace {                                  \
  struct id {                                  \
    const member;                              \
    void test_body() const;                    \
  };                                           \
  }                                            \
  TEST_CASE(name, tags) { id().test_body(); }  \
  void id::test_body() const
#define TEST_WITH(member, name, tags) TEST_WITH_IMPL(NEWEL_JOIN(test_with_, __LINE__), member, name, tags)

/// With an empty folder, `folder`, that is gone afterwards; with a context `ctx` of the host; of a device.
#define TEST_IN_FOLDER(name, tags) TEST_WITH(newel::testing::TemporaryFolder folder, name, tags)
#define TEST_ON_HOST(name, tags) TEST_WITH(newel::Context<newel::Space::host> ctx, name, tags)
#define TEST_ON_DEVICE(name, tags) TEST_WITH(newel::Context<newel::Space::device> ctx, name, tags)

/// TEST_BOTH("a sentence", "[tag]") { uses the constant S and a context `ctx` of S, and runs once per space }.
/// The device variant is tagged [device] and exists with CUDA on.
#if NEWEL_HAS_CUDA
#define TEST_BOTH_ON_DEVICE(id, name, tags) \
  TEST_CASE(name " (device)", tags "[device]") { id<newel::Space::device>().test_body(); }
#else
#define TEST_BOTH_ON_DEVICE(id, name, tags)
#endif
#define TEST_BOTH_IMPL(id, name, tags)                                      \
  namespace {                                                               \
  template <newel::Space S>                                                 \
  struct id {                                                               \
    const newel::Context<S> ctx;                                            \
    void test_body() const;                                                 \
  };                                                                        \
  }                                                                         \
  TEST_CASE(name " (host)", tags) { id<newel::Space::host>().test_body(); } \
  TEST_BOTH_ON_DEVICE(id, name, tags)                                       \
  template <newel::Space S>                                                 \
  void id<S>::test_body() const
#define TEST_BOTH(name, tags) TEST_BOTH_IMPL(NEWEL_JOIN(test_both_, __LINE__), name, tags)

namespace newel::testing {

/// The folder with real matrices: NEWEL_TEST_DATA from the environment, else from CMake; empty when unset.
std::string data_folder();

/// Whether a test case on real matrices or meshes has to be skipped for want of a folder. It then says so and is
/// counted: the run ends with the number of those skipped, and with status 77 where all of its test cases were.
/// The first line of each test case tagged [data]: if (skipped_without_data()) return;
bool skipped_without_data();

}  // namespace newel::testing

using namespace newel;
using namespace newel::testing;
