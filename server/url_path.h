// url_path.h — From a request target to a path below the docroot.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace convoy {

// Writes into `path` the path that a request target names: relative ("many/1"; "" for "/"), percent-decoded, without
// its query, "." and ".." segments resolved, repeated slashes merged; a slash at the end is kept. `target` is in origin
// form ("/many/1?x") or absolute form ("http://host/many/1"). False for anything else: a bad percent encoding, an
// encoded NUL or slash, a ".." that would leave the root.
[[nodiscard]] bool url_to_path(std::string_view target, std::string& path);

}  // namespace convoy
