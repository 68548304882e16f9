// default_docroot.h — The private folder that is served when no docroot is given.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "common/result.h"

namespace convoy {

// hot.html (4,096 bytes), hot.bin (12,288 bytes), many/1 to many/1024 (12,288 bytes each) and an index.html that links
// to them. The content is the same on every machine and differs between files. Lives under TMPDIR; removed at the end.
class DefaultDocroot {
 public:
  // Error: the folder or a file cannot be written (the system's text).
  static Result<std::unique_ptr<DefaultDocroot>> create();
  ~DefaultDocroot();
  DefaultDocroot(const DefaultDocroot&) = delete;
  DefaultDocroot& operator=(const DefaultDocroot&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  explicit DefaultDocroot(std::string folder) : folder_(std::move(folder)) {}
  const std::string folder_;
};

}  // namespace convoy
