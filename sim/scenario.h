// scenario.h — A few threads with something to claim: the same body for real threads and for the explorer.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

namespace convoy {

// Built anew for each run. Its objects live in it, not on the stacks of its threads, which the explorer may abandon.
class Scenario {
 public:
  virtual ~Scenario() = default;
  virtual int threads() const = 0;
  virtual void run(int thread) = 0;  // called once by each thread, 0 to threads() - 1
  virtual void check() const {}      // claims what holds between any two steps; must not wait
  virtual void finish() {}           // after all threads have ended: claims what must hold then
};

using ScenarioFactory = std::function<std::unique_ptr<Scenario>()>;

}  // namespace convoy
