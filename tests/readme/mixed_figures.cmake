# SPDX-License-Identifier: Apache-2.0
# Fails if the page TEXT does not hold the iterations in double and in mixed precision that REPORT measured.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/says.cmake)
file(READ ${REPORT} report)
string(JSON systems LENGTH "${report}" systems)
math(EXPR last "${systems} - 1")
foreach(k RANGE ${last})
  string(JSON name GET "${report}" systems ${k} system)
  string(JSON double GET "${report}" systems ${k} solves 0 iterations)
  string(JSON mixed GET "${report}" systems ${k} solves 1 iterations)
  string(REGEX REPLACE "\\..*" "" name "${name}")
  expect_words("${double} and ${mixed} on `${name}`")
endforeach()
