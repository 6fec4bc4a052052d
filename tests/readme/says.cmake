# SPDX-License-Identifier: Apache-2.0
# Fails where the file TEXT does not hold the words, in which numbers from 1,000 on have their separator.
function(expect_words words)
  string(REGEX REPLACE "(^| )([0-9]+)([0-9][0-9][0-9]) " "\\1\\2,\\3 " words "${words}")
  file(READ ${TEXT} text)
  string(FIND "${text}" "${words}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "${TEXT} does not say '${words}', as ${REPORT} does")
  endif()
endfunction()
