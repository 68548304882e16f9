# summary.cmake — Prints the table that the explored cells wrote, after ctest's own lines.
# SPDX-License-Identifier: MIT
if(EXISTS ${TABLE})
  file(STRINGS ${TABLE} lines)
  list(SORT lines)
  foreach(line ${lines})
    message(NOTICE "${line}")
  endforeach()
endif()
