// server_process.cc — A convoy-server started for a while.
// SPDX-License-Identifier: MIT
#include "loadgen/server_process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "common/parse.h"
#include "loadgen/clock.h"
#include "loadgen/stop_signal.h"

namespace convoy {
namespace {

constexpr std::int64_t kReadyTimeout = 10 * kNanosPerSecond;
constexpr std::int64_t kStopTimeout = 6 * kNanosPerSecond;  // The server promises 5 s.
constexpr std::int64_t kPoll = 2 * kNanosPerMilli;
constexpr int kExecFailed = 127;

// In the child: everything between fork and exec, async-signal-safe.
[[noreturn]] void become_server(pid_t parent, int output, const sigset_t& mask, char* const* argv) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kExecFailed);  // It died before the line above took effect.
  // Our handlers would swallow a signal that comes before exec; blocked until here, it now does what it should.
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execv(argv[0], argv);
  const char* const reason = ::strerror(errno);
  [[maybe_unused]] auto written = ::write(STDERR_FILENO, reason, std::strlen(reason));
  ::_exit(kExecFailed);
}

std::vector<std::string> arguments(const std::string& program, const ServerSettings& settings) {
  std::vector<std::string> words{program, "--http", "127.0.0.1:0"};
  for (const auto& [name, value] : settings) {
    // One word, so that a value that begins with a dash stays a value.
    words.push_back(fmt::format("--{}={}", name, value));
  }
  return words;
}

// The value of NAME=VALUE in a line of such words; empty if there is none.
std::string word_value(const std::string& line, const std::string& name) {
  const auto at = line.find(" " + name + "=");
  if (at == std::string::npos) return {};
  const auto from = at + name.size() + 2;
  return line.substr(from, line.find_first_of(" \n", from) - from);
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Result<ServerProcess> ServerProcess::start(const std::string& program, const ServerSettings& settings) {
  Fd output(::memfd_create("convoy-server-stderr", MFD_CLOEXEC));
  if (!output) return fail("the server cannot be started: {}", std::strerror(errno));
  ::fcntl(output.get(), F_SETFL, O_APPEND);
  auto words = arguments(program, settings);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t parent = ::getpid();
  sigset_t all, mask;
  sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, &mask);
  const pid_t pid = ::fork();
  if (pid == 0) become_server(parent, output.get(), mask, argv.data());
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  if (pid < 0) return fail("the server cannot be started: {}", std::strerror(error));
  ServerProcess server(pid, std::move(output));
  if (auto ok = server.wait_until_ready(program); !ok) return tl::unexpected(ok.error());
  return server;
}

Result<void> ServerProcess::wait_until_ready(const std::string& program) {
  const auto deadline = now_ns() + kReadyTimeout;
  for (;;) {
    const bool ended = has_ended(0);
    const std::string text = output();
    const auto ready = text.find(" ready ");
    if (!ended && ready != std::string::npos && text.find('\n', ready) != std::string::npos) {
      endpoint_ = word_value(first_line(text.substr(ready)), "http");
      if (!endpoint_.empty() && endpoint_ != "off") return {};
      return fail("{} says that it is ready, but not where it serves HTTP", program);
    }
    if (ended && WIFEXITED(status_)) {
      return fail("{} ended with exit code {} before it was ready: {}", program, WEXITSTATUS(status_),
                  first_line(text).empty() ? "it said nothing" : first_line(text));
    }
    if (ended) return fail("{} was ended by signal {} before it was ready", program, WTERMSIG(status_));
    if (now_ns() >= deadline) return fail("{} was not ready after 10 s", program);
    if (stop_signal::received() != 0) return fail("interrupted while {} was starting", program);
    has_ended(kPoll);
  }
}

// Looks whether the server has ended, for up to `wait_ns`.
bool ServerProcess::has_ended(std::int64_t wait_ns) {
  const auto deadline = now_ns() + wait_ns;
  for (;;) {
    if (pid_ < 0) return true;
    const pid_t ended = ::waitpid(pid_, &status_, WNOHANG);
    if (ended == pid_ || (ended < 0 && errno == ECHILD)) {
      pid_ = -1;
      return true;
    }
    if (now_ns() >= deadline) return false;
    const timespec pause{0, static_cast<long>(kPoll)};
    ::nanosleep(&pause, nullptr);
  }
}

std::string ServerProcess::output() const {
  std::string text(16384, '\0');
  const auto size = ::pread(output_.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

ServerProcess::ServerProcess(ServerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      status_(other.status_),
      output_(std::move(other.output_)),
      endpoint_(std::move(other.endpoint_)) {}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) (void)stop();
}

Result<void> ServerProcess::stop() {
  if (pid_ < 0 || has_ended(0)) return fail("the server had ended by itself (wait status {:#x})", status_);
  ::kill(pid_, SIGTERM);
  if (!has_ended(kStopTimeout)) {
    ::kill(pid_, SIGKILL);
    has_ended(kStopTimeout);
    return fail("the server had not ended 6 s after SIGTERM and was killed");
  }
  if (WIFSIGNALED(status_)) return fail("the server was ended by signal {}", WTERMSIG(status_));
  if (WEXITSTATUS(status_) != 0) return fail("the server ended with exit code {}", WEXITSTATUS(status_));
  return {};
}

std::string default_server_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path() / "convoy-server").string();
}

}  // namespace convoy
