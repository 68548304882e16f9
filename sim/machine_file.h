// machine_file.h — Machine files: configs/machines/NAME.toml, and --machine-set KEY=VALUE.
// SPDX-License-Identifier: MIT
//
// A file gives every number of MachineSpec::describe(), in this form:
//
//   line-transfer-socket-ns = { value = 47, mark = "borrowed", source = "where it is from" }
//
// The mark says how much to believe: published (about this very machine), measured (on it), derived (the source shows
// the arithmetic), borrowed (from a comparable machine or a default, fixed before the first run), fitted (chosen by
// looking at a result). At most two numbers are fitted.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "sim/machine_spec.h"

namespace convoy {

struct MachineNumber {
  std::string value;
  std::string mark;
  std::string source;
};

struct MachineFile {
  std::string name;  // the file's, without folder and ending
  MachineSpec spec;
  std::map<std::string, MachineNumber> numbers;  // by key

  // The name, and behind it each KEY=VALUE that was set: what a result says of the machine.
  std::string described() const;
};

// Reads a machine file. The error names the file, the key and what is allowed.
Result<MachineFile> read_machine_file(const std::string& path);
// As read_machine_file, for text.
Result<MachineFile> parse_machine_file(std::string_view text, const std::string& path);

// Applies every "KEY=VALUE" of --machine-set, or none. The error names key, value and what is allowed. The number's
// mark becomes "set", its source "--machine-set".
Result<void> set_machine_numbers(MachineFile& file, const std::vector<std::string>& assignments);

}  // namespace convoy
