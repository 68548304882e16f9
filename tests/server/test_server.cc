// test_server.cc — Sockets of the tests.
// SPDX-License-Identifier: MIT
#include "tests/server/test_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <thread>
#include <utility>

#include "common/lock_report.h"
#include "server/ascii.h"

namespace convoy {

std::string Answer::field(std::string_view name) const {
  std::string_view rest = head;
  while (!rest.empty()) {
    const auto end = rest.find("\r\n");
    const auto line = rest.substr(0, end);
    const auto colon = line.find(':');
    if (colon != line.npos && iequals(line.substr(0, colon), name)) return std::string(trim(line.substr(colon + 1)));
    if (end == rest.npos) break;
    rest.remove_prefix(end + 2);
  }
  return "";
}

Client::Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  timeval limit{20, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) ADD_FAILURE() << "connect: " << errno;
}

Client::~Client() {
  if (fd_ >= 0) ::close(fd_);
}

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;  // The server has closed: the answer says why.
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string Client::read_answer_or_end() {
  const Answer answer = read();
  return answer.status == 0 ? std::exchange(input_, {}) : answer.head + "\r\n" + answer.body;
}

bool Client::is_closed() const {
  char byte;
  const ssize_t n = ::recv(fd_, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
  return n == 0 || (n < 0 && errno != EAGAIN);
}

void Client::finish_sending() { ::shutdown(fd_, SHUT_WR); }

void Client::reset() {
  const linger at_once{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(std::exchange(fd_, -1));
}

bool Client::receive_more() {
  char bytes[16384];
  const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
  if (n < 0 && errno == EAGAIN) ADD_FAILURE() << "nothing came for 20 s";
  if (n > 0) input_.append(bytes, static_cast<std::size_t>(n));
  return n > 0;
}

Answer Client::read(bool head_only) {
  Answer answer;
  std::size_t end;
  while ((end = input_.find("\r\n\r\n")) == input_.npos) {
    if (!receive_more()) return answer;
  }
  answer.head = input_.substr(0, end + 2);
  input_.erase(0, end + 4);
  answer.status = std::atoi(answer.head.substr(std::min<std::size_t>(9, answer.head.size())).c_str());
  const std::size_t length = head_only ? 0 : std::strtoul(answer.field("content-length").c_str(), nullptr, 10);
  while (input_.size() < length && receive_more()) {}
  answer.body = input_.substr(0, length);
  input_.erase(0, length);
  return answer;
}

Answer Client::ask(std::string_view bytes, bool head_only) {
  send(bytes);
  return read(head_only);
}

Answer Client::get(std::string_view target, std::string_view more) {
  return ask("GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + std::string(more) + "\r\n");
}

std::string Client::read_to_end() {
  errno = 0;
  while (receive_more()) {}
  std::string rest = std::exchange(input_, {});
  return errno == ECONNRESET ? rest + "<reset>" : rest;
}

std::string TestServer::big_file() {
  std::string text(4 << 20, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i / 4096 * 7 + i);
  return text;
}

TestServer::TestServer(const std::string& settings) {
  folder_.write("hot.bin", std::string(12288, 'h'));
  folder_.write("index.html", "<p>index");
  folder_.write("a", "A");
  folder_.write("b", "BB");
  folder_.write("empty", "");
  folder_.write("big", big_file());
  auto setup = std::make_unique<ServerSetup>();
  std::istringstream words("http=127.0.0.1:0 workers=16 docroot=" + folder_.path() + ' ' + settings);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    const auto set = setup->settings.set(word.substr(0, equals), word.substr(equals + 1));
    if (!set) ADD_FAILURE() << set.error().message;
  }
  auto started = Server::start(std::move(setup));
  if (!started) {
    ADD_FAILURE() << started.error().message;
    std::abort();
  }
  server_ = std::move(*started);
}

Answer TestServer::get(std::string_view target) const { return Client(port()).get(target); }

std::uint64_t TestServer::status(const std::string& key) const {
  const std::string text = '\n' + get("/server-status?auto").body;
  const auto at = text.find('\n' + key + ": ");
  return at == text.npos ? ~std::uint64_t{0} : std::strtoull(text.c_str() + at + key.size() + 3, nullptr, 10);
}

std::uint64_t TestServer::pins() const {
  const auto report = parse_lock_report(get("/locks").body);
  return report && report->cache ? report->cache->pins : ~std::uint64_t{0};
}

bool TestServer::becomes_idle() const {
  for (int i = 0; i < 1000; ++i) {
    if (status("ConnsTotal") == 1 && pins() == 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace convoy
