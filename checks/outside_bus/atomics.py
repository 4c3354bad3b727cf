# SPDX-License-Identifier: MIT OR Apache-2.0
"""The memory of lock tables: the atomics of AXI5, on channels of cocotbext-axi, whose own memories know none.

It reads a line, stores a word and compares and swaps a word, in any order and after any time, and checks that
nothing else is asked for (docs/lock-unit.md). A line of which a copy is kept is told of when it changes.
"""

import random

import cocotb
from bench import send
from cocotbext.axi.axi_channels import (
    AxiARBus, AxiARSink, AxiBBus, AxiBSource, AxiBTransaction, AxiRBus, AxiRSource, AxiRTransaction, AxiWBus, AxiWSink,
)  # fmt: skip
from cocotbext.axi.stream import define_stream

AtomicBus, _, _, AtomicSink, _ = define_stream(
    "Atomic",
    signals=["awid", "awaddr", "awlen", "awsize", "awburst", "awcache", "awatop", "awvalid", "awready"],
)

COMPARE = 0b110001
FIXED_CACHE, KEPT_CACHE = 0b0011, 0b1111
INCR, WRAP = 1, 2
OKAY, SLVERR = 0, 2
MASK = (1 << 64) - 1


class LockMemory:
    """Lines of eight words, all 0 at first."""

    def __init__(self, bench, prefix, copies, longest=30):
        def channel(bus, kind):
            return bench.stream(kind(bus.from_prefix(bench.dut, prefix), **bench.ports))

        self.bench, self.copies, self.longest = bench, copies, longest
        self.aw, self.w = channel(AtomicBus, AtomicSink), channel(AxiWBus, AxiWSink)
        self.b = channel(AxiBBus, AxiBSource)
        self.ar, self.r = channel(AxiARBus, AxiARSink), channel(AxiRBus, AxiRSource)
        self.lines, self.kept, self.failing, self.open = {}, set(), set(), set()
        self.swaps = self.stores = self.reads = 0
        cocotb.start_soon(self.take_writes())
        cocotb.start_soon(self.take_reads())

    def line(self, address):
        return self.lines.setdefault(address, [0] * 8)

    def store(self, address, value):
        """Writes a word, of the unit or of software; whoever has a copy of the line is told."""
        at = address & ~63
        self.line(at)[address >> 3 & 7] = value
        if at in self.kept:
            self.kept.discard(at)
            cocotb.start_soon(self.tell(at))

    def swap(self, address, compare, value):
        """Compares and swaps a word; gives what was there."""
        found = self.line(address & ~63)[address >> 3 & 7]
        if found == compare:
            self.store(address, value)
        return found

    async def pause(self):
        await self.bench.clocks(random.randint(1, self.longest))

    async def tell(self, at):
        await self.pause()
        send(self.copies, at | random.randrange(64))

    def begin(self, one):
        assert one not in self.open, f"id {one:#x} has an access already"
        self.open.add(one)

    async def take_writes(self):
        while True:
            aw, w = await self.aw.recv(), await self.w.recv()
            cocotb.start_soon(self.write(aw, w))

    async def write(self, aw, w):
        one, address, atop = int(aw.awid), int(aw.awaddr), int(aw.awatop)
        data, strobes = int(w.wdata), int(w.wstrb)
        self.begin(one & 0x7F)
        what = f"write of {address:#x}, id {one:#x}"
        assert address % 8 == 0 and int(aw.awlen) == 0 and w.wlast and int(aw.awcache) == FIXED_CACHE, what
        lane = address % 64
        if atop:
            whole = lane & ~15
            assert (atop, int(aw.awsize)) == (COMPARE, 4), f"{what}: awatop {atop:06b}"
            assert int(aw.awburst) == (INCR if lane == whole else WRAP), f"{what}: burst {int(aw.awburst)}"
            assert strobes == 0xFFFF << whole, f"{what}: strobes {strobes:#x}"
        else:
            assert int(aw.awsize) == 3 and strobes == 0xFF << lane, f"{what}: strobes {strobes:#x}"
        await self.pause()
        fails = address & ~63 in self.failing
        found = 0
        if not atop:
            self.stores += 1
            if not fails:
                self.store(address, data >> 8 * lane & MASK)
        else:
            self.swaps += 1
            compare, value = data >> 8 * lane & MASK, data >> 8 * (lane ^ 8) & MASK
            if not fails:
                found = self.swap(address, compare, value)
        response = SLVERR if fails else OKAY
        answers = [self.answer(self.b, AxiBTransaction(bid=one, bresp=response))]
        if atop:
            # What is beside the word means nothing.
            line = random.getrandbits(512) & ~(MASK << 8 * lane) | found << 8 * lane
            answers.append(self.answer(self.r, AxiRTransaction(rid=one, rdata=line, rresp=response, rlast=1)))
        waits = [cocotb.start_soon(answer) for answer in answers]
        self.open.discard(one & 0x7F)
        for task in waits:
            await task

    async def answer(self, channel, response):
        await self.pause()
        channel.send_nowait(response)

    async def take_reads(self):
        while True:
            cocotb.start_soon(self.read(await self.ar.recv()))

    async def read(self, ar):
        one, address, cache = int(ar.arid), int(ar.araddr), int(ar.arcache)
        self.begin(one & 0x7F)
        what = f"read of {address:#x}, id {one:#x}"
        assert address % 64 == 0 and (int(ar.arsize), int(ar.arlen)) == (6, 0), what
        assert cache in (FIXED_CACHE, KEPT_CACHE), f"{what}: arcache {cache:04b}"
        await self.pause()
        self.reads += 1
        fails = address in self.failing
        if cache == KEPT_CACHE and not fails:
            self.kept.add(address)
        line = sum(word << 64 * n for n, word in enumerate(self.line(address)))
        self.open.discard(one & 0x7F)
        response = SLVERR if fails else OKAY
        await self.answer(self.r, AxiRTransaction(rid=one, rdata=line, rresp=response, rlast=1))


def grant(head, line):
    """The head after its holder has handed the lock over (docs/lock-protocol.md); 0 when nobody waits."""
    waiting, first = head >> 9 & 0x7F, head >> 6 & 7
    if not waiting:
        return 0
    waiting &= ~(1 << first - 1)
    ring = [(first + step - 1) % 7 + 1 for step in range(1, 7)]
    following = next((slot for slot in ring if waiting >> slot - 1 & 1), 0)
    return line[first] & ~0xFFFF | waiting << 9 | following << 6
