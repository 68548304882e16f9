// http_runner.cc — Runs of HTTP load as rows of a result.
// SPDX-License-Identifier: MIT
#include "loadgen/http_runner.h"

#include <ctime>
#include <utility>

#include "common/log.h"
#include "loadgen/clock.h"
#include "loadgen/control_client.h"
#include "loadgen/http_result.h"

namespace convoy {

Result<void> HttpRunner::meet_server() {
  if (auto ok = wait_until_reachable(target_.origin, target_.address, kNanosPerSecond); !ok) return ok;
  probe_.meet();
  return {};
}

Result<HttpRunReport> HttpRunner::run(HttpRunOrder order) {
  order.load.target = &target_;
  ServerSnapshot before, after;
  HttpRunReport report;
  MarkPlayer marks(target_.origin, target_.address, std::move(order.marks));

  HttpLoadHooks hooks;
  hooks.before_load = [&] { before = probe_.read(); };
  hooks.window_open = [&](std::int64_t start_ns) {
    report.run.started_at = utc_text(std::time(nullptr));
    progress_.begin_run(order.load.users, start_ns);
    marks.start(start_ns);
  };
  hooks.after_load = [&] { after = probe_.read(); };
  hooks.tick = [&](std::uint64_t transactions) { progress_.tick(transactions); };

  auto outcome = run_http_load(order.load, hooks);
  if (!outcome) return tl::unexpected(outcome.error());
  report.interrupted = outcome->interrupted;
  if (report.run.started_at.empty()) report.run.started_at = utc_text(std::time(nullptr));
  report.run.label = order.label;
  report.run.case_label = order.case_label;
  report.run.repeat = order.repeat;
  describe_outcome(order.load, *outcome, report.run);
  describe_server(before, after, outcome->tally.answered, report.run);
  for (const auto& mark : marks.finish(outcome->interrupted)) {
    if (!mark.error.empty()) {
      report.marks_failed = true;
      log_error("--at: {}={} failed: {}", mark.name, mark.to, mark.error);
      continue;
    }
    report.run.marks.push_back({mark.name, mark.from, mark.to, mark.asked_s, mark.drained_s, mark.done_s});
  }
  warn_of_doubts(order.load, *outcome, report.run);
  if (outcome->tally.connections_opened == 0 && !outcome->interrupted) {
    return fail("no connection to {}:{} was established in {:.1f} s", target_.origin.host, target_.origin.port,
                report.run.duration_s);
  }
  return report;
}

}  // namespace convoy
