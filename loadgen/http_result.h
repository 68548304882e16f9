// http_result.h — The counts of a run as a row of a result.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "common/result_schema.h"
#include "loadgen/http_load.h"

namespace convoy {

// Fills in all fields of `run` that the generator knows by itself.
void describe_outcome(const HttpLoad& load, const HttpOutcome& outcome, Run& run);

// "2026-01-31T12:00:00Z" for seconds since the epoch.
std::string utc_text(std::int64_t epoch_s);

// Warns on stderr of what makes the figures of `run` doubtful or of what they do not show.
void warn_of_doubts(const HttpLoad& load, const HttpOutcome& outcome, const Run& run);

}  // namespace convoy
