# SPDX-License-Identifier: Apache-2.0
# Fails where the functions that HEADER declares are not those that BINDINGS binds, each with as many arguments.
cmake_minimum_required(VERSION 3.24)

# signature(RESULT NAME ARGUMENTS): "name/count"; the arguments are a text with commas, "" or "void" for none.
function(signature result name arguments)
  string(STRIP "${arguments}" arguments)
  if(arguments STREQUAL "" OR arguments STREQUAL "void")
    set(count 0)
  else()
    string(REGEX MATCHALL "," commas "${arguments}")
    list(LENGTH commas count)
    math(EXPR count "${count} + 1")
  endif()
  set(${result} "${name}/${count}" PARENT_SCOPE)
endfunction()

file(READ ${HEADER} text)
string(REPLACE ";" "\n" text "${text}")
string(REGEX MATCHALL "NEWEL_API [^(]*[ *]newel_[a-z_]+\\([^)]*\\)" declarations "${text}")
set(declared "")
foreach(declaration IN LISTS declarations)
  string(REGEX MATCH "(newel_[a-z_]+)\\(([^)]*)\\)$" ignored "${declaration}")
  signature(one "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
  list(APPEND declared ${one})
endforeach()

file(READ ${BINDINGS} text)
string(REGEX REPLACE "&[ ]*\n[ ]*" "" text "${text}")
string(REGEX MATCHALL "(function|subroutine) newel_[a-z_]+\\([^)]*\\) *bind\\(c, name=\"[^\"]*\"\\)" statements
       "${text}")
set(bound "")
foreach(statement IN LISTS statements)
  string(REGEX MATCH "\\(([^)]*)\\) *bind\\(c, name=\"([^\"]*)\"\\)$" ignored "${statement}")
  signature(one "${CMAKE_MATCH_2}" "${CMAKE_MATCH_1}")
  list(APPEND bound ${one})
endforeach()

list(SORT declared)
list(SORT bound)
list(LENGTH declared count)
if(count LESS 10 OR NOT bound STREQUAL declared)
  message(FATAL_ERROR "${HEADER} declares\n  ${declared}\nand ${BINDINGS} binds\n  ${bound}")
endif()
