// SPDX-License-Identifier: MIT
#include "common/result.h"
