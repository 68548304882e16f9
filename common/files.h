// files.h — Whole files read and written, with the reason when it fails.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

namespace convoy {

// Reads a regular file or pipe of at most `max_bytes`. The error names the path and the system's reason.
Result<std::string> read_text_file(const std::string& path, std::size_t max_bytes = std::size_t{1} << 30);

// Finds out before long work whether write_text_file(path) could succeed: the folder exists and may be written to, the
// path is no folder. Writes nothing; a disk may still be full later.
Result<void> check_writable(const std::string& path);

// Replaces the file at `path` by `text` so that a reader sees the old one or the new one, never a part: a temporary
// file in the same folder, fsync, rename. A symbolic link stays and its target is replaced. "-" is stdout; a device or
// pipe is written in place. The error names the path and the system's reason (no space left on the device), and no
// temporary file remains.
Result<void> write_text_file(const std::string& path, std::string_view text);

}  // namespace convoy
