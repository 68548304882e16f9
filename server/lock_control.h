// lock_control.h — The seam between the server and its lock classes: their policies, knobs, report and worker hooks.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/lock_report.h"
#include "common/result.h"
#include "common/settings.h"
#include "locks/quiescence.h"
#include "server/config.h"
#include "server/server_locks.h"
#include "server/worker_pool.h"

namespace convoy {

// Owns the classes: they outlive every lock of the server.
class LockControl {
 public:
  // Adds the knobs of the lock classes to the settings: knob K of role R is `R-lock-K`. `this` outlives them.
  void add_settings(Settings& settings);

  // Brings `config` into force before the first lock is built. Errors: a policy does not fit its role, or does not have
  // a knob that was set to something else than its default.
  Result<void> start(const ServerConfig& config);

  // Each worker is a member and runs its requests inside. After start().
  Quiescence<RealWorld>& regions() { return *regions_; }

  // `reset(position)` gives every page lock there is the policy at that position of PagePolicies; called by swap_page()
  // while nobody is in a region.
  void own_page_locks(std::function<void(std::uint8_t position)> reset) { reset_page_locks_ = std::move(reset); }

  // Changes the policy of the page lock to `policy` (its name) while nobody is in a region; calls at_rest() just
  // before. Called by `worker` inside its region; blocks up to `patience`. Errors, after which nothing has changed: the
  // name is not known, another swap or a request did not end in time (who, and where it waits). Behind another swap the
  // worker is left outside, see Quiescence::run().
  Result<void> swap_page(std::string_view policy, std::uint32_t worker, Duration patience,
                         const std::function<void()>& at_rest);

  // What to say of the setting `key` when it is a knob that the present policy of its role does not have.
  struct IdleKnob {
    std::string sentence;  // names the policy, and those that have the knob
    bool for_good;         // the role keeps its policy, so that the knob can never have an effect
  };
  std::optional<IdleKnob> idle_knob(std::string_view key) const;

  // Brings a live change of `config` into force. A knob of a class is in force as soon as its setting is stored.
  void apply(const ServerConfig& config);

  // Called first by each worker: tells the lock world whom to ask when the thread parks.
  void worker_started(const WorkerHooks& hooks);

  // Called every 100 ms: notes whether a convoy stood on the page lock since the last call. One thread.
  void sample_convoy();

  LockClasses& classes() { return classes_; }

  // The lock classes by role, as GET /locks shows them. Any thread.
  std::map<std::string, LockClassReport> report() const;
  ConvoySlices convoy() const;

  // The table that --list-policies prints.
  static std::string list_policies();

 private:
  struct Role {
    std::string_view name;
    const LockClass<RealWorld>& lock_class;
    std::vector<PolicyTraits> policies;  // in the order of its list
    bool swaps;                          // the policy can change while the server runs

    const PolicyTraits& traits() const { return policies[lock_class.policy()]; }
    std::string_view policy() const { return traits().name; }
  };

  std::vector<Role> roles() const;
  std::string who_is_inside() const;

  LockClasses classes_;
  std::unique_ptr<Quiescence<RealWorld>> regions_;
  std::vector<Thread> threads_;  // by worker; written by each before its first request
  std::function<void(std::uint8_t)> reset_page_locks_;
  std::uint64_t last_slow_ = 0;
  std::uint64_t last_handoffs_ = 0;
  mutable std::mutex convoy_mutex_;
  ConvoySlices convoy_;  // guarded by convoy_mutex_
};

}  // namespace convoy
