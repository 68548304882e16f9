# SPDX-License-Identifier: MIT
# The HTTP parser. Newer distributions ship it as a library; Debian 12 ships its generated C sources in node-llhttp.
find_package(llhttp QUIET CONFIG)
if(TARGET llhttp::llhttp_shared)
  add_library(convoy_llhttp ALIAS llhttp::llhttp_shared)
else()
  find_path(LLHTTP_SOURCES llhttp.c PATHS /usr/share/llhttp NO_DEFAULT_PATH REQUIRED)
  find_path(LLHTTP_HEADERS llhttp.h PATHS /usr/share/include/llhttp NO_DEFAULT_PATH REQUIRED)
  add_library(convoy_llhttp STATIC
    ${LLHTTP_SOURCES}/llhttp.c ${LLHTTP_SOURCES}/http.c ${LLHTTP_SOURCES}/api.c)
  target_include_directories(convoy_llhttp SYSTEM PUBLIC ${LLHTTP_HEADERS})
endif()
