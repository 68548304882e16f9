// server_probe.cc — Whose policy is it? What the driven server says of itself around a run.
// SPDX-License-Identifier: MIT
#include "loadgen/server_probe.h"

#include <algorithm>

#include "common/log.h"
#include "loadgen/clock.h"
#include "loadgen/control_client.h"

namespace convoy {
namespace {

// Counters only rise; a smaller one is that of a server started anew, of which nothing can be said.
std::uint64_t risen(std::uint64_t before, std::uint64_t after) { return after >= before ? after - before : 0; }

Counts difference(const Counts& before, const Counts& after) {
  Counts counts;
  for (const auto& [name, count] : after) {
    const auto old = before.find(name);
    counts[name] = risen(old == before.end() ? 0 : old->second, count);
  }
  return counts;
}

std::vector<Contention> difference(const std::vector<Contention>& before, const std::vector<Contention>& after) {
  std::vector<Contention> sites;
  for (Contention site : after) {
    const auto old = std::find_if(before.begin(), before.end(),
                                  [&](const Contention& b) { return b.lock == site.lock && b.site == site.site; });
    if (old != before.end()) {
      site.acquisitions = risen(old->acquisitions, site.acquisitions);
      site.contended = risen(old->contended, site.contended);
      site.wait_us = std::max(site.wait_us - old->wait_us, 0.0);
      site.hold_us = std::max(site.hold_us - old->hold_us, 0.0);
    }
    sites.push_back(std::move(site));
  }
  return sites;
}

void describe_locks(const LockReport& before, const LockReport& after, Run& run) {
  const auto requests = risen(before.transactions, after.transactions);
  run.server_requests = requests;
  run.policy.emplace();
  run.knobs.emplace();
  run.lock_events.emplace();
  for (const auto& [role, now] : after.classes) {
    const auto found = before.classes.find(role);
    const LockClassReport& old = found == before.classes.end() ? LockClassReport{} : found->second;
    (*run.policy)[role] = old.policy.empty() ? now.policy : old.policy;
    for (const auto& [name, value] : old.policy.empty() ? now.knobs : old.knobs) {
      (*run.knobs)[role + "-lock-" + name] = value;
    }
    (*run.lock_events)[role] = difference(old.events, now.events);
    const auto sites = difference(old.contention, now.contention);
    run.contention.insert(run.contention.end(), sites.begin(), sites.end());
    if (role != "page" || !now.acquisitions || !old.acquisitions) continue;
    if (requests == 0) continue;
    run.acquisitions_per_transaction =
        static_cast<double>(risen(*old.acquisitions, *now.acquisitions)) / static_cast<double>(requests);
  }
  if (!before.convoy || !after.convoy) return;
  const auto slices = risen(before.convoy->slices, after.convoy->slices);
  const auto stood = risen(before.convoy->stood, after.convoy->stood);
  if (slices > 0) run.convoy.stood_share = std::min(1.0, static_cast<double>(stood) / static_cast<double>(slices));
}

}  // namespace

void ServerProbe::meet() {
  const auto report = ask(kNanosPerSecond);
  if (report) server_ = ServerInfo{report->server.name, report->server.version, report->config};
}

std::optional<LockReport> ServerProbe::ask(std::int64_t timeout_ns) const {
  const auto answer = control_request(target_.origin, target_.address, "GET", "/locks", "", timeout_ns);
  if (!answer || answer->status != 200) return std::nullopt;
  auto report = parse_lock_report(answer->body);
  if (report) return std::move(*report);
  // Only something that means to be a lock report deserves a word on what is wrong with it.
  if (answer->body.find("convoy") != std::string::npos) {
    log_warning("GET /locks is not understood, the policy stays unknown: {}", report.error().message);
  }
  return std::nullopt;
}

ServerSnapshot ServerProbe::read() const {
  ServerSnapshot snapshot;
  if (is_convoy()) snapshot.report = ask(2 * kNanosPerSecond);
  if (snapshot.report) {
    const auto& cpu = snapshot.report->cpu;
    snapshot.cpu = ProcessCpu{cpu.user_s, cpu.sys_s, cpu.context_switches};
  } else if (server_pid_) {
    if (const auto cpu = cpu_of_process_tree(*server_pid_)) snapshot.cpu = *cpu;
  }
  return snapshot;
}

void describe_server(const ServerSnapshot& before, const ServerSnapshot& after, std::uint64_t answered, Run& run) {
  if (before.report && after.report && after.report->uptime_s >= before.report->uptime_s) {
    describe_locks(*before.report, *after.report, run);
  }
  if (!before.cpu || !after.cpu) return;
  if (!run.server_requests) run.server_requests = answered;
  run.cpu.server_user_s = std::max(after.cpu->user_s - before.cpu->user_s, 0.0);
  run.cpu.server_sys_s = std::max(after.cpu->sys_s - before.cpu->sys_s, 0.0);
  run.cpu.context_switches = risen(before.cpu->context_switches, after.cpu->context_switches);
}

}  // namespace convoy
