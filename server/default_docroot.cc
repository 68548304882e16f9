// default_docroot.cc — Making and removing the folder.
// SPDX-License-Identifier: MIT
#include "server/default_docroot.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace convoy {
namespace {

constexpr std::size_t kHotHtmlBytes = 4096;
constexpr std::size_t kHotBinBytes = 12288;
constexpr int kMany = 1024;

// `bytes` bytes that follow from `seed` alone (splitmix64), so that a file served under another's name is noticed.
std::string noise(std::uint64_t seed, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    mixed ^= mixed >> 31;
    std::memcpy(text.data() + at, &mixed, sizeof mixed);
  }
  return text;
}

std::string hot_html() {
  std::string text = "<!doctype html>\n<title>Convoy</title>\n<p>One hot page of 4,096 bytes.\n";
  while (text.size() + 64 <= kHotHtmlBytes) text += "<!-- filler so that the file is exactly one page of memory  -->\n";
  text.resize(kHotHtmlBytes - 1, ' ');
  return text + '\n';
}

constexpr std::string_view kIndex =
    "<!doctype html>\n<title>Convoy</title>\n<ul>\n<li><a href=\"/hot.html\">hot.html</a>, 4,096 bytes\n"
    "<li><a href=\"/hot.bin\">hot.bin</a>, 12,288 bytes\n<li>many/1 to many/1024, 12,288 bytes each\n"
    "<li><a href=\"/locks\">/locks</a>, <a href=\"/config\">/config</a>, "
    "<a href=\"/server-status\">/server-status</a>\n</ul>\n";

bool write_file(const std::string& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  return !out.fail();
}

}  // namespace

Result<std::unique_ptr<DefaultDocroot>> DefaultDocroot::create() {
  const char* const tmpdir = std::getenv("TMPDIR");
  std::string name = fmt::format("{}/convoy-docroot-XXXXXX", tmpdir != nullptr && *tmpdir != '\0' ? tmpdir : "/tmp");
  if (::mkdtemp(name.data()) == nullptr) {
    return fail("docroot: the private folder '{}' cannot be made: {}", name, std::strerror(errno));
  }
  std::unique_ptr<DefaultDocroot> self(new DefaultDocroot(std::move(name)));
  const std::string& folder = self->folder_;
  bool written = ::mkdir((folder + "/many").c_str(), 0755) == 0 && write_file(folder + "/index.html", kIndex) &&
                 write_file(folder + "/hot.html", hot_html()) &&
                 write_file(folder + "/hot.bin", noise(0, kHotBinBytes));
  for (int number = 1; written && number <= kMany; ++number) {
    written = write_file(fmt::format("{}/many/{}", folder, number),
                         noise(static_cast<std::uint64_t>(number) << 32, kHotBinBytes));
  }
  if (!written) return fail("docroot: the private folder '{}' cannot be filled: {}", folder, std::strerror(errno));
  return self;
}

DefaultDocroot::~DefaultDocroot() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace convoy
