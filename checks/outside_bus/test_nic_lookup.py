# SPDX-License-Identifier: MIT OR Apache-2.0
"""nic_lookup between the models of cocotbext-axi, over a table that is made here from the documents alone."""

import os
import random

import cocotb
from bench import Bench, receive, send

SLOT_BYTES = int(os.environ["SLOTBYTES"])
REQUESTS = 120
MEMORY = 1 << 16
HOMES, LIMIT, LOG2_SEGMENT = 32, 7, 2
SEGMENTS, OVERFLOW_SLOTS = HOMES >> LOG2_SEGMENT, 64
TABLE, DIRECTORY, OVERFLOW, INDEX = 0x1000, 0x3000, 0x4000, 0x2040
# A fifth more than there are slots, so that some have to go to overflow buckets.
PRESENT, ABSENT = 47, 12
VALUE_BYTES = 8
EVERY_KIND = {"near", "far", "last", "bucket"}

LOOK_UP, LOCK, UNLOCK, EVICT = 0, 1, 6, 7
DONE, LOCKED, UNKNOWN, IS_ABSENT = 0, 2, 5, 13
CONTROL, RETURN, SETTINGS_ERROR = 0x000, 0x010, 0x110
SETTINGS = {
    0x020: TABLE, 0x030: HOMES, 0x040: LIMIT, 0x050: 2, 0x060: LOG2_SEGMENT, 0x070: DIRECTORY,
    0x080: OVERFLOW, 0x090: OVERFLOW_SLOTS, 0x0A0: VALUE_BYTES, 0x0B0: 8, 0x0C0: INDEX,
    0x0D0: SEGMENTS, 0x0E0: 5, 0x0F0: 40,
}  # fmt: skip
COUNTERS = {
    "requests": 0x200, "look-ups": 0x208, "hits": 0x210, "misses": 0x218, "found": 0x220,
    "found in buckets": 0x228, "absent": 0x230, "gave up": 0x238, "not read": 0x240,
    "repeated readings": 0x270,
}  # fmt: skip


def home_of(key):
    """As lockdb/tables/src/hash.rs has it."""
    product = (key ^ key >> 32) * 0x9E37_79B9_7F4A_7C15 & (1 << 64) - 1
    return (product >> 32) * HOMES >> 32


class Thing:
    """An object of the table: its value lies in its slot, or somewhere else."""

    def __init__(self):
        self.key, self.version = random.getrandbits(64), random.getrandbits(32)
        self.home = home_of(self.key)
        self.length = random.choice([VALUE_BYTES, VALUE_BYTES, 0, 5, 16])
        self.is_out_of_line = random.random() < 0.1
        if self.is_out_of_line:
            self.length = 16
        # Words behind the value are 0.
        self.value = random.getrandbits(8 * self.length)

    def slot(self):
        meta = self.version << 32 | self.is_out_of_line << 30 | 1 << 29 | self.length << 20
        return words(meta | 2 * random.getrandbits(19), self.key, self.value, self.value >> 64)

    def can_be_cached(self):
        return self.length == VALUE_BYTES and not self.is_out_of_line


def words(*values):
    return b"".join((value & (1 << 64) - 1).to_bytes(8, "little") for value in values)


def emptied():
    """A slot whose object has left it: words of it are still there."""
    return words(2 * random.getrandbits(19), random.choice([0, random.getrandbits(64)]), 7, 7)


def place(things):
    """Robin Hood: the slots, and by segment the objects of its overflow bucket."""
    slots, buckets = [None] * (HOMES + LIMIT), [[] for _ in range(SEGMENTS)]
    for thing in things:
        row = slots[thing.home : thing.home + LIMIT + 1]
        if None not in row:
            buckets[thing.home >> LOG2_SEGMENT].append(thing)
            continue
        for slot in range(thing.home, thing.home + row.index(None) + 1):
            if slots[slot] is None or slots[slot].home > thing.home:
                slots[slot], thing = thing, slots[slot]
                if thing is None:
                    break
    return slots, buckets


def kinds(slots, buckets):
    """Where there are objects: in their home or the next slot, farther, at D_m, in an overflow bucket."""
    names = {0: "near", 1: "near", LIMIT: "last"}
    rows = {names.get(n - thing.home, "far") for n, thing in enumerate(slots) if thing}
    return rows | {"bucket" for one in buckets if one}


def draw_table():
    """Objects, the farthest from their homes first, and where they lie; there are some of every kind."""
    for _ in range(1000):
        things = [Thing() for _ in range(PRESENT)]
        slots, buckets = place(things)
        if kinds(slots, buckets) == EVERY_KIND:
            far = {thing: n - thing.home for n, thing in enumerate(slots) if thing}
            return sorted(things, key=lambda thing: -far.get(thing, 0)), slots, buckets
    raise AssertionError(f"no table of 1,000 has all of {EVERY_KIND}")


def fill(host, slots, buckets):
    """Writes the table into the host's memory."""
    for n, thing in enumerate(slots):
        host.write(TABLE + n * SLOT_BYTES, thing.slot() if thing else emptied())
    free = 3
    for n in range(OVERFLOW_SLOTS):
        host.write(OVERFLOW + n * SLOT_BYTES, emptied())
    for segment, bucket in enumerate(buckets):
        link = random.getrandbits(26) << 38
        if bucket:
            order = (len(bucket) - 1).bit_length()
            link |= (order + 1) << 32 | free
            for n, thing in enumerate(bucket):
                host.write(OVERFLOW + (free + n) * SLOT_BYTES, thing.slot())
            free += 1 << order
        host.write(DIRECTORY + 8 * segment, words(link))
    assert free <= OVERFLOW_SLOTS, f"{free} slots of overflow buckets"


def beat_of(key, token, operation, owner=0):
    """A request."""
    return key | token << 64 | operation << 80 | owner << 96


class Answer:
    """An answer, from the bits that the document has."""

    def __init__(self, beat):
        self.token, self.status = beat & 0xFFFF, beat >> 16 & 0xF
        self.is_cached, self.is_out_of_line, self.has_value, self.has_lock = (
            bool(beat >> bit & 1) for bit in (20, 21, 22, 23)
        )
        self.trips, self.owner = beat >> 24 & 0xFF, beat >> 80 & 0xFFFF
        self.object = (beat >> 32 & 0xFFFFFFFF, beat >> 64 & 0x1FF, beat >> 128)
        self.reserved = beat >> 73 & 0x7F | beat >> 112 & 0xFFFF


def check_look_up(answer, thing):
    """Compares the answer to a look-up, or lock-and-read, of a key that nobody else has locked."""
    what = f"{vars(answer)}, expected {thing and vars(thing)}"
    assert answer.reserved == 0 and answer.is_cached == (answer.trips == 0), what
    if thing is None:
        # An absence takes two readings, of a trip each at least.
        assert answer.status == IS_ABSENT and answer.trips >= 2, what
        assert not (answer.has_value or answer.is_out_of_line or any(answer.object)), what
        return
    assert answer.status == DONE and answer.has_value, what
    first = thing.value & (1 << 64) - 1
    assert answer.object == (thing.version, thing.length, first), what
    assert answer.is_out_of_line == thing.is_out_of_line, what
    assert thing.can_be_cached() or not answer.is_cached, what


class Port:
    """A stream of requests, and that of their answers."""

    def __init__(self, bench, requests, answers):
        self.source, self.sink = bench.source(requests), bench.sink(answers)

    def send(self, beat):
        send(self.source, beat)

    async def receive(self):
        return Answer(await receive(self.sink))

    async def ask(self, *request):
        """One request alone."""
        self.send(beat_of(*request))
        return await self.receive()


async def start(dut):
    """Resets the block; gives it, its registers, the host's memory and the ports."""
    bench = await Bench.beside(dut)
    registers = bench.registers()
    host = bench.memory_to_read("m_axi_host", MEMORY)
    bench.memory("m_axi_nic", MEMORY)
    ports = [Port(bench, "s_axis_req", "m_axis_rsp"), Port(bench, "s_axis_sw", "m_axis_swrsp")]
    await bench.reset()
    return bench, registers, host, ports


async def switch_on(registers):
    for address, value in SETTINGS.items():
        await registers.write_dword(address, value)
    await registers.write_dword(CONTROL, 1)
    state = (await registers.read_dword(CONTROL), await registers.read_dword(SETTINGS_ERROR))
    assert state == (1, 0), f"control and error of the settings are {state}"


async def look_up_at_random(port, things, absent):
    """Look-ups, and what makes them go to the host again; says how many there were of present keys."""
    expected = {}
    for token in range(REQUESTS):
        # Each object once, the far ones while no hint tells of them, and then at random.
        is_first = token < len(things)
        thing = things[token] if is_first else random.choice([*things, None, None])
        key = thing.key if thing else random.choice(absent)
        operation = LOOK_UP if is_first else random.choice([LOOK_UP] * 4 + [EVICT])
        expected[token] = (operation, thing)
        port.send(beat_of(key, token, operation))
    present = 0
    for _ in range(REQUESTS):
        answer = await port.receive()
        assert answer.token in expected, f"token {answer.token} comes twice, or from nowhere"
        operation, thing = expected.pop(answer.token)
        if operation == EVICT:
            assert answer.status in (DONE, UNKNOWN), f"evict: {vars(answer)}"
            continue
        check_look_up(answer, thing)
        assert answer.owner == 0 and not answer.has_lock, f"nobody locks: {vars(answer)}"
        present += thing is not None
    return present


async def lock_each(network, software, key, thing):
    """One owner has a key; another one does not get it."""
    answer = await software.ask(key, 1, LOCK, 7)
    check_look_up(answer, thing)
    assert answer.has_lock, f"lock: {vars(answer)}"
    answer = await network.ask(key, 2, LOOK_UP, 8)
    assert (answer.status, answer.owner) == (LOCKED, 7), f"another's: {vars(answer)}"
    answer = await network.ask(key, 3, LOOK_UP, 7)
    check_look_up(answer, thing)
    assert answer.owner == 7, f"its own: {vars(answer)}"
    answer = await software.ask(key, 4, UNLOCK, 7)
    assert (answer.token, answer.status) == (4, DONE), f"unlock: {vars(answer)}"
    answer = await network.ask(key, 5, LOOK_UP, 8)
    check_look_up(answer, thing)


@cocotb.test(timeout_time=4, timeout_unit="ms")
async def each_look_up_tells_what_is_in_the_table(dut):
    bench, registers, host, ports = await start(dut)
    things, slots, buckets = draw_table()
    fill(host, slots, buckets)
    absent = [random.getrandbits(64) for _ in range(ABSENT)]
    await switch_on(registers)

    tasks = [cocotb.start_soon(look_up_at_random(port, things, absent)) for port in ports]
    present = sum([await task for task in tasks])
    values = {name: await registers.read_dword(at) for name, at in COUNTERS.items()}
    assert values["requests"] == 2 * REQUESTS, values
    assert values["hits"] + values["found"] == present, f"{values}, {present} of present keys"
    assert values["absent"] == values["look-ups"] - present, f"{values}, {present} of present keys"
    assert values["misses"] == values["found"] + values["absent"], values
    assert values["repeated readings"] >= values["absent"], f"each is read again: {values}"
    assert values["gave up"] == values["not read"] == 0, values
    assert values["hits"] > 0 and values["found in buckets"] > 0, values

    in_buckets = [thing for bucket in buckets for thing in bucket]
    for thing in (random.choice(in_buckets), *random.sample(things, 5)):
        await lock_each(*ports, thing.key, thing)
    await lock_each(*ports, absent[0], None)
    await registers.write_dword(CONTROL, 0)
    await bench.clocks(300)
    assert await registers.read_dword(RETURN) == 0, "something is under way"
    bench.assert_nothing_is_left()
    assert dut.idle_o.value == 1, "still busy"
