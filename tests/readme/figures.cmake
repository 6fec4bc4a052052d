# SPDX-License-Identifier: Apache-2.0
# Fails where README.md (TEXT) tells of a beat what its committed report (REPORT) does not hold.
cmake_minimum_required(VERSION 3.24)
include(${CMAKE_CURRENT_LIST_DIR}/says.cmake)
file(READ ${REPORT} report)
string(JSON nodes GET "${report}" mesh nodes)
string(JSON steps GET "${report}" steps)
string(JSON products GET "${report}" solves products)
string(JSON command GET "${report}" command_line)
string(REPLACE " --threads 2" "" command "${command}")
foreach(words "${nodes} nodes" "${steps} steps" "${products} products" "${command}")
  expect_words("${words}")
endforeach()
