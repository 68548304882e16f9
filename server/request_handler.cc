// request_handler.cc — Files, control pages, refusals.
// SPDX-License-Identifier: MIT
#include "server/request_handler.h"

#include <utility>

#include "server/url_path.h"

namespace convoy {
namespace {

std::string_view detail_of(int status) {
  switch (status) {
    case 403:
      return "this path is not served";
    case 404:
      return "no such file";
    case 503:
      return "too many open files, or a file that is being written";
    default:
      return "";
  }
}

}  // namespace

RequestHandler::Then RequestHandler::answer(const Request& request, Circumstances now, WorkerState& state,
                                            Outgoing& out) const {
  out.reset();
  const Persistence persistence = persistence_of(request, now.server_stops);
  const Then then = persistence == Persistence::kClose ? Then::kClose : Then::kKeepOpen;
  const bool head_only = request.method == Method::kHead;
  std::optional<TextAnswer> text;
  if (!url_to_path(request.target, state.path)) {
    text = plain_answer(400, "a path that cannot be decoded or leaves the root");
  } else if (control_ && (text = control_(request, state.path, state.worker))) {
    write_text(out.head(), *text, persistence, head_only);
    return then;
  } else if (request.method != Method::kGet && !head_only) {
    text = plain_answer(405, "files take GET and HEAD");
    text->allow = "GET, HEAD";
  } else if (auto begun = answer_file(request, persistence, now.may_wait, state, out); !begun) {
    out.reset();
    if (!begun.error()) return Then::kAskAgain;
    text = std::move(begun.error());
  }
  if (text) {
    write_text(out.head(), *text, persistence, head_only);
    state.bytes.add(head_only ? 0 : text->body.size());
  }
  state.requests.add(1);
  return then;
}

// Puts the file's head and its first window into `out`.
tl::expected<void, RequestHandler::Refusal> RequestHandler::answer_file(const Request& request, Persistence persistence,
                                                                        bool may_wait, WorkerState& state,
                                                                        Outgoing& out) const {
  const auto refuse = [](int status, std::string_view detail) {
    return tl::unexpected<Refusal>(plain_answer(status, detail));
  };
  FoundFile found = docroot_.find(state.path, state.memo);
  for (int attempt = 0;; ++attempt) {
    if (found.file == nullptr) return refuse(found.status, detail_of(found.status));
    if (request.method == Method::kHead) break;
    out.set_file(found.file);
    if (auto mapped = out.map_window(); mapped) {
      state.bytes.add(found.file->size());
      break;
    } else if (mapped.error().kind == PageError::Kind::kUnreadable) {
      return refuse(500, mapped.error().message);
    } else if (mapped.error().kind == PageError::Kind::kFull && may_wait) {
      return tl::unexpected<Refusal>(std::nullopt);
    } else if (attempt == 1 || mapped.error().kind == PageError::Kind::kFull) {
      return refuse(503, mapped.error().message);
    }
    // A file that changed since it was opened: look at the disk again, once.
    found = docroot_.find_again(state.path, state.memo);
  }
  write_file_head(out.head(), *found.file, persistence);
  return {};
}

void RequestHandler::refuse(const ParseError& error, WorkerState& state, Outgoing& out) const {
  out.reset();
  TextAnswer text = plain_answer(error.status, error.reason);
  if (error.status == 405) text.allow = "GET, HEAD, PUT";
  state.requests.add(1);
  state.bytes.add(text.body.size());
  write_text(out.head(), text, Persistence::kClose, false);
}

}  // namespace convoy
