// request_handler.h — From a request to an answer: a file, a control page, or a refusal.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "common/result.h"
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

  // What becomes of the connection.
  enum class Then : std::uint8_t {
    kKeepOpen,
    kClose,
    kAskAgain,  // nothing was answered: every page of the cache is in use
  };
  struct Circumstances {
    bool server_stops = false;
    bool may_wait = false;  // for a page; else a request that finds none is refused
  };

  // Prepares the answer to `request` in `out`, with the first pages of a file mapped. Counts it in `state`.
  Then answer(const Request& request, Circumstances now, WorkerState& state, Outgoing& out) const;

  // Prepares the answer to a request that could not be read. The connection closes after it.
  void refuse(const ParseError& error, WorkerState& state, Outgoing& out) const;

 private:
  // Why a file is not sent, as the client is told; without an answer while it may wait for a page.
  using Refusal = std::optional<TextAnswer>;

  tl::expected<void, Refusal> answer_file(const Request& request, Persistence persistence, bool may_wait,
                                          WorkerState& state, Outgoing& out) const;

  Docroot& docroot_;
  const ControlPages control_;
};

}  // namespace convoy
