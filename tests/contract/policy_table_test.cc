// policy_table_test.cc — Goal: the table of policies in locks/README.md is true. Method: it is made anew and compared.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "locks/policies.h"
#include "tests/counting_world.h"

namespace convoy {
namespace {

std::string knobs_of(const PolicyTraits& traits) {
  std::string knobs;
  for (const Knob knob : traits.knobs) {
    knobs +=
        (knobs.empty() ? "`" : ", `") + std::string(info(knob).name) + "` " + std::to_string(info(knob).default_value);
  }
  return knobs;
}

std::string costs_of(const PolicyTraits& traits) {
  static const auto costs = lock_costs();
  const auto cost = costs.find(traits.name);
  if (cost == costs.end()) return "";
  const std::string exclusive = std::to_string(cost->second.exclusive);
  return cost->second.shared ? exclusive + ", " + std::to_string(*cost->second.shared) : exclusive;
}

template <class P>
std::string line_of() {
  const PolicyTraits& traits = P::kTraits;
  std::ostringstream line;
  line << "| `" << traits.name << "` | " << name_of(traits.kind) << " | " << traits.fairness << " | "
       << knobs_of(traits) << " | " << costs_of(traits) << " | " << sizeof(P) << " | " << traits.origin << " |\n";
  return line.str();
}

template <class... Ps>
std::string table_of(PolicyList<Ps...>) {
  return "| policy | kind | fairness | knobs | RMW | bytes | origin |\n|---|---|---|---|---|---|---|\n" +
         (line_of<Ps>() + ...);
}

TEST(PolicyTable, the_readme_shows_what_the_policies_say_and_cost) {
  std::ostringstream readme;
  readme << std::ifstream("locks/README.md").rdbuf();
  const std::string table = table_of(AllPolicies<RealWorld>{});
  EXPECT_NE(readme.str().find("\n\n" + table + "\n"), std::string::npos)
      << "locks/README.md must have this table, and between its lines nothing else:\n"
      << table;
}

}  // namespace
}  // namespace convoy
