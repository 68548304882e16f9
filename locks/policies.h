// policies.h — Every policy, one line each, and which role takes which.
// SPDX-License-Identifier: MIT
//
// A line here puts a policy into AnyLock, --list-policies, the test suites and the server's roles.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "any_lock.h"
#include "barging.h"
#include "bounded.h"
#include "eventual.h"
#include "handoff.h"
#include "lockable.h"
#include "mcs.h"
#include "mutex.h"
#include "mutex_3_12.h"
#include "qrwlock.h"
#include "qrwlock_2013.h"
#include "qspinlock.h"
#include "rwlock_3_12.h"
#include "rwsem.h"
#include "rwsem_3_12.h"
#include "rwsem_restored.h"
#include "rwsem_transfer.h"
#include "std_mutex.h"
#include "std_shared_mutex.h"
#include "tas.h"
#include "ticket.h"
#include "ttas.h"

namespace convoy {

// Run in every world. The first is the default of the page role, and the cheapest to reach in an AnyLock.
template <World W>
using WorldPolicies = PolicyList<Bounded<W>,        //
                                 Barging<W>,        //
                                 Handoff<W>,        //
                                 Eventual<W>,       //
                                 Tas<W>,            //
                                 Ttas<W>,           //
                                 Ticket<W>,         //
                                 Mcs<W>,            //
                                 Qspinlock<W>,      //
                                 Mutex<W>,          //
                                 Mutex312<W>,       //
                                 Rwlock312<W>,      //
                                 Qrwlock2013<W>,    //
                                 Qrwlock<W>,        //
                                 Rwsem<W>,          //
                                 RwsemTransfer<W>,  //
                                 RwsemRestored<W>,  //
                                 Rwsem312<W>>;

// Baselines of the C++ library, on real threads only.
using StdPolicies = PolicyList<StdMutex,  //
                               StdSharedMutex>;

namespace detail {

template <class... As, class... Bs>
PolicyList<As..., Bs...> operator+(PolicyList<As...>, PolicyList<Bs...>);

template <bool kKeep, class P>
using KeptOrNothing = std::conditional_t<kKeep, PolicyList<P>, PolicyList<>>;

template <class P>
inline constexpr bool kFitsPage = PageLockable<P> && !SharedLockable<P>;

template <class List>
struct Keep;
template <class... Ps>
struct Keep<PolicyList<Ps...>> {
  using Page = decltype((PolicyList<>{} + ... + KeptOrNothing<kFitsPage<Ps>, Ps>{}));
  using Shared = decltype((PolicyList<>{} + ... + KeptOrNothing<SharedLockable<Ps>, Ps>{}));
  using Exclusive = decltype((PolicyList<>{} + ... + KeptOrNothing<!SharedLockable<Ps>, Ps>{}));
};

template <World W>
struct PoliciesOf {
  using Type = WorldPolicies<W>;
};
template <>
struct PoliciesOf<RealWorld> {
  using Type = decltype(WorldPolicies<RealWorld>{} + StdPolicies{});
};

}  // namespace detail

template <World W>
using AllPolicies = typename detail::PoliciesOf<W>::Type;

// page: every exclusive policy that can say whether it is locked. lru: every exclusive one. mapping: the shared ones
// first, then the exclusive ones with shared = exclusive.
template <World W>
using PagePolicies = typename detail::Keep<AllPolicies<W>>::Page;
template <World W>
using LruPolicies = typename detail::Keep<AllPolicies<W>>::Exclusive;
template <World W>
using MappingPolicies = decltype(detail::operator+(typename detail::Keep<AllPolicies<W>>::Shared{},
                                                   typename detail::Keep<AllPolicies<W>>::Exclusive{}));

template <class... Ps>
std::vector<PolicyTraits> traits_of(PolicyList<Ps...>) {
  return {Ps::kTraits...};
}

// The position of a policy in a list, as LockClass::set_policy takes it.
template <class List>
std::optional<std::uint8_t> find_policy(std::string_view name) {
  std::uint8_t position = 0;
  for (const PolicyTraits& traits : traits_of(List{})) {
    if (traits.name == name) return position;
    ++position;
  }
  return std::nullopt;
}

static_assert(World<RealWorld> && Host<RealWorld>);
static_assert(PageLockable<Bounded<RealWorld>> && TimedLockable<Bounded<RealWorld>>);
static_assert(PageLockable<Barging<RealWorld>> && TimedLockable<Barging<RealWorld>>);
static_assert(PageLockable<Handoff<RealWorld>> && TimedLockable<Handoff<RealWorld>>);
static_assert(PageLockable<Eventual<RealWorld>> && TimedLockable<Eventual<RealWorld>>);
static_assert(PageLockable<Tas<RealWorld>> && PageLockable<Ttas<RealWorld>>);
static_assert(PageLockable<Ticket<RealWorld>> && PageLockable<Mcs<RealWorld>>);
static_assert(PageLockable<Qspinlock<RealWorld>>);
static_assert(SharedLockable<Rwlock312<RealWorld>> && SharedLockable<Qrwlock2013<RealWorld>>);
static_assert(SharedLockable<Qrwlock<RealWorld>> && SharedLockable<StdSharedMutex>);
static_assert(SharedTimedLockable<Rwsem<RealWorld>> && TimedLockable<Rwsem<RealWorld>>);
static_assert(SharedTimedLockable<RwsemTransfer<RealWorld>> && TimedLockable<RwsemTransfer<RealWorld>>);
static_assert(SharedTimedLockable<RwsemRestored<RealWorld>> && TimedLockable<RwsemRestored<RealWorld>>);
static_assert(PageLockable<Mutex<RealWorld>> && TimedLockable<Mutex<RealWorld>>);
static_assert(PageLockable<Mutex312<RealWorld>> && TimedLockable<Mutex312<RealWorld>>);
static_assert(sizeof(AnyLock<RealWorld, PagePolicies<RealWorld>>) <= 48, "a folio carries one");
static_assert(SharedTimedLockable<Rwsem312<RealWorld>> && TimedLockable<Rwsem312<RealWorld>>);
static_assert(sizeof(Rwsem<RealWorld>) == 48, "the kernel's 40 bytes and the class: one line");

}  // namespace convoy
