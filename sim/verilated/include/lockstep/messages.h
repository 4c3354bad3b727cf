// SPDX-License-Identifier: MIT OR Apache-2.0
// What a Verilated class says while it is evaluated: the text of an assertion that fails, and
// that it wants the simulation to stop. Verilator would print the one and end the process for
// the other.
#pragma once
#include <mutex>
#include <string>

namespace lockstep {

// What is said on this thread goes here for as long as a Listening lives.
struct Messages {
    std::string text;  // up to the stop
    bool stopped = false;
};

class Listening {
public:
    explicit Listening(Messages& messages);
    ~Listening();
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
};

// Held while initial values are drawn: older Verilators have one generator for a thread, which
// starts anew whenever any thread sets a seed.
std::mutex& drawing();

}  // namespace lockstep

// In the place of printf in Verilator's runtime.
extern "C" int lockstep_print(const char* format, ...);
