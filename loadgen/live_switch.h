// live_switch.h — Takes a running Convoy server from policy to policy, for sweeps with switch = "live".
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "common/result.h"
#include "loadgen/sweep_file.h"
#include "loadgen/target.h"

namespace convoy {

// Not thread-safe.
class LiveSwitch {
 public:
  // Asks the server at `target` for the present value of every setting that one of `policies` names: what a policy does
  // not name has that value. Errors: no answer, a setting that it does not know or that can be chosen at the start
  // only.
  static Result<LiveSwitch> begin(const Target& target, const std::vector<SweepPolicy>& policies);

  // Changes what differs. Errors: the server refuses a value, with its sentence; it may then have taken others.
  Result<void> apply(const SweepPolicy& policy);

 private:
  explicit LiveSwitch(const Target& target) : target_(&target) {}

  const Target* target_;
  ServerSettings at_first_;
  ServerSettings now_;
};

}  // namespace convoy
