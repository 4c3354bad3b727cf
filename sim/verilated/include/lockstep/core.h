// SPDX-License-Identifier: MIT OR Apache-2.0
// The C++ side of a model: a Verilated class with its own context, and its waves.
// What depends on the ports of the block is in Pins, which the build writes.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "lockstep/messages.h"
#include "rust/cxx.h"

class VerilatedContext;
class VerilatedFstC;

namespace lockstep {

template <class Pins>
class Core {
public:
    using Inputs = typename Pins::Inputs;
    using Outputs = typename Pins::Outputs;
    using Unit = typename Pins::Unit;

    // Where the block has no initial value of its own, power_up_seed draws one, if the model
    // was built to check assertions; else the compiler chooses.
    explicit Core(std::uint64_t power_up_seed);
    ~Core();
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    void set_reset(bool asserted);
    // One clock cycle: the inputs are sampled by the rising edge, the outputs are read
    // after it. False when an assertion failed.
    bool clock(const Inputs& inputs, Outputs& outputs);
    // The same, written to the waves: the inputs change at start_ps, with the clock low,
    // and the clock rises half a period later.
    bool clock_dumping(const Inputs& inputs, Outputs& outputs, std::uint64_t start_ps,
                       std::uint64_t half_period_ps);
    // The least that a simulation can do: nothing but the clock.
    bool toggle_only(std::uint64_t cycles);
    // What the assertion said that failed last.
    rust::String failure() const { return failure_; }

    // Throws std::runtime_error when the file cannot be written.
    void open_waves(rust::Str path);
    void close_waves();

    Unit& unit() { return *unit_; }

private:
    void eval();
    // Both halves of a clock cycle.
    void fall();
    void rise();
    // False when an assertion has failed since the last call; failure() says which.
    bool held();

    // Destroyed from the last to the first: the unit refers to its context, the waves
    // refer to the unit.
    std::unique_ptr<VerilatedContext> context_;
    std::unique_ptr<Unit> unit_;
    std::unique_ptr<VerilatedFstC> waves_;
    Messages messages_;
    std::string failure_;
};

}  // namespace lockstep
