// panic.h — The end of a program that has broken one of its own rules.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace convoy {

// Writes "panic: MESSAGE" to stderr and aborts. For programmer errors; operating errors are Result<T>.
[[noreturn]] void panic_with(std::string_view message);

template <class... Args>
[[noreturn]] void panic(fmt::format_string<Args...> format, Args&&... args) {
  panic_with(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace convoy
