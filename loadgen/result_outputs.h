// result_outputs.h — Where a command's result goes: text to stdout, --json and --csv to a file or to stdout instead.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/result_schema.h"

namespace convoy {

struct ResultOutputs {
  std::string json, csv;  // a path, - for stdout, or empty
  bool quiet = false;     // no text on stderr
};

// Before long work: whether both can be written, and have a file each. `others`: option and path of what else is
// written or read. The error begins with the option, and its value.
Result<void> check_outputs(const ResultOutputs& outputs,
                           const std::vector<std::pair<std::string, std::string>>& others = {});

// Text for who reads: on stdout, or on stderr while JSON or CSV has stdout to itself.
Result<void> print_text(const ResultOutputs& outputs, const std::string& text);

// Text, if there is any, and the files. One that cannot be written does not keep the others from being written; the
// error is the first.
Result<void> put_out(const ResultOutputs& outputs, const std::string& text, const ResultFile& result);

}  // namespace convoy
