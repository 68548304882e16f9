// compare_facts.h — What the runs of a comparison have in common, and in what they differ.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "loadgen/compare_cells.h"

namespace convoy {

// Returns the lines above a group: what was asked for, of which server, on what, and how often.
std::vector<std::string> heading_of(const std::vector<LabelledRun>& runs, const Group& group);

// Returns one entry for each setting, host or build in which labels differ besides the lock policy and its knobs:
// "workers: 256 (plu-0); 64 (plu-1000)". What a run does not say counts as alike.
std::vector<std::string> differences_of(const std::vector<LabelledRun>& runs);

// Returns sentences about the shape of the curves over the user levels, from medians, for metrics of which more is
// better: labels whose throughput falls for good after a peak, and a gap that splits the labels.
std::vector<std::string> shape_notes(const Group& group);

}  // namespace convoy
