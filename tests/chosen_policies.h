// chosen_policies.h — Which policies a file of cells is compiled for: all, a part of them, or those that are named.
// SPDX-License-Identifier: MIT
//
// Every policy times every scenario is much for one compilation, and a twin or a mutant needs few of them. The build
// defines CONVOY_PART and CONVOY_PARTS (every CONVOY_PARTS-th policy), or CONVOY_ONLY (names as the files are called,
// with a comma before and behind each: ",rwsem,rwsem_3_12,").
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>

#include "locks/any_lock.h"
#include "locks/policies.h"

namespace convoy {

// Whether a list of names has this policy's.
constexpr bool is_named(std::string_view policy, std::string_view list) {
  for (std::size_t at = 0; at < list.size(); ++at) {
    if (list[at] != ',' || list.size() - at < policy.size() + 2 || list[at + 1 + policy.size()] != ',') continue;
    std::size_t same = 0;
    while (same < policy.size()) {
      const char c = policy[same] == '-' || policy[same] == '.' ? '_' : policy[same];
      if (list[at + 1 + same] != c) break;
      ++same;
    }
    if (same == policy.size()) return true;
  }
  return false;
}

template <class Policy, std::size_t kPosition>
constexpr bool is_chosen() {
#if defined(CONVOY_ONLY)
  return is_named(Policy::kTraits.name, CONVOY_ONLY);
#elif defined(CONVOY_PART)
  return kPosition % CONVOY_PARTS == CONVOY_PART;
#else
  return true;
#endif
}

namespace detail {
template <class... Ps, std::size_t... I>
auto choose(PolicyList<Ps...>, std::index_sequence<I...>)
    -> decltype((PolicyList<>{} + ... + KeptOrNothing<is_chosen<Ps, I>(), Ps>{}));
template <class... Ps>
auto choose(PolicyList<Ps...> all) -> decltype(choose(all, std::index_sequence_for<Ps...>{}));
}  // namespace detail

// The chosen policies of a list, in its order.
template <class List>
using Chosen = decltype(detail::choose(List{}));

}  // namespace convoy
