// result.h — Success or a sentence that says what went wrong.
// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace convoy {

// An operating error: bad input, a failed system call. `message` is one sentence without a final stop that names the
// option, file or address, the value, and what is allowed. Programmer errors panic instead.
struct Error {
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

// Returns an error whose message is formatted as by fmt::format.
template <class... Args>
tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace convoy
