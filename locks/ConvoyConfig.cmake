# SPDX-License-Identifier: MIT
# find_package(Convoy) gives Convoy::locks, header-only: #include <convoy/bounded.h>, #include <convoy/std_lock.h>.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/ConvoyTargets.cmake)
