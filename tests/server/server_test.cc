// server_test.cc — Goal: the server starts with a sentence or not at all, and stops in time whatever its clients do.
// Method: the server as an object where that suffices, the program itself for exit codes and signals.
// SPDX-License-Identifier: MIT
#include "server/server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/process_cpu.h"
#include "tests/server/test_server.h"

namespace convoy {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// convoy-server as a child process; its stdout and stderr come together.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments) {
    const auto binary = std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "convoy-server";
    arguments.insert(arguments.begin(), binary.string());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) ADD_FAILURE() << "pipe";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    if (::posix_spawn(&pid_, binary.c_str(), &actions, nullptr, argv.data(), environ) != 0) ADD_FAILURE() << "spawn";
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    output_ = ends[0];
  }
  ~Program() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), wait();
    ::close(output_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::string read_line() {
    std::string line;
    for (char c; ::read(output_, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  std::string read_all() {
    std::string text;
    char bytes[4096];
    for (ssize_t n; (n = ::read(output_, bytes, sizeof bytes)) > 0;) text.append(bytes, static_cast<std::size_t>(n));
    return text;
  }
  pid_t pid() const { return pid_; }
  Result<double> cpu_s() const {
    return cpu_of_process_tree(pid_).map([](const ProcessCpu& cpu) { return cpu.user_s + cpu.sys_s; });
  }
  void terminate() { ::kill(pid_, SIGTERM); }
  // The exit code, or minus the signal.
  int wait() {
    int status = 0;
    ::waitpid(std::exchange(pid_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
};

TEST(Server, stops_in_time_whatever_clients_do) {
  TestServer server("workers=4");
  Client idle(server.port());
  EXPECT_EQ(idle.get("/a").body, "A");
  Client silent(server.port());
  Client half(server.port());
  half.send("GET /a HT");
  Client slow(server.port());
  slow.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\nGET /big HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(idle.get("/a").body, "A");
  const auto start = Clock::now();
  server.server().stop();
  EXPECT_LT(seconds_since(start), 5.0);
  EXPECT_EQ(idle.read_to_end(), "");
}

TEST(Server, idle_server_stops_at_once) {
  TestServer server;
  Client idle(server.port());
  EXPECT_EQ(idle.get("/a").body, "A");
  const auto start = Clock::now();
  server.server().stop();
  EXPECT_LT(seconds_since(start), 2.0);
}

TEST(Server, sigterm_ends_the_program_and_its_folder) {
  Program program({"--http", "127.0.0.1:0", "--workers", "8"});
  const std::string ready = program.read_line();
  EXPECT_EQ(ready.rfind("convoy-server ready http=127.0.0.1:", 0), 0u) << ready;
  EXPECT_NE(ready.find(" resp=off threading=apache workers=8 page-lock=bounded page-lock-unfairness=5 docroot="),
            std::string::npos)
      << ready;
  const std::string folder = ready.substr(ready.find("docroot=") + 8);
  const auto port = static_cast<std::uint16_t>(std::stoi(ready.substr(ready.find("127.0.0.1:") + 10)));
  Client client(port);
  EXPECT_EQ(client.get("/hot.html").body.size(), 4096u);
  EXPECT_EQ(client.get("/hot.bin").body.size(), 12288u);
  const std::string first = client.get("/many/1").body;
  const std::string last = client.get("/many/1024").body;
  EXPECT_EQ(first.size(), 12288u);
  EXPECT_EQ(last.size(), 12288u);
  EXPECT_NE(first, last);
  const auto start = Clock::now();
  program.terminate();
  EXPECT_EQ(program.wait(), 0);
  EXPECT_LT(seconds_since(start), 5.0);
  EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
}

TEST(Server, bad_settings_exit_2_with_a_sentence) {
  struct Case {
    std::vector<std::string> arguments;
    std::string names;
  };
  const TempFolder folder;
  folder.write("bad.toml", "workers = 0\n");
  folder.write("unknown.toml", "worker = 1\n");
  folder.write("broken.toml", "workers = = 1\n");
  folder.write("idle.toml", "page-lock-spin = 3\npage-lock = \"handoff\"\n");
  for (const Case& one : std::vector<Case>{
           {{"--nonsense"}, "--nonsense"},
           {{"--workers", "0"}, "workers"},
           {{"--workers", "4294967296"}, "workers"},
           {{"--workers"}, "workers"},
           {{"extra"}, "extra"},
           {{"--threading", "redis"}, "not built yet"},
           {{"--threading", "nginx"}, "apache"},
           {{"--resp", "127.0.0.1:6380"}, "not built yet"},
           {{"--http", "off"}, "http"},
           {{"--http", "127.0.0.1"}, "http"},
           {{"--page-lock", "mutexx"}, "bounded"},
           {{"--page-lock-unfairness", "1001"}, "page-lock-unfairness"},
           {{"--page-lock", "handoff", "--unfairness", "0"},
            "page-lock-unfairness: 0 has no effect: page-lock handoff has no knob unfairness; policies that have it: "
            "bounded"},
           {{"--mapping-lock-unfairness", "7", "--mapping-lock", "ticket"},
            "mapping-lock-unfairness: 7 has no effect: mapping-lock ticket has no knob unfairness"},
           {{"--lru-lock-spin", "9"}, "lru-lock-spin: 9 has no effect: lru-lock std-mutex has no knob spin"},
           {{"--config", folder / "idle.toml"}, "page-lock-spin: 3 has no effect: page-lock handoff"},
           {{"--cpus", "0-"}, "cpus"},
           {{"--cpus", "1000"}, "cpus"},
           {{"--docroot", folder / "none"}, "none"},
           {{"--docroot", folder / "bad.toml"}, "docroot"},
           {{"--config", folder / "none.toml"}, "none.toml"},
           {{"--config", folder / "bad.toml"}, "workers"},
           {{"--config", folder / "unknown.toml"}, "worker"},
           {{"--config", folder / "broken.toml"}, "broken.toml:1"},
       }) {
    std::vector<std::string> arguments = one.arguments;
    if (arguments.front() != "--http") arguments.insert(arguments.begin(), {"--http", "127.0.0.1:0"});
    Program program(arguments);
    const std::string output = program.read_all();
    EXPECT_EQ(program.wait(), 2) << one.arguments.front() << "\n" << output;
    EXPECT_NE(output.find(one.names), std::string::npos) << output;
  }
}

TEST(Server, address_in_use_exits_3) {
  const TestServer first;
  Program program({"--http", "127.0.0.1:" + std::to_string(first.port()), "--docroot", first.folder().path()});
  const std::string output = program.read_all();
  EXPECT_EQ(program.wait(), 3);
  EXPECT_NE(output.find("Address already in use"), std::string::npos) << output;
  EXPECT_NE(output.find(std::to_string(first.port())), std::string::npos) << output;
}

TEST(Server, file_gives_way_to_the_command_line) {
  const TempFolder folder;
  folder.write("server.toml", "workers = 3\nhttp = \"127.0.0.1:0\"\npage-lock-unfairness = 7\n");
  Program program({"--config", folder / "server.toml", "--workers", "5", "--docroot", folder.path()});
  const std::string ready = program.read_line();
  EXPECT_NE(ready.find("workers=5 page-lock=bounded page-lock-unfairness=7"), std::string::npos) << ready;
  program.terminate();
  EXPECT_EQ(program.wait(), 0);
}

TEST(Server, lists_its_policies) {
  Program program({"--list-policies"});
  const std::string output = program.read_all();
  EXPECT_EQ(program.wait(), 0);
  for (const auto name : {"bounded", "barging", "handoff"}) EXPECT_NE(output.find(name), std::string::npos) << output;
}

// S1: without descriptors the loop waits instead of spinning, and serves again when there are some.
TEST(Server, survives_without_descriptors) {
  const TempFolder folder;
  folder.write("a", "A");
  Program program({"--http", "127.0.0.1:0", "--workers", "4", "--docroot", folder.path()});
  const std::string ready = program.read_line();
  const auto port = static_cast<std::uint16_t>(std::stoi(ready.substr(ready.find("127.0.0.1:") + 10)));
  const rlimit few{64, 64};
  ASSERT_EQ(::prlimit(program.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  {
    std::vector<std::unique_ptr<Client>> clients;
    for (int i = 0; i < 100; ++i) clients.push_back(std::make_unique<Client>(port));
#if !defined(__SANITIZE_ADDRESS__)
    // UBSan, which comes with that build, tests pointers through a pipe and reports them all when it can make none.
    EXPECT_EQ(clients.front()->get("/locks").status, 200) << "those who are in are served";
    EXPECT_EQ(clients.front()->get("/a").body, "A") << "descriptors are left for files that nobody has opened yet";
#endif
    const double before = *program.cpu_s();
    const auto start = Clock::now();
    while (seconds_since(start) < 2.0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_LT(*program.cpu_s() - before, 0.1) << "5 % of 2 s";
  }
  EXPECT_EQ(Client(port).get("/a").body, "A");
  const std::string status = Client(port).get("/server-status?auto").body;
  const auto errors = status.find("\nAcceptErrors: ");
  ASSERT_NE(errors, std::string::npos) << status;
  EXPECT_GE(std::stoi(status.substr(errors + 15)), 10) << "one every 100 ms of 2 s, but for a slow machine";
  program.terminate();
  EXPECT_EQ(program.wait(), 0);
  const std::string said = program.read_all();
  EXPECT_NE(said.find("no client can be accepted: Too many open files"), std::string::npos) << said;
  EXPECT_LT(std::count(said.begin(), said.end(), '\n'), 5) << "said once a shortage, not every 100 ms:\n" << said;
}

// Where not even the last descriptors are left, accept itself fails; clients wait in the backlog until it does not.
TEST(Server, accepts_again_after_accept_failed) {
  const TempFolder folder;
  folder.write("a", "A");
  Program program({"--http", "127.0.0.1:0", "--workers", "2", "--docroot", folder.path()});
  const std::string ready = program.read_line();
  const auto port = static_cast<std::uint16_t>(std::stoi(ready.substr(ready.find("127.0.0.1:") + 10)));
  rlimit before{};
  ASSERT_EQ(::prlimit(program.pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit none{3, before.rlim_max};
  ASSERT_EQ(::prlimit(program.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  Client client(port);
  client.send("GET /a HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string said = program.read_line();
  EXPECT_NE(said.find("no client can be accepted: Too many open files"), std::string::npos) << said;
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  ASSERT_EQ(::prlimit(program.pid(), RLIMIT_NOFILE, &before, nullptr), 0);
  const auto start = Clock::now();
  EXPECT_EQ(client.read().body, "A");
  EXPECT_LT(seconds_since(start), 5.0);
}

}  // namespace
}  // namespace convoy
