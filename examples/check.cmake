# SPDX-License-Identifier: Apache-2.0
# Runs an example (PROGRAM). Fails where it ends with another status than 0 or its last line is not LAST_LINE, a
# regular expression. With 77 it has printed the line by which ctest knows skipped tests.
cmake_minimum_required(VERSION 3.24)
execute_process(COMMAND ${PROGRAM} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
message("${output}${errors}")
if(status EQUAL 77)
  return()
endif()
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} ended with ${status}")
endif()
if(NOT output MATCHES "(^|\n)${LAST_LINE}\n$")
  message(FATAL_ERROR "the last line of ${PROGRAM} is not '${LAST_LINE}'")
endif()
