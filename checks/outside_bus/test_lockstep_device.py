# SPDX-License-Identifier: MIT OR Apache-2.0
"""lockstep_device between the models of cocotbext-axi: software that writes rings, a mover, an engine, a lock table."""

import random
import struct

import cocotb
from atomics import LockMemory
from bench import Bench, FailingRegion, receive, send

COPY, LOCK, JOB = 0x2000, 0x3000, 0x4000  # queues
VECTORS = {COPY: 1, LOCK: 2, JOB: 4}
CONTROL, GIE, IER, ISR, RETURN, SUBMISSION_BASE, COMPLETION_BASE, LOG2_ENTRIES = 0, 4, 8, 0xC, 0x10, 0x20, 0x30, 0x40
SUBMISSION_TAIL, COMPLETION_HEAD, SUBMISSION_HEAD, COMPLETION_TAIL, ERROR = 0x50, 0x60, 0x70, 0x80, 0x90
COUNTERS = 0x200
FORCE, INTERRUPT_COUNT, IDENTITY, CARD = 0x040, 0x200, 0x100, 0x108
LOCK_UNIT, LOCK_TABLE, LOCK_LOG2, ERROR_BY_BUS = 0x1000, 0x1020, 0x1030, 3
MEMORY, LOG2 = 1 << 14, 3
ENTRIES = 1 << LOG2
OKAY, SLVERR = 0, 2
TIMEOUT = {"timeout_time": 2, "timeout_unit": "ms"}


class Queue:
    """Software's side of a queue: rings in memory, doorbells, phases."""

    def __init__(self, device, base, at):
        self.device, self.base, self.at = device, base, at
        self.tail = self.head = 0

    async def write(self, offset, value):
        answer = await self.device.registers.write(self.base + offset, struct.pack("<I", value))
        return int(answer.resp)

    async def read(self, offset):
        return await self.device.registers.read_dword(self.base + offset)

    async def switch_on(self):
        self.device.memory.mem[self.at : self.at + 0x1000] = bytes(0x1000)
        self.tail = self.head = 0
        for offset, value in ((SUBMISSION_BASE, self.at), (COMPLETION_BASE, self.at + 0x800), (LOG2_ENTRIES, LOG2),
                              (IER, 3), (GIE, 1), (CONTROL, 1)):  # fmt: skip
            assert await self.write(offset, value) == OKAY, f"offset {offset:#x}"

    def put(self, *words):
        """Writes a submission; the doorbell tells of it."""
        at = self.at + 64 * (self.tail % ENTRIES)
        self.device.memory.mem[at : at + 64] = struct.pack("<8Q", *words, *[0] * (8 - len(words)))
        self.tail += 1

    async def ring(self):
        assert await self.write(SUBMISSION_TAIL, self.tail & 0xFFFF) == OKAY, "doorbell"

    async def take(self):
        """The next completion, when its phase says that it is there."""
        at = self.at + 0x800 + 16 * (self.head % ENTRIES)
        phase = 1 - self.head // ENTRIES % 2

        def words():
            return struct.unpack_from("<2Q", self.device.memory.mem, at)

        await self.device.bench.until(lambda: words()[0] >> 24 & 1 == phase, f"completion {self.head}")
        self.head += 1
        await self.write(COMPLETION_HEAD, self.head & 0xFFFF)
        first, second = words()
        return first & 0xFFFF, first >> 16 & 0xFF, first >> 32, second


class Device:
    """The device, with models at the ports that these tests use; the others are quiet."""

    def __init__(self, bench):
        self.bench, self.registers = bench, bench.registers()
        self.memory = FailingRegion(MEMORY)
        bench.region("m_axi_queue", self.memory)
        self.moves, self.moved = bench.sink("m_axis_move"), bench.source("s_axis_moved")
        self.jobs, self.done = bench.sink("m_axis_job"), bench.source("s_axis_jobdone")
        self.interrupts = bench.sink("m_axis_irq")
        self.locks = LockMemory(bench, "m_axi_lock", bench.source("s_axis_inv"))
        self.vectors = []
        cocotb.start_soon(self.take_interrupts())

    async def take_interrupts(self):
        while True:
            self.vectors.append(await receive(self.interrupts))

    async def end(self, wanted):
        """Nothing is under way, and these were the interrupts, by vector."""
        await self.bench.clocks(300)
        found = [self.vectors.count(vector) for vector in range(6)]
        assert found == wanted, f"interrupts {found}, expected {wanted}"
        counted = [await self.registers.read_dword(INTERRUPT_COUNT + 4 * n) for n in range(6)]
        assert counted == wanted, f"INTERRUPT_COUNT {counted}, expected {wanted}"
        self.bench.assert_nothing_is_left()
        await self.bench.until(lambda: self.bench.dut.idle_o.value == 1, "idle_o")


async def start(dut):
    bench = await Bench.beside(dut)
    device = Device(bench)
    await bench.reset()
    return device


async def feed(queue, submissions):
    """Hands submissions on while the ring has room; some at a time."""
    for submission in submissions:
        while queue.tail - queue.head >= ENTRIES:
            await queue.device.bench.clocks(20)
        queue.put(*submission)
        if random.random() < 0.6:
            await queue.ring()
    await queue.ring()


async def move(device, host, card):
    """Copies as commands say, and answers them in any order."""
    waiting = []

    async def answer():
        while True:
            await device.bench.clocks(random.randint(1, 60))
            if waiting:
                tag, length = waiting.pop(random.randrange(len(waiting)))
                send(device.moved, tag | length << 32)

    cocotb.start_soon(answer())
    while True:
        command = await receive(device.moves)
        tag, opcode, length = command & 0xFFFF, command >> 16 & 0xFF, command >> 32 & 0xFFFFFFFF
        source, target = command >> 64 & (1 << 64) - 1, command >> 128
        assert tag not in {one for one, _ in waiting}, f"tag {tag} is open"
        places = {1: (host, card), 2: (card, host), 3: (host, host)}
        assert opcode in places, f"opcode {opcode}"
        origin, end = places[opcode]
        end[target : target + length] = origin[source : source + length]
        waiting.append((tag, length))


@cocotb.test(**TIMEOUT)
async def copies_are_carried_out_and_complete(dut):
    device = await start(dut)
    queue = Queue(device, COPY, 0x1000)
    host, card = bytearray(random.randbytes(4096)), bytearray(4096)
    before = bytes(host)
    cocotb.start_soon(move(device, host, card))
    await queue.switch_on()
    # The rings stay where they are while the queue is on.
    for offset in (SUBMISSION_BASE, COMPLETION_BASE + 4, LOG2_ENTRIES):
        value = await queue.read(offset)
        assert await queue.write(offset, 2) == SLVERR and await queue.read(offset) == value, f"{offset:#x}"
    submissions, wanted, interrupts = [], {}, 0
    for number in range(20):
        opcode, length, status = 1, random.randint(1, 100), 0
        if number % 7 == 3:
            opcode, status = random.choice([0, 4, 255]), 1
        elif number % 7 == 5:
            length, status = random.choice([0, (1 << 30) + 1]), 2
        wants = random.randrange(2)
        interrupts += wants
        wanted[1000 + number] = (status, 0 if status else length)
        submissions.append((1000 + number | opcode << 16 | wants << 24 | length << 32, 128 * number, 100 * number))
    feeding = cocotb.start_soon(feed(queue, submissions))
    for _ in submissions:
        identifier, status, length, word = await queue.take()
        assert (status, length) == wanted.pop(identifier, None) and word == 0, f"{identifier}: {status}, {length}"
    await feeding
    for number, (first, source, target) in enumerate(submissions):
        length = first >> 32
        if first >> 16 & 0xFF == 1 and 0 < length <= 1 << 30:
            assert card[target : target + length] == before[source : source + length], f"copy {number}"
    values = [await device.registers.read_qword(COPY + COUNTERS + 8 * n) for n in range(5)]
    bytes_moved = sum(first >> 32 for first, *_ in submissions if first >> 16 & 0xFF == 1 and 0 < first >> 32 <= 100)
    assert values == [20, 20, interrupts, bytes_moved, 6], f"{values}, {bytes_moved}"
    assert await queue.read(ISR) == 1, "ISR"
    # A doorbell beyond the ring halts the queue.
    await queue.write(SUBMISSION_TAIL, queue.tail + ENTRIES + 1)
    assert (await queue.read(ERROR), await queue.read(CONTROL)) == (3, 0), "a doorbell out of range"
    assert await queue.read(ISR) == 3, "ISR"
    # So does a submission that cannot be read.
    await queue.switch_on()
    assert (await queue.read(ERROR), await queue.read(SUBMISSION_HEAD)) == (0, 0), "counts of a queue that is on again"
    device.memory.failing = {0x1000 // 64}
    queue.put(7 | 1 << 16 | 8 << 32, 0, 0)
    await queue.ring()
    await device.bench.clocks(200)
    assert (await queue.read(ERROR), await queue.read(CONTROL), await queue.read(RETURN)) == (1, 0, 0), "a read failed"
    # By hand, vectors 0 and 5.
    assert await queue.device.registers.write(FORCE, struct.pack("<I", 0b100001)), "by hand"
    await device.end([1, interrupts + 2, 0, 0, 0, 1])


@cocotb.test(**TIMEOUT)
async def locks_and_jobs_go_through_their_queues(dut):
    device = await start(dut)
    registers = device.registers
    locks, jobs = Queue(device, LOCK, 0x2000), Queue(device, JOB, 0x3000)
    base, timestamps = 0x8_0000, (40, 41)
    await registers.write_qword(LOCK_TABLE, base)
    await registers.write_dword(LOCK_LOG2, 1)
    await registers.write_dword(LOCK_UNIT, 1)
    await locks.switch_on()
    await jobs.switch_on()

    async def work():
        """Answers each job with its identifier and what it asked for."""
        for number in range(12):
            job = await receive(device.jobs)
            words = [job >> 64 * n & (1 << 64) - 1 for n in range(8)]
            assert words[1:] == [77 * number + n for n in range(1, 8)], f"job {number}: {words}"
            await device.bench.clocks(random.randint(1, 50))
            answer = words[0] & 0xFFFF | (number % 2 * 16) << 16 | words[0] & 1 << 24 | number << 32
            send(device.done, answer | words[1] << 64)

    working = cocotb.start_soon(work())
    submissions = [(500 + n | 2 << 16 | (n % 3 == 0) << 24, *(77 * n + k for k in range(1, 8))) for n in range(12)]
    feeding = cocotb.start_soon(feed(jobs, submissions))

    def request(tag, op, timestamp):
        return (9 | 1 << 16, 0, 0, 0, tag | op << 8 | timestamp << 16, 6, 0)

    async def response():
        tag, status, _, beat = await locks.take()
        assert status == 0 and tag == beat & 0x7F, f"{tag}, {status}, {beat:#x}"
        return tag, beat >> 8 & 0xF, beat >> 12 & 7, beat >> 15 & 1, beat >> 16

    async def ask(*fields):
        locks.put(*request(*fields))
        await locks.ring()
        return await response()

    async def take_locks():
        assert await ask(1, 0, timestamps[0]) == (1, 0, 0, 0, timestamps[0]), "granted"
        assert device.locks.line(base)[0] == timestamps[0] << 16, f"{device.locks.lines}"
        assert await ask(2, 0, timestamps[1]) == (2, 1, 1, 0, timestamps[1]), "queued"
        both = {await ask(3, 1, timestamps[0]), await response()}
        assert both == {(3, 6, 0, 0, timestamps[1]), (2, 0, 0, 1, timestamps[1])}, f"{both}"
        assert await ask(4, 1, timestamps[1]) == (4, 6, 0, 0, 0), "released"
        locks.put(11 | 2 << 16)
        await locks.ring()
        assert (await locks.take())[:2] == (11, 1), "a bad opcode"

    locking = cocotb.start_soon(take_locks())
    for number in range(12):
        completion = await jobs.take()
        assert completion == (500 + number, number % 2 * 16, number, 77 * number + 1), f"{completion}"
    for task in (working, feeding, locking):
        await task
    # An error of the lock table's memory interrupts.
    await registers.write_dword(LOCK_UNIT + IER, 1)
    await registers.write_dword(LOCK_UNIT + GIE, 1)
    device.locks.failing = {base}
    assert await ask(1, 0, 50) == (1, 9, 0, 0, 50), "error: bus"
    assert await registers.read_dword(LOCK_UNIT + RETURN) == 0, "requests are open"
    # Each completion of the lock queue interrupts: a response may come long after its request.
    await device.end([0, 0, 7, 1, 4, 0])
