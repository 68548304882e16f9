// lock_control.cc — Policies, knobs and counters of the server's lock classes.
// SPDX-License-Identifier: MIT
#include "server/lock_control.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace convoy {
namespace {

using RealClass = LockClass<RealWorld>;

std::vector<std::string> names_of(const std::vector<PolicyTraits>& all) {
  std::vector<std::string> names;
  for (const PolicyTraits& traits : all) names.emplace_back(traits.name);
  return names;
}

bool has(const std::vector<PolicyTraits>& all, std::string_view name) {
  for (const PolicyTraits& traits : all) {
    if (traits.name == name) return true;
  }
  return false;
}

std::vector<PolicyTraits> page_traits() { return traits_of(PagePolicies<RealWorld>{}); }
std::vector<PolicyTraits> mapping_traits() { return traits_of(MappingPolicies<RealWorld>{}); }
std::vector<PolicyTraits> lru_traits() { return traits_of(LruPolicies<RealWorld>{}); }

template <class List>
Result<void> choose(RealClass& lock_class, std::string_view key, std::string_view name) {
  const auto position = find_policy<List>(name);
  if (!position) return fail("{}: no policy '{}' fits this role", key, name);
  lock_class.set_policy(*position);
  return {};
}

std::uint64_t slow_acquisitions(const RealClass& lock_class) {
  return lock_class.total(Event::kPageLockLate) + lock_class.total(Event::kPageLockWoken) +
         lock_class.total(Event::kPageLockHandoff);
}

LockClassReport report_of(const RealClass& lock_class, const PolicyTraits& traits) {
  LockClassReport report;
  report.policy = traits.name;
  for (const Knob knob : traits.knobs) report.knobs[std::string(info(knob).name)] = lock_class.knob(knob);
  // All that the policy counts, and no other's: the class may have had another one before.
  for (std::size_t i = 0; i < kEventCount; ++i) {
    if (traits.counts(kEvents[i].name))
      report.events[std::string(kEvents[i].name)] = lock_class.total(static_cast<Event>(i));
  }
  if (traits.kind == Kind::kPageLock)
    report.acquisitions = lock_class.total(Event::kPageLockFast) + slow_acquisitions(lock_class);
  return report;
}

std::string knob_key(std::string_view role, Knob knob) { return fmt::format("{}-lock-{}", role, info(knob).name); }

void add_knobs(Settings& settings, std::string_view role, LockClass<RealWorld>& lock_class) {
  for (std::size_t i = 0; i < kKnobCount; ++i) {
    const Knob knob = static_cast<Knob>(i);
    const KnobInfo& about = info(knob);
    const Range<std::uint32_t> range{about.minimum, about.maximum};
    Setting setting;
    setting.key = knob_key(role, knob);
    if (knob == Knob::kUnfairness && role == "page") setting.alias = about.name;
    setting.value_name = "N";
    setting.default_text = fmt::format("{}", about.default_value);
    setting.allowed_text = SettingKind<std::uint32_t>::allowed_text(range);
    setting.when = about.live ? When::kLive : When::kStart;
    setting.sentence = about.sentence;
    setting.set = [&lock_class, knob, range](std::string_view text) -> Result<void> {
      std::uint32_t value = 0;
      if (const auto read = SettingKind<std::uint32_t>::read(text, range, value); !read) return read;
      lock_class.set_knob(knob, value);
      return {};
    };
    setting.get = [&lock_class, knob] { return fmt::format("{}", lock_class.knob(knob)); };
    settings.add(std::move(setting));
  }
}

bool has_knob(const PolicyTraits& traits, Knob knob) {
  return std::find(traits.knobs.begin(), traits.knobs.end(), knob) != traits.knobs.end();
}

// Says that `policy` does not have the knob, and which of its role do; nothing when it has it.
std::optional<std::string> lacks_knob(std::string_view role, std::string_view policy,
                                      const std::vector<PolicyTraits>& of_role, Knob knob) {
  std::vector<std::string_view> having;
  for (const PolicyTraits& traits : of_role) {
    if (has_knob(traits, knob)) having.push_back(traits.name);
  }
  if (std::find(having.begin(), having.end(), policy) != having.end()) return std::nullopt;
  return fmt::format("{}-lock {} has no knob {}; policies that have it: {}", role, policy, info(knob).name,
                     having.empty() ? "none" : fmt::format("{}", fmt::join(having, ", ")));
}

// A site's name begins with the role of its lock: page_fill_read.
std::string_view class_of(std::string_view site) { return site.substr(0, site.find('_')); }

}  // namespace

std::vector<std::string> page_policies() { return names_of(page_traits()); }
std::vector<std::string> mapping_policies() { return names_of(mapping_traits()); }
std::vector<std::string> lru_policies() { return names_of(lru_traits()); }

void LockControl::add_settings(Settings& settings) {
  add_knobs(settings, "page", classes_.page);
  add_knobs(settings, "mapping", classes_.mapping);
  add_knobs(settings, "lru", classes_.lru);
}

Result<void> LockControl::start(const ServerConfig& config) {
  if (auto done = choose<PagePolicies<RealWorld>>(classes_.page, "page-lock", config.page_lock); !done) return done;
  if (auto done = choose<MappingPolicies<RealWorld>>(classes_.mapping, "mapping-lock", config.mapping_lock); !done)
    return done;
  if (auto done = choose<LruPolicies<RealWorld>>(classes_.lru, "lru-lock", config.lru_lock); !done) return done;
  // A knob that does nothing would be taken for one that makes no difference.
  for (const Role& role : roles()) {
    for (std::size_t i = 0; i < kKnobCount; ++i) {
      const Knob knob = static_cast<Knob>(i);
      const std::uint32_t value = role.lock_class.knob(knob);
      if (value == info(knob).default_value) continue;
      const auto lacks = lacks_knob(role.name, role.policy(), role.policies, knob);
      if (lacks) return fail("{}: {} has no effect: {}", knob_key(role.name, knob), value, *lacks);
    }
  }
  regions_ = std::make_unique<Quiescence<RealWorld>>(config.workers);
  threads_.resize(config.workers);
  apply(config);
  return {};
}

std::vector<LockControl::Role> LockControl::roles() const {
  return {{"page", classes_.page, page_traits(), true},
          {"mapping", classes_.mapping, mapping_traits(), false},
          {"lru", classes_.lru, lru_traits(), false}};
}

std::optional<LockControl::IdleKnob> LockControl::idle_knob(std::string_view key) const {
  for (const Role& role : roles()) {
    for (std::size_t i = 0; i < kKnobCount; ++i) {
      const Knob knob = static_cast<Knob>(i);
      if (key != knob_key(role.name, knob)) continue;
      auto lacks = lacks_knob(role.name, role.policy(), role.policies, knob);
      if (!lacks) return std::nullopt;
      return IdleKnob{std::move(*lacks), !role.swaps};
    }
  }
  return std::nullopt;
}

Result<void> LockControl::swap_page(std::string_view policy, std::uint32_t worker, Duration patience,
                                    const std::function<void()>& at_rest) {
  using Outcome = Quiescence<RealWorld>::Outcome;
  const auto position = find_policy<PagePolicies<RealWorld>>(policy);
  if (!position) return fail("no policy '{}' fits this role", policy);
  const auto deadline = RealWorld::deadline_in(static_cast<std::uint64_t>(patience.count()));
  std::string inside;
  const auto outcome = regions_->run(
      worker, deadline,
      [&] {
        at_rest();
        reset_page_locks_(*position);
        classes_.page.set_policy(*position);
      },
      [&] { inside = who_is_inside(); });
  switch (outcome) {
    case Outcome::kDone:
      return {};
    case Outcome::kBusy:
      return fail("another change of a policy did not end within swap-timeout, {}", format_duration(patience));
    case Outcome::kOccupied:
      break;
  }
  return fail("after swap-timeout, {}, still inside a request: {}", format_duration(patience), inside);
}

// "worker 3 at page_fill_read (class page), ...": whom a swap waited for in vain, and where they were last.
std::string LockControl::who_is_inside() const {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> named;
  std::size_t count = 0;
  for (std::uint32_t worker = 0; worker < regions_->members(); ++worker) {
    if (!regions_->is_inside(worker) || ++count > kMostNamed) continue;
    const Site* const site = RealWorld::site_of(threads_[worker]);
    named.push_back(site == nullptr
                        ? fmt::format("worker {} before its first lock", worker)
                        : fmt::format("worker {} at {} (class {})", worker, site->name, class_of(site->name)));
  }
  if (count > kMostNamed) named.push_back(fmt::format("and {} more", count - kMostNamed));
  return fmt::format("{}", fmt::join(named, ", "));
}

void LockControl::apply(const ServerConfig& config) {
  RealWorld::tuning().yield_after.store(config.yield_after, std::memory_order_relaxed);
}

void LockControl::worker_started(const WorkerHooks& hooks) {
  threads_[hooks.worker] = RealWorld::self();
  RealWorld::set_park_hooks({
      .about_to_park = [](void* pool) { WorkerHooks::about_to_park(static_cast<WorkerPool*>(pool)); },
      .resumed = [](void* pool) { WorkerHooks::resumed(static_cast<WorkerPool*>(pool)); },
      .context = hooks.pool,
  });
}

void LockControl::sample_convoy() {
  const std::uint64_t slow = slow_acquisitions(classes_.page);
  const std::uint64_t handoffs = classes_.page.total(Event::kPageLockHandoff);
  const bool stood = 2 * (handoffs - last_handoffs_) > slow - last_slow_;
  last_slow_ = slow;
  last_handoffs_ = handoffs;
  const std::lock_guard guard(convoy_mutex_);
  ++convoy_.slices;
  if (stood) ++convoy_.stood;
}

ConvoySlices LockControl::convoy() const {
  const std::lock_guard guard(convoy_mutex_);
  return convoy_;
}

std::map<std::string, LockClassReport> LockControl::report() const {
  std::map<std::string, LockClassReport> report;
  for (const Role& role : roles()) report[std::string(role.name)] = report_of(role.lock_class, role.traits());
  return report;
}

std::string LockControl::list_policies() {
  std::vector<std::array<std::string, 5>> rows{{"policy", "kind", "roles", "knobs (default)", "origin"}};
  for (const PolicyTraits& traits : traits_of(AllPolicies<RealWorld>{})) {
    std::vector<std::string> roles, knobs;
    if (has(page_traits(), traits.name)) roles.push_back("page");
    if (has(mapping_traits(), traits.name)) roles.push_back("mapping");
    if (has(lru_traits(), traits.name)) roles.push_back("lru");
    for (const Knob knob : traits.knobs)
      knobs.push_back(fmt::format("{} 0..{} ({})", info(knob).name, info(knob).maximum, info(knob).default_value));
    rows.push_back(
        {std::string(traits.name), std::string(name_of(traits.kind)),
         roles.empty() ? "-" : fmt::format("{}", fmt::join(roles, " ")),
         knobs.empty() ? "-" : fmt::format("{}", fmt::join(knobs, ", ")),
         fmt::format("{}{}", traits.origin, traits.needs_core_per_thread ? "; needs a core per thread" : "")});
  }
  std::array<std::size_t, 4> widths{};
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < widths.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < widths.size(); ++c) text += fmt::format("{:<{}} ", row[c], widths[c]);
    text += row.back() + "\n";
  }
  return text +
         "\nA knob K of the page role is the setting page-lock-K. Exclusive policies in the mapping role: shared = "
         "exclusive.\n";
}

}  // namespace convoy
