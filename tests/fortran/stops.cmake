# SPDX-License-Identifier: Apache-2.0
# Fails unless PROGRAM with the argument HOW prints "before", and its error to the error unit, and ends there.
cmake_minimum_required(VERSION 3.24)
set(option "newel: unknown option \"solvr\" (did you mean solver?); expected one of: rtol,")
set(size "newel: b and x: expected 3 elements, one for each row of the matrix, found 2 and 3")
set(solve "newel: not converged (max_iterations)")
set(copy "newel: a system cannot be copied")
execute_process(COMMAND ${PROGRAM} ${HOW} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
string(FIND "${errors}" "${${HOW}}" found)
if(status EQUAL 0 OR found EQUAL -1 OR output MATCHES "after" OR NOT output MATCHES "before")
  message(FATAL_ERROR "expected '${${HOW}}', found status ${status}:\n${output}${errors}")
endif()
