// marks.cc — Changes of a server's settings at set times of a run.
// SPDX-License-Identifier: MIT
#include "loadgen/marks.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/parse.h"
#include "loadgen/clock.h"
#include "loadgen/control_client.h"

namespace convoy {
namespace {

// A server that does not answer a change by then is taken not to have made it.
constexpr std::int64_t kAnswerTimeout = 10 * kNanosPerSecond;

bool is_setting_name(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) || c == '-'; });
}

double number_or(const nlohmann::json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

std::string text_or(const nlohmann::json& object, const char* key, std::string otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return otherwise;
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// Takes over what the server says of the change: times on a clock of its own, of which the differences count.
void read_answer(const std::string& body, MarkOutcome& outcome) {
  const auto answer = nlohmann::json::parse(body, nullptr, false);
  if (!answer.is_object()) return;
  outcome.from = text_or(answer, "from", outcome.from);
  outcome.to = text_or(answer, "to", outcome.to);
  const double asked = number_or(answer, "asked_s", -1);
  if (asked < 0) return;
  outcome.drained_s = outcome.asked_s + number_or(answer, "drained_s", asked) - asked;
  outcome.done_s = outcome.asked_s + number_or(answer, "done_s", asked) - asked;
}

// The sentence in an error answer's body: its "error" or its text, on one line.
std::string reason(const ControlAnswer& answer) {
  const auto json = nlohmann::json::parse(answer.body, nullptr, false);
  if (json.is_object() && json.contains("error")) return text_or(json, "error", "");
  return quote(answer.body.substr(0, answer.body.find('\n')));
}

}  // namespace

Result<MarkOrder> parse_mark(std::string_view text) {
  const auto colon = text.find(':');
  const auto equals = text.find('=', colon == std::string_view::npos ? 0 : colon);
  const auto refused = [&] {
    return fail("{} is not allowed; TIME:NAME=VALUE such as 8s:page-lock-unfairness=0", quote(text));
  };
  if (colon == std::string_view::npos || equals == std::string_view::npos || equals + 1 == text.size())
    return refused();
  const auto at = parse_duration(text.substr(0, colon));
  const auto name = text.substr(colon + 1, equals - colon - 1);
  if (!at || !is_setting_name(name)) return refused();
  return MarkOrder{at->count(), std::string(name), std::string(text.substr(equals + 1))};
}

MarkPlayer::MarkPlayer(const Url& origin, const Address& address, std::vector<MarkOrder> orders)
    : origin_(origin),
      address_(address),
      orders_(std::move(orders)),
      stop_(::eventfd(0, EFD_CLOEXEC)),
      cancel_(::eventfd(0, EFD_CLOEXEC)) {
  std::stable_sort(orders_.begin(), orders_.end(),
                   [](const MarkOrder& a, const MarkOrder& b) { return a.at_ns < b.at_ns; });
}

MarkPlayer::~MarkPlayer() { finish(true); }

void MarkPlayer::start(std::int64_t window_start_ns) {
  if (!orders_.empty()) thread_ = std::thread([this, window_start_ns] { play(window_start_ns); });
}

std::vector<MarkOutcome> MarkPlayer::finish(bool interrupted) {
  if (thread_.joinable()) {
    ::eventfd_write(stop_.get(), 1);
    if (interrupted) ::eventfd_write(cancel_.get(), 1);
    thread_.join();
  }
  for (auto i = outcomes_.size(); i < orders_.size() && !interrupted; ++i) {
    MarkOutcome missed;
    missed.name = orders_[i].name;
    missed.to = orders_[i].value;
    missed.error = "the run ended before its time came";
    outcomes_.push_back(std::move(missed));
  }
  orders_.clear();
  return std::exchange(outcomes_, {});
}

void MarkPlayer::play(std::int64_t window_start_ns) {
  for (const auto& order : orders_) {
    for (;;) {
      const auto left = window_start_ns + order.at_ns - now_ns();
      const timespec limit{std::max<std::int64_t>(left, 0) / kNanosPerSecond,
                           static_cast<long>(std::max<std::int64_t>(left, 0) % kNanosPerSecond)};
      pollfd wait{stop_.get(), POLLIN, 0};
      if (::ppoll(&wait, 1, &limit, nullptr) > 0) return;
      if (now_ns() >= window_start_ns + order.at_ns) break;
    }
    outcomes_.push_back(carry_out(order, window_start_ns));
  }
}

MarkOutcome MarkPlayer::carry_out(const MarkOrder& order, std::int64_t window_start_ns) const {
  MarkOutcome outcome;
  outcome.name = order.name;
  outcome.to = order.value;
  outcome.asked_s = seconds(now_ns() - window_start_ns);
  const auto answer =
      control_request(origin_, address_, "PUT", "/config/" + order.name, order.value, kAnswerTimeout, cancel_.get());
  outcome.drained_s = outcome.done_s = seconds(now_ns() - window_start_ns);
  if (!answer) {
    outcome.error = answer.error().message;
  } else if (answer->status >= 300) {
    outcome.error = fmt::format("the server answered {}: {}", answer->status, reason(*answer));
  } else {
    read_answer(answer->body, outcome);
  }
  return outcome;
}

}  // namespace convoy
