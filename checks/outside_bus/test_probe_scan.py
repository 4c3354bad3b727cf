# SPDX-License-Identifier: MIT OR Apache-2.0
"""probe_scan between the AXI4-Stream models of cocotbext-axi."""

import os
import random

import cocotb
from bench import Bench, receive, send
from cocotbext.axi import AxiStreamFrame

SLOT_WORDS = int(os.environ["SLOTBYTES"]) // 8
VALUE_WORDS = int(os.environ["VALUEWORDS"])
SCANS = 200
FOUND, MORE, OVERFLOW, ABSENT, TORN, ERROR = range(6)
USED = 1 << 29


def draw_slot(key):
    """Words of a slot: the key or one beside it, empty, being written, or of two versions, now and then."""
    meta = random.getrandbits(64) & ~USED & ~1 | USED * (random.random() < 0.9)
    meta |= random.random() < 0.05
    slot = [random.getrandbits(64) for _ in range(SLOT_WORDS)]
    slot[::8] = [meta] * len(slot[::8])
    if random.random() < 0.3:
        slot[1] = key ^ (random.random() < 0.5)
    if SLOT_WORDS > 8 and random.random() < 0.05:
        slot[8] ^= 1 << random.randrange(64)
    return slot


def draw_scan(token):
    """A scan, its lines, and whether each has an error."""
    key, slots = random.getrandbits(64), random.randint(1, random.choice([2, 8, 64]))
    first = random.randrange(0, 8, SLOT_WORDS) if SLOT_WORDS < 8 else 0
    scan = {
        "key": key, "sum": random.getrandbits(32), "displacement": random.randrange(64),
        "limit": random.randrange(100), "token": token, "slots": slots,
        "overflow": random.random() < 0.2, "torn": random.random() < 0.2, "first": first,
    }  # fmt: skip
    words = [random.getrandbits(64) for _ in range(first)]
    words += [word for _ in range(slots) for word in draw_slot(key)]
    words += [random.getrandbits(64) for _ in range(-len(words) % 8)]
    errors = [int(random.random() < 0.002) for _ in words[::8]]
    return scan, words, errors


def line_bits(words):
    return sum(word << 64 * n for n, word in enumerate(words))


def scan_bits(scan):
    return (
        scan["key"] | scan["sum"] << 64 | scan["displacement"] << 96 | scan["limit"] << 112
        | scan["token"] << 128 | scan["slots"] - 1 << 136 | scan["overflow"] << 142
        | scan["torn"] << 143 | scan["first"] << 144
    )  # fmt: skip


def answer_bits(scan, words, errors):
    """What docs/nic-lookup.md says of the whole array."""
    token = scan["token"] << 48
    if any(errors):
        return token | ERROR << 56
    end = scan["first"] + scan["slots"] * SLOT_WORDS
    slots = [words[at : at + SLOT_WORDS] for at in range(scan["first"], end, SLOT_WORDS)]
    # One store empties a slot, in its first part; the others stay as they were.
    alike = [not slot[0] & USED or set(slot[::8]) == {slot[0]} for slot in slots]
    whole = [slot[0] % 2 == 0 and same for slot, same in zip(slots, alike)]
    has_key = [slot[0] & USED and slot[1] == scan["key"] for slot in slots]
    hits = [n for n in range(len(slots)) if whole[n] and has_key[n]]
    total = (scan["sum"] + sum(slot[0] % 2**20 for slot in slots)) % 2**32
    torn = scan["torn"] or not all(whole)
    at = scan["displacement"] + (hits[0] if hits else len(slots))
    if hits:
        status = FOUND
    elif not all(whole):
        status = TORN
    elif scan["overflow"]:
        status = ABSENT
    else:
        status = MORE if at <= scan["limit"] else OVERFLOW
    bits = total | at << 32 | token | status << 56 | torn << 59
    if hits:
        slot = slots[hits[0]]
        value = [word for n, word in enumerate(slot) if n % 8 and n != 1][:VALUE_WORDS]
        bits |= slot[0] << 64 | line_bits(value) << 128
    return bits


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def each_scan_is_answered_in_order(dut):
    bench = await Bench.beside(dut)
    scans, lines = bench.source("s_axis_key"), bench.source("s_axis_data")
    answers = bench.sink("m_axis_hit")
    await bench.reset()

    expected = []
    for token in range(SCANS):
        scan, words, errors = draw_scan(token)
        expected.append(answer_bits(scan, words, errors))
        send(scans, scan_bits(scan))
        numbers = [line_bits(words[at : at + 8]) for at in range(0, len(words), 8)]
        lines.send_nowait(AxiStreamFrame(tdata=numbers, tuser=errors))
    for token, wanted in enumerate(expected):
        found = await receive(answers)
        assert found == wanted, f"scan {token}: {found:#x}, expected {wanted:#x}"
    await bench.clocks(50)
    bench.assert_nothing_is_left()
