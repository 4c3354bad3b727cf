// SPDX-License-Identifier: MIT OR Apache-2.0
// The member functions of lockstep::Core. Included once for each block, where its
// Verilated class is known.
#pragma once
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "lockstep/core.h"
#include "verilated.h"
#include "verilated_fst_c.h"

#ifndef LOCKSTEP_CHECKED
#error "the build says whether the model checks assertions"
#endif

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

// Verilator's seeds have 31 bits, and 0 stands for a seed of its own choice.
inline int verilator_seed(std::uint64_t seed) {
    seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
    seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
    const int folded = static_cast<int>((seed ^ seed >> 31) & 0x7fffffff);
    return folded ? folded : 1;
}

template <class Pins>
Core<Pins>::Core(std::uint64_t power_up_seed) : context_{std::make_unique<VerilatedContext>()} {
    // Waves may be asked for at any time; Verilator wants to know before the first step.
    context_->traceEverOn(true);
#if LOCKSTEP_CHECKED
    const std::lock_guard<std::mutex> lock{drawing()};
    context_->randReset(2);
    context_->randSeed(verilator_seed(power_up_seed));
    context_->assertOn(false);  // Nothing holds before a reset.
#endif
    unit_ = std::make_unique<Unit>(context_.get(), "");
    Pins::set_clock(*unit_, false);
    Pins::set_reset(*unit_, false);
    unit_->eval();
}

template <class Pins>
Core<Pins>::~Core() {
    close_waves();
    unit_->final();
}

template <class Pins>
void Core<Pins>::set_reset(bool asserted) {
    Pins::set_reset(*unit_, asserted);
#if LOCKSTEP_CHECKED
    context_->assertOn(!asserted);
#endif
}

template <class Pins>
void Core<Pins>::eval() {
#if LOCKSTEP_CHECKED
    const Listening listening{messages_};
#endif
    unit_->eval();
}

// What depends on the inputs settles here: an assertion at the rising edge sees what stood
// before the evaluation in which the clock rises.
template <class Pins>
void Core<Pins>::fall() {
    Pins::set_clock(*unit_, false);
    eval();
}

template <class Pins>
void Core<Pins>::rise() {
    Pins::set_clock(*unit_, true);
    eval();
}

template <class Pins>
bool Core<Pins>::held() {
    if (!messages_.stopped) return true;
    failure_ = std::move(messages_.text);
    messages_ = {};
    return false;
}

template <class Pins>
bool Core<Pins>::clock(const Inputs& inputs, Outputs& outputs) {
    Pins::apply(inputs, *unit_);
    fall();
    rise();
    Pins::sample(*unit_, outputs);
    return held();
}

template <class Pins>
bool Core<Pins>::clock_dumping(const Inputs& inputs, Outputs& outputs, std::uint64_t start_ps,
                               std::uint64_t half_period_ps) {
    Pins::apply(inputs, *unit_);
    fall();
    waves_->dump(start_ps);
    rise();
    waves_->dump(start_ps + half_period_ps);
    Pins::sample(*unit_, outputs);
    return held();
}

template <class Pins>
bool Core<Pins>::toggle_only(std::uint64_t cycles) {
    for (; cycles; --cycles) {
        fall();
        rise();
    }
    return held();
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
