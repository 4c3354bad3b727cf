# SPDX-License-Identifier: MIT OR Apache-2.0
"""nic_index_cache between the AXI4-Stream models and the AXI4 memory of cocotbext-axi."""

import os
import random

import cocotb
from bench import Bench, receive, send

VALUE_WORDS = int(os.environ["VALUEWORDS"])
REQUESTS = 1000
SEGMENTS = 12
LOOK_UP, LOCK, FILL, UPDATE, UNPIN, UNLOCK = 0, 1, 3, 4, 5, 6
DONE, MISS, LOCKED, NOT_LOCKED, UNKNOWN, NOT_PINNED = 0, 1, 2, 3, 5, 9
BASE = 0x4000
TABLE, SLOT_BYTES = 1 << 40, 128


class Segment:
    """One key of a segment, as docs/nic-lookup.md has it: nothing replaces it, so that no read is stale."""

    def __init__(self):
        self.known, self.content, self.owner, self.pins = False, None, None, 0

    def apply(self, operation, owner, version, value):
        """The status, and version and value as they were found."""
        found = self.content or (0, 0)
        return self.status(operation, owner, version, value), found

    def status(self, operation, owner, version, value):
        others = self.owner is not None and self.owner != owner
        if operation in (LOOK_UP, LOCK):
            if others:
                return LOCKED
            if operation == LOCK:
                self.known, self.owner = True, owner
            return DONE if self.content else MISS
        if operation == FILL:
            self.known, self.content = True, self.content or (version, value)
            return DONE
        if not self.known:
            return UNKNOWN
        if operation == UNPIN:
            if self.pins == 0:
                return NOT_PINNED
            self.pins -= 1
            return DONE
        if self.owner is None:
            return NOT_LOCKED
        if others:
            return LOCKED
        if operation == UPDATE:
            self.content, self.pins = (version, value), self.pins + 1
        else:
            self.owner = None
            self.known = self.content is not None
        return DONE


async def start(dut):
    """Resets the block, and gives it, its streams and its memory."""
    bench = await Bench.beside(dut)
    requests, answers = bench.source("s_axis_req"), bench.sink("m_axis_rsp")
    bench.memory("m_axi", 1 << 16)
    configuration = {
        "index_base_i": BASE, "segments_i": SEGMENTS, "table_base_i": TABLE, "slots_i": 2 * SEGMENTS,
        "slot_units_i": SLOT_BYTES // 16, "limit_i": 8, "more_i": 1,
        "flush_i": 0,
    }  # fmt: skip
    for name, value in configuration.items():
        getattr(dut, name).value = value
    await bench.reset()
    return bench, requests, answers


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def each_token_is_answered_once_and_right(dut):
    bench, requests, answers = await start(dut)
    segments, expected = [Segment() for _ in range(SEGMENTS)], {}
    for token in range(REQUESTS):
        segment = random.randrange(SEGMENTS)
        operation = random.choice([LOOK_UP, LOOK_UP, LOCK, LOCK, FILL, UPDATE, UPDATE, UNPIN, UNLOCK, UNLOCK])
        owner, version, home = random.randrange(2), random.getrandbits(32), 2 * segment + 1
        value = random.getrandbits(64 * VALUE_WORDS)
        if operation == UPDATE and segments[segment].pins == 7:
            operation = UNPIN
        status, found = segments[segment].apply(operation, owner, version, value)
        expected[token] = (status, *found, TABLE + home * SLOT_BYTES)
        beat = (
            1000 + segment | segment << 64 | home << 96 | version << 160 | operation << 192
            | token << 208 | owner << 240 | value << 256
        )  # fmt: skip
        send(requests, beat)
    for _ in range(REQUESTS):
        beat = await receive(answers)
        token = beat >> 144 & 0xFFFF
        found = (beat >> 128 & 0xF, beat >> 96 & 0xFFFFFFFF, beat >> 192, beat & (1 << 64) - 1)
        wanted = expected.pop(token, None)
        assert found == wanted, f"token {token}: {found}, expected {wanted}"
    await bench.clocks(200)
    bench.assert_nothing_is_left()
    assert dut.idle_o.value == 1, "still busy"
