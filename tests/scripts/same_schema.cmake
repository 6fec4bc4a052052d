# SPDX-License-Identifier: Apache-2.0
# Fails where the schema number that programs write (HEAD) is not the one that scripts read and write (READER).
file(READ ${HEAD} text)
if(NOT text MATCHES "report_schema = ([0-9]+);")
  message(FATAL_ERROR "${HEAD} names no report_schema")
endif()
set(written ${CMAKE_MATCH_1})
file(READ ${READER} text)
if(NOT text MATCHES "SCHEMA = ([0-9]+) ")
  message(FATAL_ERROR "${READER} names no SCHEMA")
endif()
if(NOT written EQUAL CMAKE_MATCH_1)
  message(FATAL_ERROR "programs write schema ${written}, scripts read ${CMAKE_MATCH_1}")
endif()
