// machine_file.cc — Machine files as settings with a mark and a source.
// SPDX-License-Identifier: MIT
#include "sim/machine_file.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "common/toml_file.h"
#include "sim/machine_topology.h"

namespace convoy {
namespace {

constexpr std::array<std::string_view, 5> kMarks{"published", "measured", "derived", "borrowed", "fitted"};
constexpr std::size_t kMostFitted = 2;

Result<MachineNumber> read_number(const std::string& key, const Json& entry) {
  if (!entry.is_object()) return fail("{}: write it as {{ value = ..., mark = \"...\", source = \"...\" }}", key);
  for (const auto& [name, unused] : entry.items()) {
    if (name != "value" && name != "mark" && name != "source")
      return fail("{}: unknown {}; allowed are value, mark, source", key, quote(name));
  }
  MachineNumber number;
  for (const auto& [name, field] :
       {std::pair{"value", &number.value}, std::pair{"mark", &number.mark}, std::pair{"source", &number.source}}) {
    const auto found = entry.find(name);
    if (found == entry.end()) return fail("{}: {} is missing; every number has value, mark and source", key, name);
    if (std::string_view(name) != "value" && !found->is_string()) return fail("{}: {} is no text", key, name);
    const auto text = setting_text(*found, key);
    if (!text) return tl::unexpected(text.error());
    *field = *text;
  }
  if (std::find(kMarks.begin(), kMarks.end(), number.mark) == kMarks.end())
    return fail("{}: mark: {} is not allowed; {}", key, quote(number.mark), fmt::join(kMarks, ", "));
  if (number.source.find_first_not_of(' ') == std::string::npos)
    return fail("{}: source is empty; say where the number is from", key);
  return number;
}

// What no single number can say.
Result<void> check_whole(const MachineSpec& spec) {
  if (spec.cpus() > kMaxCpus)
    return fail("sockets x clusters-per-socket x cores-per-cluster x threads-per-core is {}; at most {}", spec.cpus(),
                kMaxCpus);
  const std::array<std::pair<double, double>, 3> idle{{{spec.idle_1_exit, spec.idle_1_residency},
                                                       {spec.idle_2_exit, spec.idle_2_residency},
                                                       {spec.idle_3_exit, spec.idle_3_residency}}};
  std::size_t before = idle.size();
  for (std::size_t i = 0; i < idle.size(); ++i) {
    if (idle[i].first == 0) continue;  // there is no such state
    if (before < i && idle[i].first < idle[before].first)
      return fail("idle-{}-exit-ns: {:g} is not allowed; at least idle-{}-exit-ns, {:g}", i + 1, idle[i].first,
                  before + 1, idle[before].first);
    if (before < i && idle[i].second < idle[before].second)
      return fail("idle-{}-residency-ns: {:g} is not allowed; at least idle-{}-residency-ns, {:g}", i + 1,
                  idle[i].second, before + 1, idle[before].second);
    before = i;
  }
  return {};
}

Result<MachineFile> from_json(const Json& json, const std::string& path) {
  MachineFile file;
  file.name = std::filesystem::path(path).stem().string();
  Settings settings = Settings::of(file.spec);
  for (const auto& [key, entry] : json.items()) {
    const auto number = read_number(key, entry);
    if (!number) return fail("{}: {}", path, number.error().message);
    if (auto done = settings.set(key, number->value); !done) return fail("{}: {}", path, done.error().message);
    file.numbers[key] = *number;
  }
  for (const Setting& setting : settings) {
    if (!file.numbers.contains(setting.key))
      return fail("{}: {} is missing; a machine file gives every number", path, setting.key);
  }
  const auto fitted = std::count_if(file.numbers.begin(), file.numbers.end(),
                                    [](const auto& entry) { return entry.second.mark == "fitted"; });
  if (static_cast<std::size_t>(fitted) > kMostFitted)
    return fail("{}: {} numbers are fitted; at most {}", path, fitted, kMostFitted);
  if (auto done = check_whole(file.spec); !done) return fail("{}: {}", path, done.error().message);
  return file;
}

}  // namespace

Result<MachineFile> parse_machine_file(std::string_view text, const std::string& path) {
  const auto json = parse_toml(text, path);
  if (!json) return tl::unexpected(json.error());
  return from_json(*json, path);
}

Result<MachineFile> read_machine_file(const std::string& path) {
  const auto json = read_toml_file(path);
  if (!json) return tl::unexpected(json.error());
  return from_json(*json, path);
}

Result<void> set_machine_numbers(MachineFile& file, const std::vector<std::string>& assignments) {
  MachineFile changed = file;
  for (const auto& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      return fail("machine-set: {} is not allowed; KEY=VALUE, such as wake-ns=500", quote(assignment));
    const std::string key = assignment.substr(0, equals);
    const std::string value = assignment.substr(equals + 1);
    if (auto done = Settings::of(changed.spec).set(key, value); !done)
      return fail("machine-set: {}", done.error().message);
    changed.numbers[key] = {value, "set", "--machine-set"};
  }
  if (auto done = check_whole(changed.spec); !done) return fail("machine-set: {}", done.error().message);
  file = std::move(changed);
  return {};
}

std::string MachineFile::described() const {
  std::string text = name;
  for (const auto& [key, number] : numbers) {
    if (number.mark == "set") text += fmt::format(" {}={}", key, number.value);
  }
  return text;
}

}  // namespace convoy
