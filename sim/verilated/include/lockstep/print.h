// SPDX-License-Identifier: MIT OR Apache-2.0
// Read before each file of Verilator's runtime, so that it prints to us.
#pragma once
#include "lockstep/messages.h"
#define VL_PRINTF lockstep_print
