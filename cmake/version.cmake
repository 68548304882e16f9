# SPDX-License-Identifier: MIT
# Writes OUTPUT with the commit of SOURCE, and only when it changes: a build without news compiles nothing.
# Run as: cmake -DSOURCE=... -DOUTPUT=... -DVERSION=... -P version.cmake
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=7 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define CONVOY_VERSION \"${VERSION}\"\n#define CONVOY_COMMIT \"${commit}\"\n")
