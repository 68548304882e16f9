// panic.cc — Says why, then aborts.
// SPDX-License-Identifier: MIT
#include "common/panic.h"

#include <cstdio>
#include <cstdlib>

namespace convoy {

void panic_with(std::string_view message) {
  std::fprintf(stderr, "panic: %.*s\n", static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace convoy
