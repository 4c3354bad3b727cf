// The member functions of lockstep::Core. Included once for each block, where its
// Verilated class is known.
#pragma once
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "lockstep/core.h"
#include "verilated.h"
#include "verilated_fst_c.h"

namespace lockstep {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
              "wide ports are copied as little-endian words");

// Ports of up to 64 bits. Verilator wants the bits above the width to be zero.
template <int Bits, class Port, class Value>
std::enable_if_t<(Bits <= 64)> put(Port& port, const Value& value) {
    port = static_cast<Port>(Bits == 64 ? value : value & ((std::uint64_t{1} << (Bits % 64)) - 1));
}

template <int Bits, class Port, class Value>
std::enable_if_t<(Bits <= 64)> get(const Port& port, Value& value) {
    value = static_cast<Value>(port);
}

// Wider ports: Verilator keeps 32-bit words, the structs keep 64-bit words.
template <int Bits, class Port, std::size_t Words>
std::enable_if_t<(Bits > 64)> put(Port& port, const std::array<std::uint64_t, Words>& words) {
    static_assert(Words == (Bits + 63) / 64, "struct and port differ in width");
    std::memcpy(port.data(), words.data(), sizeof(std::uint32_t) * ((Bits + 31) / 32));
    if (Bits % 32) port.data()[Bits / 32] &= (std::uint32_t{1} << (Bits % 32)) - 1;
}

template <int Bits, class Port, std::size_t Words>
std::enable_if_t<(Bits > 64)> get(const Port& port, std::array<std::uint64_t, Words>& words) {
    static_assert(Words == (Bits + 63) / 64, "struct and port differ in width");
    words.back() = 0;
    std::memcpy(words.data(), port.data(), sizeof(std::uint32_t) * ((Bits + 31) / 32));
}

template <class Pins>
Core<Pins>::Core() : context_{std::make_unique<VerilatedContext>()} {
    // Waves may be asked for at any time; Verilator wants to know before the first step.
    context_->traceEverOn(true);
    unit_ = std::make_unique<Unit>(context_.get(), "");
    unit_->clk_i = 0;
    unit_->rst_ni = 1;
    unit_->eval();
}

template <class Pins>
Core<Pins>::~Core() {
    close_waves();
    unit_->final();
}

template <class Pins>
void Core<Pins>::set_reset(bool asserted) {
    unit_->rst_ni = !asserted;
}

template <class Pins>
void Core<Pins>::clock(const Inputs& inputs, Outputs& outputs) {
    Pins::apply(inputs, *unit_);
    unit_->clk_i = 1;
    unit_->eval();
    Pins::sample(*unit_, outputs);
    unit_->clk_i = 0;
    unit_->eval();
}

template <class Pins>
void Core<Pins>::clock_dumping(const Inputs& inputs, Outputs& outputs, std::uint64_t start_ps,
                               std::uint64_t half_period_ps) {
    Pins::apply(inputs, *unit_);
    unit_->eval();
    waves_->dump(start_ps);
    unit_->clk_i = 1;
    unit_->eval();
    waves_->dump(start_ps + half_period_ps);
    Pins::sample(*unit_, outputs);
    unit_->clk_i = 0;
    unit_->eval();
}

template <class Pins>
void Core<Pins>::toggle_only(std::uint64_t cycles) {
    Unit& unit = *unit_;
    for (; cycles; --cycles) {
        unit.clk_i = 1;
        unit.eval();
        unit.clk_i = 0;
        unit.eval();
    }
}

template <class Pins>
void Core<Pins>::open_waves(rust::Str path) {
    close_waves();
    waves_ = std::make_unique<VerilatedFstC>();
    waves_->set_time_unit("1ps");
    waves_->set_time_resolution("1ps");
    unit_->trace(waves_.get(), 99);
    const std::string name{path};
    waves_->open(name.c_str());
    if (!waves_->isOpen()) {
        waves_.reset();
        throw std::runtime_error("the wave writer cannot open the file");
    }
}

template <class Pins>
void Core<Pins>::close_waves() {
    if (!waves_) return;
    waves_->close();
    waves_.reset();
}

}  // namespace lockstep
