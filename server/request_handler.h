// request_handler.h — From a request to an answer: a file, a control page, or a refusal.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "server/docroot.h"
#include "server/http_parser.h"
#include "server/outgoing.h"
#include "server/response.h"
#include "server/worker_state.h"

namespace convoy {

// Answers a request to `path` on `worker` when it names a control page ("locks", "config/NAME", ...); nothing for any
// other path.
using ControlPages =
    std::function<std::optional<TextAnswer>(const Request& request, std::string_view path, std::uint32_t worker)>;

// Runs on workers; thread-safe.
class RequestHandler {
 public:
  RequestHandler(Docroot& docroot, ControlPages control) : docroot_(docroot), control_(std::move(control)) {}

  // Prepares the answer to `request` in `out`, with the first pages of a file mapped. Counts it in `state`.
  // Returns whether the connection stays open after it.
  bool answer(const Request& request, bool server_stops, WorkerState& state, Outgoing& out) const;

  // Prepares the answer to a request that could not be read. The connection closes after it.
  void refuse(const ParseError& error, WorkerState& state, Outgoing& out) const;

 private:
  std::optional<TextAnswer> answer_file(const Request& request, Persistence persistence, WorkerState& state,
                                        Outgoing& out) const;

  Docroot& docroot_;
  const ControlPages control_;
};

}  // namespace convoy
