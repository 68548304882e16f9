// fake_convoy_server.cc — A stand-in for convoy-server: says that it is ready, serves, ends on SIGTERM.
// SPDX-License-Identifier: MIT
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "tests/loadgen/fake_server.h"

// Options: --http=127.0.0.1:0 as the real one; --page-lock, --access, --page-lock-unfairness=0..1000 are taken;
// --how=fine, silent (never ready), dies (after 20 requests), fails (exit code 7 at the end), stubborn (ignores
// SIGTERM). Every other option ends it with exit code 2. /config/NAME shows and takes them, access at the start only.
int main(int argc, char** argv) {
  using namespace convoy::testing;
  std::map<std::string, std::string> options{{"how", "fine"}};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    const auto name = word.substr(2, equals - 2);
    const auto value = equals == std::string::npos ? (i + 1 < argc ? argv[++i] : "") : word.substr(equals + 1);
    const bool known =
        name == "http" || name == "page-lock" || name == "access" || name == "page-lock-unfairness" || name == "how";
    if (!known || (name == "page-lock-unfairness" && std::atoi(value.c_str()) > 1000)) {
      std::fprintf(stderr, "fake-server: --%s: '%s' is not allowed\n", name.c_str(), value.c_str());
      return 2;
    }
    options[name] = value;
  }
  const std::string how = options["how"];
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  std::atomic<int> served{0};
  options.insert({{"page-lock", "bounded"}, {"page-lock-unfairness", "5"}, {"access", "mmap"}});
  std::mutex mutex;
  const auto control = [&](const FakeRequest& request) {
    const std::lock_guard guard(mutex);
    const auto name = request.path.substr(request.path.rfind('/') + 1);
    if (options.count(name) == 0) {
      send_text(request.fd, answer_text(404, "no such page\n"));
    } else if (request.method == "PUT" && request.body == "no-policy") {
      send_text(request.fd, answer_text(400, name + ": 'no-policy' is not allowed\n"));
    } else {
      if (request.method == "PUT") options[name] = request.body;
      const char* const live = name == "access" ? "false" : "true";
      send_text(request.fd, answer_text(200, "{\"value\": \"" + options[name] + "\", \"live\": " + live + "}"));
    }
    return false;
  };
  FakeServer server(
      [&](const FakeRequest& request) {
        if (how == "dies" && ++served == 20) std::_Exit(9);
        send_text(request.fd, answer_text(200, std::string(100, 'x')));
        return true;
      },
      control);
  if (how != "silent") std::fprintf(stderr, "fake-server ready http=127.0.0.1:%u resp=off\n", unsigned{server.port()});
  int signal = 0;
  do {
    sigwait(&ends, &signal);
  } while (how == "stubborn");
  server.stop();
  return how == "fails" ? 7 : 0;
}
