// program.h — Runs a program of this build and catches what it says.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace convoy::testing {

// The folder of the build: test programs are in its folder tests/.
inline std::filesystem::path build_folder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

struct ProgramEnd {
  int code = -1;  // 128 + signal if one ended it.
  std::string out;
  std::string err;
  double seconds = 0;
};

// A program that runs. It is killed if it has not been waited for.
class Program {
 public:
  explicit Program(std::vector<std::string> words) {
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) std::abort();
    std::vector<char*> argv;
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(out[1], 1);
      ::dup2(err[1], 2);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out[1]);
    ::close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
  }

  pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }

  // Reads until stderr contains `text` or has ended; returns whether it came.
  bool wait_for_error_text(const std::string& text) {
    while (end_.err.find(text) == std::string::npos) {
      if (!read_some(err_, end_.err)) return false;
    }
    return true;
  }

  // What stderr has said behind `text`, as far as it has been read.
  std::string error_text_after(const std::string& text) const {
    const auto at = end_.err.find(text);
    return at == std::string::npos ? "" : end_.err.substr(at + text.size());
  }

  // Waits for the end.
  ProgramEnd wait() {
    std::thread reader([this] {
      while (read_some(out_, end_.out)) {}
    });
    while (read_some(err_, end_.err)) {}
    reader.join();
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    end_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    end_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return std::move(end_);
  }

 private:
  static bool read_some(int fd, std::string& text) {
    char buffer[4096];
    const auto size = ::read(fd, buffer, sizeof buffer);
    if (size <= 0) return false;
    text.append(buffer, static_cast<std::size_t>(size));
    return true;
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  ProgramEnd end_;
};

// Runs convoy-loadgen to its end.
inline ProgramEnd loadgen(std::vector<std::string> words) {
  words.insert(words.begin(), (build_folder() / "convoy-loadgen").string());
  return Program(std::move(words)).wait();
}

}  // namespace convoy::testing
