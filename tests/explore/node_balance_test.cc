// node_balance_test.cc — Goal: a lock gives back every spare node that it takes, and tries that fail are no exception.
// SPDX-License-Identifier: MIT
//
// Method: a world that counts them, and every schedule of two threads of which one tries. Only the sum can tell: a node
// that is kept does no harm but to memory.
#include <gtest/gtest.h>

#include <memory>
#include <type_traits>

#include "sim/explore_world.h"
#include "sim/explorer.h"
#include "tests/cells.h"

namespace convoy {
namespace {

struct NodesWorld : ExploreWorld {
  static inline int in_use = 0;
  template <class Node>
  static Node* take_spare() {
    ++in_use;
    return ExploreWorld::take_spare<Node>();
  }
  static void give_spare(auto* node) {
    --in_use;
    ExploreWorld::give_spare(node);
  }
};

template <class Lock>
class OneLocksOneTries : public Scenario {
 public:
  OneLocksOneTries() { NodesWorld::in_use = 0; }
  int threads() const override { return 2; }
  void run(int thread) override {
    if (thread == 0) {
      const Guard<NodesWorld, Lock> guard(lock_, kScenarioSite);
    } else if (const TryGuard<NodesWorld, Lock> guard(lock_, kScenarioSite); !guard) {
      NodesWorld::witness("a try that failed");
    }
  }
  void finish() override { NodesWorld::require(NodesWorld::in_use == 0, "every node that was taken is given back"); }

 private:
  LockClass<NodesWorld> class_{"test"};
  Lock lock_{class_};
};

template <class... Locks>
void explore_all(PolicyList<Locks...>) {
  const auto explore = []<class Lock>(std::type_identity<Lock>) {
    Explorer explorer;
    const Exploration all = explorer.explore([] { return std::make_unique<OneLocksOneTries<Lock>>(); }, {});
    EXPECT_FALSE(all.defect) << Lock::kTraits.name << ": " << all.defect->text << '\n' << all.defect->ladder;
    EXPECT_TRUE(all.exhausted) << Lock::kTraits.name;
    EXPECT_EQ(all.witnesses.size(), 1u) << Lock::kTraits.name << " never refused a try";
  };
  (explore(std::type_identity<Locks>{}), ...);
}

TEST(NodeBalance, every_node_that_was_taken_is_given_back) { explore_all(WorldPolicies<NodesWorld>{}); }

}  // namespace
}  // namespace convoy
