// response.cc — Status line and header lines.
// SPDX-License-Identifier: MIT
#include "server/response.h"

#include <fmt/format.h>

#include <iterator>

#include "server/http_text.h"

namespace convoy {
namespace {

std::string_view connection_line(Persistence persistence) {
  switch (persistence) {
    case Persistence::kKeepSaid:
      return "Connection: keep-alive\r\n";
    case Persistence::kClose:
      return "Connection: close\r\n";
    case Persistence::kKeepSilently:
      break;
  }
  return {};
}

}  // namespace

Persistence persistence_of(const Request& request, bool server_stops) {
  if (server_stops || !request.keep_alive) return Persistence::kClose;
  return request.version_minor == 0 ? Persistence::kKeepSaid : Persistence::kKeepSilently;
}

void write_file_head(std::string& out, const OpenFile& file, Persistence persistence) {
  out.assign("HTTP/1.1 200 OK\r\nDate: ");
  out.append(http_date_now()).append("\r\n").append(file.headers());
  out.append(connection_line(persistence)).append("\r\n");
}

TextAnswer plain_answer(int status, std::string_view detail) {
  TextAnswer answer;
  answer.status = status;
  answer.body = fmt::format("{} {}: {}\n", status, reason_phrase(status), detail);
  return answer;
}

void write_text(std::string& out, const TextAnswer& answer, Persistence persistence, bool head_only) {
  out.clear();
  auto end = std::back_inserter(out);
  fmt::format_to(end, "HTTP/1.1 {} {}\r\nDate: {}\r\nServer: {}\r\n", answer.status, reason_phrase(answer.status),
                 http_date_now(), kServerName);
  if (!answer.allow.empty()) fmt::format_to(end, "Allow: {}\r\n", answer.allow);
  if (answer.status == 503) fmt::format_to(end, "Retry-After: 1\r\n");
  fmt::format_to(end, "Content-Length: {}\r\nContent-Type: {}\r\n{}\r\n", answer.body.size(), answer.content_type,
                 connection_line(persistence));
  if (!head_only) out.append(answer.body);
}

}  // namespace convoy
