# SPDX-License-Identifier: MIT OR Apache-2.0
"""tuple_lock_unit between the streams and channels of cocotbext-axi, beside software that locks the same buckets."""

import random

import cocotb
from atomics import LockMemory, grant
from bench import Bench, receive, send
from cocotb.triggers import Event

AGENTS, LOCKS = 14, 7  # transactions at once, and the locks that each takes
SOFTWARE_LOCKS = 6
BASE, LOG2_BUCKETS = 0x12_3456_7000, 2
ACQUIRE, RELEASE, CANCEL, POLL = range(4)
QUEUE, NO_WAIT, WAIT_DIE = range(3)
GRANTED, QUEUED, FULL, BUSY, DIE, CONTENDED, RELEASED, CANCELLED, NOT_HELD, BUS = range(10)
TAG_BUSY, NOT_WAITING, BAD = range(10, 13)
CONTROL, GIE, IER, ISR, RETURN, TABLE_BASE, TABLE_LOG2 = 0x000, 0x004, 0x008, 0x00C, 0x010, 0x020, 0x030
COUNTERS = 0x200


def mix(vid, version):
    return vid ^ vid >> 17 ^ vid >> 31 ^ version << 5 ^ version << 13


def address_of(vid, version):
    return BASE + 64 * (mix(vid, version) & (1 << LOG2_BUCKETS) - 1)


class Response:
    def __init__(self, beat):
        self.tag, self.again, self.code = beat & 0x7F, beat >> 7 & 1, beat >> 8 & 0xF
        self.position, self.notice, self.timestamp = beat >> 12 & 7, beat >> 15 & 1, beat >> 16

    def __repr__(self):
        return f"{vars(self)}"


class Unit:
    """The unit, by requests and their responses."""

    def __init__(self, bench):
        self.requests, self.responses = bench.source("s_axis_req"), bench.sink("m_axis_rsp")
        self.waiting = {}
        self.all = []
        cocotb.start_soon(self.take())

    async def take(self):
        while True:
            response = Response(await receive(self.responses))
            self.all.append(response)
            assert self.waiting.get(response.tag), f"nobody waits for {response}"
            event, found = self.waiting[response.tag].pop(0)
            found.append(response)
            event.set()

    def send(self, tag, op, timestamp, vid=0, version=0, rule=QUEUE, target=0):
        # What the document does not name is ignored.
        ignored = random.getrandbits(192) & (1 << 7 | 3 << 14 | ((1 << 25) - 1) << 167)
        send(
            self.requests,
            tag | op << 8 | rule << 12 | timestamp << 16 | vid << 64 | version << 128 | target << 160 | ignored,
        )
        return self.expect(tag)

    def expect(self, tag):
        """The next response with this tag, when it comes."""
        event, found = Event(), []
        self.waiting.setdefault(tag, []).append((event, found))

        async def come():
            await event.wait()
            return found[0]

        return cocotb.start_soon(come())

    async def ask(self, *request, **fields):
        return await self.send(*request, **fields)


async def start(dut):
    bench = await Bench.beside(dut)
    registers, unit = bench.registers(), Unit(bench)
    memory = LockMemory(bench, "m_axi", bench.source("s_axis_inv"))
    await bench.reset()
    await registers.write_qword(TABLE_BASE, BASE)
    await registers.write_dword(TABLE_LOG2, LOG2_BUCKETS)
    await registers.write_dword(CONTROL, 1)
    return bench, registers, unit, memory


async def end(bench, registers, memory):
    await bench.clocks(200)
    assert await registers.read_dword(RETURN) == 0, "requests are open"
    assert not memory.open and not any(any(line) for line in memory.lines.values()), f"left: {memory.lines}"
    bench.assert_nothing_is_left()


async def check_counters(registers, unit, memory, requests, polls=()):
    """Against the responses that have come, and the accesses that memory has seen."""
    found = [await registers.read_qword(COUNTERS + 8 * n) for n in range(16)]
    counted = [one for one in unit.all if not any(one is poll for poll in polls)]

    def of(*codes):
        return sum(one.code in codes for one in counted)

    again = sum(one.code == GRANTED and one.again for one in counted)
    handed = sum(one.code == RELEASED and one.timestamp != 0 for one in counted)
    wanted = [
        requests, of(GRANTED), again, of(QUEUED), of(FULL, BUSY, DIE, CONTENDED), of(RELEASED), handed, of(CANCELLED),
        sum(one.code in (NOT_HELD, TAG_BUSY, NOT_WAITING, BAD) for one in unit.all),
        sum(one.code == BUS for one in unit.all), memory.swaps, memory.stores, memory.reads,
    ]  # fmt: skip
    assert found[: len(wanted)] == wanted, f"counters {found}, expected {wanted}"


def is_as(response, code, timestamp, **fields):
    wanted = {"code": code, "timestamp": timestamp, "again": 0, "notice": 0, "position": 0, **fields}
    if code != QUEUED:
        del wanted["position"]
    found = {name: getattr(response, name) for name in wanted}
    assert found == wanted, f"{found}, expected {wanted}"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def each_request_ends_as_the_protocol_says(dut):
    """One request after the other, through all codes."""
    bench, registers, unit, memory = await start(dut)
    vid, version = 3, 9
    held, other = 100, 90
    at = address_of(vid, version)
    place = {"vid": vid, "version": version}
    is_as(await unit.ask(1, ACQUIRE, held, **place), GRANTED, held)
    assert memory.line(at) == [held << 16] + [0] * 7, f"{memory.line(at)}"
    is_as(await unit.ask(2, ACQUIRE, held, **place), GRANTED, held, again=1)
    is_as(await unit.ask(3, ACQUIRE, other, **place, rule=NO_WAIT), BUSY, other)
    is_as(await unit.ask(3, ACQUIRE, 110, **place, rule=WAIT_DIE), DIE, 110)
    is_as(await unit.ask(3, ACQUIRE, 0, **place), BAD, 0)
    is_as(await unit.ask(3, ACQUIRE, other, **place, rule=3), BAD, other)
    is_as(await unit.ask(3, 7, other, **place), BAD, other)
    is_as(await unit.ask(3, RELEASE, other, **place), NOT_HELD, other)
    is_as(await unit.ask(3, CANCEL, other, target=5), NOT_WAITING, other)
    # Seven wait, the eighth finds no place.
    for slot in range(1, 8):
        rule = WAIT_DIE if slot == 1 else QUEUE
        timestamp = other + slot - 1
        response = await unit.ask(10 + slot, ACQUIRE, timestamp, **place, rule=rule)
        is_as(response, QUEUED, timestamp, position=slot)
    is_as(await unit.ask(20, ACQUIRE, 50, **place), FULL, 50)
    assert memory.line(at)[1:] == [other + n << 16 for n in range(7)], f"{memory.line(at)}"
    # A tag that is open is not taken again, and its own response still comes.
    notice = unit.waiting.pop(11, [])
    is_as(await unit.ask(11, ACQUIRE, 77, **place), TAG_BUSY, 77)
    assert not notice
    polls = [await unit.ask(21, POLL, other + 3, target=14)]
    is_as(polls[0], QUEUED, other + 3, position=4)
    is_as(await unit.ask(21, CANCEL, other + 3, target=14), CANCELLED, other + 3)
    # The third leaves the queue by the hand of software: its own response says so.
    notice = unit.expect(13)
    head = memory.line(at)[0]
    memory.store(at, (head & ~(1 << 8 + 3) & ~0x3F) | (head & 0x3F) + 1)
    is_as(await notice, CANCELLED, other + 2, notice=1)
    holder, slots = held, [1, 2, 5, 6, 7]
    for slot in slots:
        notice = unit.expect(10 + slot)
        is_as(await unit.ask(22, RELEASE, holder, **place), RELEASED, other + slot - 1)
        holder = other + slot - 1
        is_as(await notice, GRANTED, holder, notice=1)
    is_as(await unit.ask(22, RELEASE, holder, **place), RELEASED, 0)
    await check_counters(registers, unit, memory, len(unit.all) - 7 + 1, polls)
    await end(bench, registers, memory)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def errors_of_memory_end_requests(dut):
    bench, registers, unit, memory = await start(dut)
    place = {"vid": 1, "version": 0}
    at = address_of(1, 0)
    memory.failing.add(at)
    is_as(await unit.ask(1, ACQUIRE, 5, **place), BUS, 5)
    assert (await registers.read_dword(ISR), int(dut.intr_o.value)) == (1, 0), "no event"
    await registers.write_dword(IER, 1)
    await registers.write_dword(GIE, 1)
    await bench.clocks(2)
    assert dut.intr_o.value == 1, "no interrupt"
    await registers.write_dword(ISR, 1)
    await bench.clocks(2)
    assert (await registers.read_dword(ISR), int(dut.intr_o.value)) == (0, 0), "the interrupt stays"
    is_as(await unit.ask(1, RELEASE, 5, **place), BUS, 5)
    memory.failing.clear()
    is_as(await unit.ask(1, ACQUIRE, 5, **place), GRANTED, 5)
    is_as(await unit.ask(2, ACQUIRE, 6, **place), QUEUED, 6, position=1)
    # The line that is read again after it has changed cannot be read.
    notice = unit.expect(2)
    memory.failing.add(at)
    memory.store(at + 32, 0)
    is_as(await notice, BUS, 6, notice=1)
    memory.failing.clear()
    # Its place in the queue is software's to clear.
    memory.store(at, 5 << 16)
    memory.store(at + 8, 0)
    is_as(await unit.ask(2, RELEASE, 5, **place), RELEASED, 0)
    await check_counters(registers, unit, memory, len(unit.all) - 1)
    await end(bench, registers, memory)


class Holders:
    """Who has each bucket, as far as those know who ask for it."""

    def __init__(self):
        self.of = {}

    def take(self, at, timestamp):
        assert at not in self.of, f"{timestamp} gets bucket {at:#x}, which {self.of[at]} has"
        self.of[at] = timestamp

    def give(self, at):
        del self.of[at]


async def transact(bench, unit, holders, number, polls, counts):
    """Takes locks, one after the other, each for a while. Collects answers of polls, and counts requests."""
    tag, helper = 2 * number, 2 * number + 1
    for turn in range(LOCKS):
        timestamp = 1000 * (turn + 1) + random.randrange(20) * 20 + number
        vid, version = random.getrandbits(64), random.getrandbits(32)
        at = address_of(vid, version)
        place = {"vid": vid, "version": version}
        rule = random.choice([QUEUE, QUEUE, NO_WAIT, WAIT_DIE])
        response = await unit.ask(tag, ACQUIRE, timestamp, **place, rule=rule)
        counts[0] += 1
        assert response.timestamp == timestamp and not response.notice, f"{response}"
        if response.code == QUEUED:
            assert 1 <= response.position <= 7, f"{response}"
            notice = unit.expect(tag)
            for _ in range(random.choice([0, 0, 1, 3])):
                poll = await unit.ask(helper, POLL, timestamp, target=tag)
                polls.append(poll)
                counts[0] += 1
                assert poll.code in (QUEUED, GRANTED, NOT_WAITING), f"{poll}"
            if random.random() < 0.3 and not notice.done():
                response = await unit.ask(helper, CANCEL, timestamp, target=tag)
                counts[0] += 1
                assert response.code in (CANCELLED, GRANTED, NOT_WAITING), f"{response}"
                if response.code == NOT_WAITING:
                    response = await notice
                else:
                    unit.waiting[tag].clear()
            else:
                response = await notice
            assert response.timestamp == timestamp, f"{response}"
        if response.code != GRANTED:
            assert response.code in (FULL, BUSY, DIE, CANCELLED), f"{response}"
            continue
        holders.take(at, timestamp)
        await bench.clocks(random.choice([1, 5, 200]))
        holders.give(at)
        response = await unit.ask(helper, RELEASE, timestamp, **place)
        counts[0] += 1
        assert response.code == RELEASED, f"{response}"


async def lock_by_software(bench, memory, holders):
    """Takes free buckets in memory itself, and hands them to those that have come to wait."""
    for turn in range(SOFTWARE_LOCKS):
        at = BASE + 64 * random.randrange(1 << LOG2_BUCKETS)
        timestamp = 1000 * (turn + 1) + 999
        while memory.swap(at, 0, timestamp << 16) != 0:
            await bench.clocks(random.randint(1, 20))
        holders.take(at, timestamp)
        await bench.clocks(random.randint(50, 300))
        holders.give(at)
        head = memory.line(at)[0]
        while True:
            seen = memory.swap(at, head, grant(head, memory.line(at)))
            if seen == head:
                break
            head = seen
            await bench.clocks(3)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def nobody_shares_a_lock(dut):
    bench, registers, unit, memory = await start(dut)
    holders, polls, counts = Holders(), [], [0]
    tasks = [cocotb.start_soon(transact(bench, unit, holders, n, polls, counts)) for n in range(AGENTS)]
    tasks.append(cocotb.start_soon(lock_by_software(bench, memory, holders)))
    for task in tasks:
        await task
    codes = {one.code for one in unit.all}
    assert {GRANTED, QUEUED, RELEASED} <= codes, f"codes {codes}"
    await registers.write_dword(CONTROL, 0)
    await check_counters(registers, unit, memory, counts[0], polls)
    assert await registers.read_qword(COUNTERS + 8 * 15) > 0, "no copy became void"
    await end(bench, registers, memory)
