# SPDX-License-Identifier: MIT
# What every target of ours is compiled with. Warnings are errors; the sanitizer, if any, goes into all of them.
add_library(convoy_options INTERFACE)
target_compile_options(convoy_options INTERFACE -Wall -Wextra -Wpedantic -Werror -fno-omit-frame-pointer)
target_include_directories(convoy_options INTERFACE ${CMAKE_SOURCE_DIR})
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(convoy_options INTERFACE -Wthread-safety)
endif()
if(CONVOY_SANITIZE)
  add_compile_options(-fsanitize=${CONVOY_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${CONVOY_SANITIZE})
endif()

# convoy_library(NAME SOURCES... ): one static library per folder.
function(convoy_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC convoy_options)
endfunction()
