// SPDX-License-Identifier: Apache-2.0
/// Catch2, version 2 or 3.
#pragma once

#if NEWEL_CATCH2_VERSION >= 3
#include <catch2/catch_all.hpp>
using Catch::Approx;
#else
#include <catch2/catch.hpp>
#endif

#include <string>

#include <newel/config.hpp>
#include <newel/core/types.hpp>

/// TEST_BOTH("a sentence", "[tag]") { uses the constant S and runs once per space }.
/// The device variant is tagged [device] and exists with CUDA on.
#define NEWEL_JOIN2(a, b) a##b
#define NEWEL_JOIN(a, b) NEWEL_JOIN2(a, b)
#if NEWEL_HAS_CUDA
#define TEST_BOTH_IMPL(id, name, tags)                                         \
  template <newel::Space S>                                                    \
  static void id();                                                            \
  TEST_CASE(name " (host)", tags) { id<newel::Space::host>(); }                \
  TEST_CASE(name " (device)", tags "[device]") { id<newel::Space::device>(); } \
  template <newel::Space S>                                                    \
  static void id()
#else
#define TEST_BOTH_IMPL(id, name, tags)                          \
  template <newel::Space S>                                     \
  static void id();                                             \
  TEST_CASE(name " (host)", tags) { id<newel::Space::host>(); } \
  template <newel::Space S>                                     \
  static void id()
#endif
#define TEST_BOTH(name, tags) TEST_BOTH_IMPL(NEWEL_JOIN(test_both_, __LINE__), name, tags)

namespace newel::testing {

/// The folder with real matrices: NEWEL_TEST_DATA from the environment, else from CMake; empty when unset.
std::string data_folder();

/// Whether a test case on real matrices or meshes has to be skipped for want of a folder. It then says so and is
/// counted: the run ends with the number of those skipped, and with status 77 where all of its test cases were.
/// The first line of each test case tagged [data]: if (skipped_without_data()) return;
bool skipped_without_data();

}  // namespace newel::testing
