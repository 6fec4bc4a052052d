# SPDX-License-Identifier: Apache-2.0
# Fails where the table of FOLDER/README.md does not list each program of the folder once, in order, and no other.
cmake_minimum_required(VERSION 3.24)
file(GLOB programs RELATIVE ${FOLDER} ${FOLDER}/*.c ${FOLDER}/*.cpp ${FOLDER}/*.f90 ${FOLDER}/*.py)
list(SORT programs)
file(STRINGS ${FOLDER}/README.md rows REGEX "^\\| \\[")
list(TRANSFORM rows REPLACE "^[^(]*\\(([^)]*)\\).*" "\\1")
if(NOT programs STREQUAL rows)
  message(FATAL_ERROR "${FOLDER} holds\n  ${programs}\nand its README.md lists\n  ${rows}")
endif()
