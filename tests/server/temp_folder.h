// temp_folder.h — A folder for one test, gone afterwards.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace convoy {

class TempFolder {
 public:
  TempFolder() : path_(::testing::TempDir() + "convoy-test-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + '/' + std::string(name); }
  void write(std::string_view name, std::string_view text) const {
    const std::filesystem::path path = *this / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }

 private:
  std::string path_;
};

}  // namespace convoy
