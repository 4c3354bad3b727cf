# SPDX-License-Identifier: MIT OR Apache-2.0
"""What all tests have in common: clock, reset, and models of cocotbext-axi at the ports of a block."""

import itertools
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Timer
from cocotb.types import LogicArray
from cocotbext.axi import (
    AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiRamRead, AxiReadBus, AxiSlave, AxiSlaveRead, AxiStreamBus,
    AxiStreamFrame, AxiStreamSink, AxiStreamSource, MemoryRegion,
)  # fmt: skip


def pauses():
    """Of one channel: never, seldom, or in most clocks."""
    share = random.choice([0.0, 0.2, 0.7])
    return (random.random() < share for _ in itertools.count())


class FailingRegion(MemoryRegion):
    """A memory of which some lines cannot be read or written."""

    def __init__(self, size):
        super().__init__(size)
        self.failing = set()  # numbers of lines

    async def _read(self, address, length, **_):
        return await super()._read(self.checked(address), length)

    async def _write(self, address, data, **_):
        await super()._write(self.checked(address), data)

    def checked(self, address):
        if address // 64 in self.failing:
            raise OSError(f"line {address // 64:#x} fails")
        return address


class Bench:
    """A block and its surroundings. All channels pause at random; a payload without valid is X."""

    def __init__(self, dut):
        self.dut, self.clock = dut, dut.clk_i
        self.ports = {"clock": dut.clk_i, "reset": dut.rst_ni, "reset_active_level": False}
        self.streams, self.clock_runs = [], False

    @classmethod
    async def beside(cls, dut):
        """With all inputs at 0, before there are models that drive some of them."""
        for name in os.environ["INPUTS"].split():
            if name != "rst_ni":
                getattr(dut, name).value = 0
        await Timer(1, "ns")
        return cls(dut)

    def stream(self, one):
        """Takes part in pauses; one is a channel, of cocotbext-axi or made by its `define_stream`."""
        one.log.setLevel("WARNING")
        one.set_pause_generator(pauses())
        if hasattr(one, "send_nowait"):
            cocotb.start_soon(forget_payload(one))
        self.streams.append(one)
        return one

    def channels(self, half):
        """All channels of a model that writes, or that reads."""
        half.log.setLevel("WARNING")
        for name in ("aw_channel", "w_channel", "b_channel", "ar_channel", "r_channel"):
            if hasattr(half, name):
                self.stream(getattr(half, name))

    def registers(self, prefix="s_axil"):
        """A manager of AXI4-Lite."""
        manager = AxiLiteMaster(AxiLiteBus.from_prefix(self.dut, prefix), **self.ports)
        self.channels(manager.write_if)
        self.channels(manager.read_if)
        return manager

    def memory(self, prefix, size):
        """A memory of AXI4."""
        ram = AxiRam(AxiBus.from_prefix(self.dut, prefix), size=size, **self.ports)
        self.channels(ram.write_if)
        self.channels(ram.read_if)
        return ram

    def memory_to_read(self, prefix, size):
        """One that the block only reads."""
        ram = AxiRamRead(AxiReadBus.from_prefix(self.dut, prefix), size=size, **self.ports)
        self.channels(ram)
        return ram

    def region(self, prefix, region):
        """A memory that may answer with errors: a `Region` at a port of AXI4."""
        half = AxiSlave(AxiBus.from_prefix(self.dut, prefix), target=region, **self.ports)
        self.channels(half.write_if)
        self.channels(half.read_if)

    def region_to_read(self, prefix, region):
        """The same at a port that only reads."""
        self.channels(AxiSlaveRead(AxiReadBus.from_prefix(self.dut, prefix), target=region, **self.ports))

    def source(self, prefix):
        """A stream into the block; a beat is a number."""
        return self.stream(AxiStreamSource(AxiStreamBus.from_prefix(self.dut, prefix), byte_lanes=1, **self.ports))

    def sink(self, prefix):
        """A stream out of it."""
        return self.stream(AxiStreamSink(AxiStreamBus.from_prefix(self.dut, prefix), byte_lanes=1, **self.ports))

    async def reset(self, *forgetting):
        """Resets the block; what is under way in some models is forgotten with it."""
        self.dut.rst_ni.value = 0
        if not self.clock_runs:
            # The models have to see the reset fall before the first edge, at which the block's outputs are X.
            await Timer(1, "ns")
            cocotb.start_soon(Clock(self.clock, 4, unit="ns").start())
            self.clock_runs = True
        await self.clocks(4)
        for model in forgetting:
            model.clear()
        self.dut.rst_ni.value = 1
        await self.clocks(1)

    async def clocks(self, count):
        await ClockCycles(self.clock, count)

    async def until(self, holds, what, clocks=5000):
        """Waits until `holds()`, which may be of a few thousand clocks."""
        for _ in range(clocks):
            if holds():
                return
            await self.clocks(1)
        raise AssertionError(f"{what}: not in {clocks} clocks")

    def assert_nothing_is_left(self):
        assert all(one.empty() for one in self.streams), "something is left"


async def forget_payload(source):
    """Makes the payload X whenever valid falls."""
    bus = source.bus
    names = [*bus._signals, *bus._optional_signals]
    signals = [getattr(bus, name) for name in names if hasattr(bus, name) and not name.endswith(("valid", "ready"))]
    valid = next(getattr(bus, name) for name in names if name.endswith("valid"))
    while True:
        await FallingEdge(valid)
        for signal in signals:
            signal.value = LogicArray("X" * len(signal))


def send(source, beat):
    source.send_nowait(AxiStreamFrame(tdata=[beat]))


async def receive(sink):
    (beat,) = (await sink.recv()).tdata
    return beat
