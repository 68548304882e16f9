// response.h — The head of an answer, and answers that are small texts.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "server/http_parser.h"
#include "server/open_file.h"

namespace convoy {

// How the connection goes on after an answer, as the answer says it. HTTP/1.1 keeps it open without a word; HTTP/1.0
// only where the client asked and the answer says so (ab -k waits for it).
enum class Persistence { kKeepSilently, kKeepSaid, kClose };

Persistence persistence_of(const Request& request, bool server_stops);

// Writes the head of a 200 for all of `file` into `out`.
void write_file_head(std::string& out, const OpenFile& file, Persistence persistence);

// A small answer made in memory.
struct TextAnswer {
  int status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";  // static storage
  std::string body;
  std::string_view allow;  // the Allow line of a 405; static storage
};

// An answer that says what `status` means, and `detail`.
TextAnswer plain_answer(int status, std::string_view detail);

// Writes head and body into `out`, a 503 with `Retry-After: 1`; only the head, unchanged, when the request was a HEAD.
void write_text(std::string& out, const TextAnswer& answer, Persistence persistence, bool head_only);

}  // namespace convoy
