// compare_format.h — Figures and sentences that the text and Markdown reports share.
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "loadgen/compare_cells.h"

namespace convoy {

// "74210", "12.5", "0.234", "0": three digits or all before the point.
std::string figure(double value);

// "0.38[.36-.41]*": estimate, interval (the range of all ratios with too few runs, nothing with single runs) and mark;
// "-" without a ratio.
std::string ratio_text(const std::optional<Cell>& cell);

// The title over the ratios, which says what the brackets hold.
std::string ratio_title(const Group& group);

// "Transactions Per Second > Higher Is Better".
std::string metric_title(const Metric& metric);

// "plu-5 is bimodal: 74210 in 3 runs without a convoy, 23840 in 2 runs with one."
std::string bimodal_text(const std::string& label, const Bimodal& bimodal);

// "Failed requests: 0.", or by label and class.
std::string failed_text(const Group& group);

// What is missing for verdicts; "" when nothing is.
std::string runs_needed_text(const Group& group);

// Whether any cell has a mark.
bool has_marks(const Group& group);

// Whether any cell has the figure.
bool has_p99(const Group& group);
bool has_jain(const Group& group);

// What a level counts: "users", or "threads" of locktest.
std::string_view level_noun(const Group& group);

}  // namespace convoy
