// lock_report.cc — The lock report as JSON text.
// SPDX-License-Identifier: MIT
#include "common/lock_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/described_json.h"

namespace convoy {

Json to_json(const LockReport& report) { return described::write(report); }

std::string lock_report_text(const LockReport& report) {
  return to_json(report).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<LockReport> parse_lock_report(std::string_view text) {
  const auto json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return fail("the lock report is not JSON");
  return described::read_document<LockReport>(json);
}

}  // namespace convoy
