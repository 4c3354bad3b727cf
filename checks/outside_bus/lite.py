# SPDX-License-Identifier: MIT OR Apache-2.0
"""AXI4-Lite access by access, and the words that a block has."""

import re
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import cocotb
from cocotb.triggers import Event
from cocotbext.axi.axil_channels import (
    AxiLiteARBus, AxiLiteARSource, AxiLiteARTransaction, AxiLiteAWBus, AxiLiteAWSource, AxiLiteAWTransaction,
    AxiLiteBBus, AxiLiteBSink, AxiLiteRBus, AxiLiteRSink, AxiLiteWBus, AxiLiteWSource, AxiLiteWTransaction,
)  # fmt: skip

OKAY, SLVERR, DECERR = 0, 2, 3
MAP = Path(__file__).resolve().parents[2] / "driver/src/map"
WORD = re.compile(
    r'Word::new\("(.+?)", (0x\w+), Access::(\w+), (?:Some\((0x\w+)\)|None), (0x\w+)\)((?:\s*\.\w+\([\d, ]*\))*)'
)
LIMIT = re.compile(r"\.(\w+)\(([\d, ]*)\)")
# Where the blocks of a top are.
PLACES = {
    "tuple_lock_unit": {"lock_unit": [0]},
    "visibility_pe": {"visibility_pe": [0]},
    "dma_vectorizer": {"dma_vectorizer": [0]},
    "nic_lookup": {"nic_lookup": [0]},
    "lockstep_device": {
        "shell": [0x0000], "lock_unit": [0x1000], "queue": [0x2000, 0x3000, 0x4000, 0x6000], "nic_lookup": [0x5000],
    },
}  # fmt: skip


@dataclass(frozen=True)
class Word:
    """A word as the driver's generated map has it."""

    name: str
    address: int
    access: str
    reset: int | None
    mask: int
    limits: dict

    def is_kept(self):
        """Whether it reads what was written, and starts nothing."""
        return self.access == "ReadWrite" and not self.name.startswith("CONTROL")

    def suited(self, value):
        """The value, changed so that it may be written."""
        (multiple,) = self.limits.get("multiple_of", (1,))
        smallest, largest = self.limits.get("between", (0, 0xFFFFFFFF))
        return min(max(value // multiple * multiple, smallest), largest)

    def unsuited(self):
        """Values that may not be written."""
        (multiple,) = self.limits.get("multiple_of", (1,))
        smallest, largest = self.limits.get("between", (0, 0xFFFFFFFF))
        several = {smallest - 1, largest + 1, 0xFFFFFFFF if largest < 0xFFFFFFFF else -1, multiple // 2 or -1}
        return [value for value in several if 0 <= value <= 0xFFFFFFFF]


def words(top):
    """All words of a top."""
    found = []
    for block, bases in PLACES[top].items():
        text = (MAP / f"{block}.rs").read_text(encoding="utf-8")
        matches = WORD.findall(text)
        assert len(matches) == text.count("Word::new("), f"{block}: words that are written another way"
        for base in bases:
            for name, offset, access, reset, mask, limits in matches:
                limits = {what: tuple(map(int, filter(None, of.split(",")))) for what, of in LIMIT.findall(limits)}
                found.append(
                    Word(name, base + int(offset, 16), access, int(reset, 16) if reset else None, int(mask, 16), limits)
                )
    return found


class Lite:
    """Accesses over the five channels of cocotbext-axi, as many at once as are begun, at any address."""

    def __init__(self, bench, prefix="s_axil"):
        def channel(bus, kind):
            return bench.stream(kind(bus.from_prefix(bench.dut, prefix), **bench.ports))

        self.aw, self.w = channel(AxiLiteAWBus, AxiLiteAWSource), channel(AxiLiteWBus, AxiLiteWSource)
        self.b, self.r = channel(AxiLiteBBus, AxiLiteBSink), channel(AxiLiteRBus, AxiLiteRSink)
        self.ar = channel(AxiLiteARBus, AxiLiteARSource)
        self.reads, self.writes, self.most = deque(), deque(), 0
        cocotb.start_soon(self.end_each(self.r, self.reads))
        cocotb.start_soon(self.end_each(self.b, self.writes))

    def clear(self):
        """Forgets what is under way."""
        for one in (self.aw, self.w, self.ar, self.b, self.r, self.reads, self.writes):
            one.clear()

    async def end_each(self, channel, waiting):
        """Responses come in the order of their accesses."""
        while True:
            response = await channel.recv()
            assert waiting, "a response without an access"
            event, result = waiting.popleft()
            result.append(response)
            event.set()

    async def ended(self, waiting):
        event, result = Event(), []
        waiting.append((event, result))
        self.most = max(self.most, len(waiting))
        await event.wait()
        return result[0]

    async def read(self, address):
        """The data, all four bytes of them, and the response."""
        self.ar.send_nowait(AxiLiteARTransaction(araddr=address, arprot=0))
        answer = await self.ended(self.reads)
        return int(answer.rdata), int(answer.rresp)

    async def write(self, address, value, strobe=0b1111):
        """The response."""
        self.aw.send_nowait(AxiLiteAWTransaction(awaddr=address, awprot=0))
        self.w.send_nowait(AxiLiteWTransaction(wdata=value, wstrb=strobe))
        return int((await self.ended(self.writes)).bresp)
