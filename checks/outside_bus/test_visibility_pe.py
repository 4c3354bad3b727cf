# SPDX-License-Identifier: MIT OR Apache-2.0
"""visibility_pe between the streams and memories of cocotbext-axi, over a table made from the documents."""

import random
import struct

import cocotb
import store_image
from bench import Bench, FailingRegion
from cocotbext.axi.stream import define_stream
from store_image import JOB, NOT_OLDER, PAGE, PROGRAM, STORAGE, Store, crc32c

VIDS = 40
CONTROL, GIE, IER, ISR, RETURN, JOB_ADDRESS = 0x000, 0x004, 0x008, 0x00C, 0x010, 0x020
COUNTED = {"vids": 0x208, "visible": 0x218, "emitted": 0x220, "faults": 0x228}
TOO_SHORT, REFUSED, FINISHED = 21, 254, 255
LOAD, CONSTANT, FILTER, OUT, LESS, END = 0x01, 0x02, 0x05, 0x06, 0x32, 0x00


# A stream whose beats may have bits that are X.
RowBus, _, _, RowSink, _ = define_stream("Row", signals=["tdata", "tlast", "tvalid", "tready"])


class Packet:
    """From its beats; no bit that means something may be X."""

    def __init__(self, beats):
        header = int(beats[0])
        self.vid, self.number = header & 0xFFFFFFFF, header >> 32 & 0xFFFFFFFF
        self.record, self.created = (header >> at & (1 << 64) - 1 for at in (64, 128))
        self.length, self.code = header >> 192 & 0xFFFF, header >> 208 & 0xFF
        count, nulls, self.reserved = header >> 216 & 0xFF, header >> 224 & 0xFF, header >> 232
        rest, self.values = beats[1:], None
        if count:
            values = [int(rest[0]) >> 64 * n & (1 << 64) - 1 for n in range(8)]
            assert not any(values[count:]), "values that are none"
            self.values = [None if nulls >> n & 1 else value for n, value in enumerate(values[:count])]
            assert all(values[n] == 0 for n in range(8) if nulls >> n & 1), "a null with bits"
            rest = rest[1:]
        assert len(rest) == -(-self.length // 64), f"{len(rest)} beats of {self.length} bytes"
        bits = "".join(str(beat) for beat in reversed(rest))
        bits = bits[len(bits) - 8 * self.length :]
        self.payload = int(bits or "0", 2).to_bytes(self.length, "little")


class Element:
    """The element, by runs."""

    def __init__(self, bench):
        self.bench, self.registers = bench, bench.registers()
        self.rows = bench.stream(RowSink(RowBus.from_prefix(bench.dut, "m_axis_row"), **bench.ports))
        self.region = FailingRegion(store_image.MEMORY)
        for port in (0, 1):
            bench.region_to_read(f"m_axi_{port}", self.region)

    async def run(self, store, job=JOB, stop_after=None):
        """All packets but the last, and the last."""
        self.region.mem[:] = bytes(store.memory)
        self.region.failing = store.failing
        await self.registers.write_qword(JOB_ADDRESS, job)
        await self.registers.write_dword(CONTROL, 1)
        packets = []
        while True:
            beats = [await self.rows.recv()]
            while not int(beats[-1].tlast):
                beats.append(await self.rows.recv())
            packets.append(Packet([beat.tdata for beat in beats]))
            assert packets[-1].reserved == 0, f"{vars(packets[-1])}"
            if packets[-1].code in (REFUSED, FINISHED):
                break
            if len(packets) == stop_after:
                await self.registers.write_dword(CONTROL, 2)
        await self.bench.until(lambda: self.bench.dut.intr_o.value == 1, "the interrupt")
        assert await self.registers.read_dword(CONTROL) == 0, "CONTROL after the run"
        assert await self.registers.read_dword(ISR) == 1, "ISR after the run"
        await self.registers.write_dword(ISR, 1)
        await self.bench.clocks(2)
        assert self.bench.dut.intr_o.value == 0, "the interrupt stays"
        self.bench.assert_nothing_is_left()
        return packets[:-1], packets[-1]


async def start(dut):
    bench = await Bench.beside(dut)
    element = Element(bench)
    await bench.reset()
    await element.registers.write_dword(IER, 1)
    await element.registers.write_dword(GIE, 1)
    return bench, element


def instruction(op, dst=0, a=0, b=0, z=0, x=0, y=0):
    return op | dst << 8 | a << 12 | b << 16 | z << 20 | x << 32 | y << 48


def image_of(code, constants, outputs, table):
    head = struct.pack("<4sHBBBB6xIH38x", b"LKPR", 1, len(code), len(constants), outputs, 0, table, 24)
    rest = struct.pack("<64Q64Q", *code, *[0] * (64 - len(code)), *constants, *[0] * (64 - len(constants)))
    return head + struct.pack("<I", crc32c(head + rest)) + rest


class Program:
    """The rows whose first column is less than a constant: two columns, either of which may be null."""

    LIMIT = 1 << 62

    def __init__(self, store, reach):
        code = [
            instruction(LOAD, dst=0, x=8, y=0), instruction(LOAD, dst=1, x=reach, y=1),
            instruction(CONSTANT, dst=2, x=0), instruction(LESS, dst=3, a=0, b=2), instruction(FILTER, a=3),
            instruction(OUT, z=0, a=0), instruction(OUT, z=1, a=1), instruction(END),
        ]  # fmt: skip
        self.reach = reach
        store.write(PROGRAM, image_of(code, [self.LIMIT], 2, store.table))

    def of(self, payload):
        """None, a fault, or the values."""
        if len(payload) < self.reach + 8:
            return TOO_SHORT
        nulls = payload[0]
        columns = [
            None if nulls >> n & 1 else struct.unpack_from("<q", payload, at)[0] for n, at in enumerate((8, self.reach))
        ]
        if columns[0] is None or columns[0] >= self.LIMIT:
            return None
        return [None if one is None else one & (1 << 64) - 1 for one in columns]


def expected(store, first, end, snapshot, program=None):
    """By VID: what its packet says."""
    found, rows = {}, 0
    for vid in range(first, end):
        ended = store.walk(vid, snapshot)
        if ended is None:
            continue
        if ended[0]:
            found[vid] = ended[0], ended[1]
            continue
        _, record, number, created, payload = ended
        rows += 1
        values = program.of(payload) if program else ()
        if values == TOO_SHORT:
            found[vid] = TOO_SHORT, record
        elif values is not None:
            found[vid] = 0, record, number, created, payload, list(values) or None
    return found, rows


def check(packets, last, wanted, rows, vids):
    for packet in packets:
        assert packet.vid in wanted, f"VID {packet.vid} has a packet twice, or should have none: {vars(packet)}"
        answer = wanted.pop(packet.vid)
        found = (packet.code, packet.record, packet.number, packet.created, packet.payload, packet.values)
        if answer[0]:
            assert packet.payload == b"" and packet.values is None, f"{vars(packet)}"
            found = found[: 1 if answer[1] is None else 2]
            answer = answer[: len(found)]
        assert found == answer, f"VID {packet.vid}: {found}, expected {answer}"
    assert not wanted, f"VIDs without a packet: {wanted}"
    faults = sum(packet.code != 0 for packet in packets)
    counts = (last.vid, last.number, last.record & 0xFFFFFFFF, last.record >> 32)
    assert last.code == FINISHED and counts == (vids, rows, len(packets) - faults, faults), f"{counts}"


async def check_counters(element, counts):
    for name, value in counts.items():
        found = await element.registers.read_qword(COUNTED[name])
        assert found == value, f"{name}: {found}, expected {value}"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def rows_are_those_that_a_snapshot_sees(dut):
    _, element = await start(dut)
    store = Store(VIDS, 200)
    first, end = 3, VIDS
    snapshot = random.randint(100, store.last_commit)
    wanted, rows = expected(store, first, end, snapshot)
    emitted = len(wanted)
    store.write_job(first, end, snapshot)
    check(*await element.run(store), wanted, rows, end - first)
    await check_counters(element, {"vids": end - first, "visible": rows, "emitted": emitted, "faults": 0})
    # What was verified is known; another snapshot, and a program that some rows are too short for.
    program = Program(store, 24)
    wanted, rows = expected(store, 0, VIDS, store.last_commit, program)
    store.write_job(0, VIDS, store.last_commit, PROGRAM, flags=0b10)
    check(*await element.run(store), wanted, rows, VIDS)
    assert await element.registers.read_dword(RETURN) == rows, "RETURN"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def runs_without_rows_and_runs_that_cannot_begin(dut):
    _, element = await start(dut)
    store = Store(VIDS, 40)
    store.write_job(7, 7, 1000)
    check(*await element.run(store), {}, 0, 0)
    # No map, and no commit that is old enough.
    store.write_job(0, 5, 99)
    check(*await element.run(store), {}, 0, 5)

    async def refused(reason, job=JOB):
        packets, last = await element.run(store, job)
        assert (packets, last.code, last.vid) == ([], REFUSED, reason), f"{reason}: {vars(last)}"
        await check_counters(element, dict.fromkeys(COUNTED, 0))

    store.failing = {JOB // 64 + 1}
    await refused(1)
    store.failing = {PROGRAM // 64 + 9}
    store.write_job(0, 5, 1000, PROGRAM)
    Program(store, 16)
    await refused(2)
    store.failing = set()
    store.write_job(0, 5, 1000, PROGRAM + 8)
    await refused(3)
    store.write_job(0, 5, 1000, PROGRAM)
    for at, byte, reason in ((0, 0x4D, 4), (4, 2, 5), (6, 0, 6), (6, 65, 6), (7, 65, 6), (8, 9, 6), (9, 1, 7)):
        Program(store, 16)
        store.memory[PROGRAM + at] = byte
        await refused(reason)
    # A run that is told to stop ends; while it runs, it cannot be begun or moved.
    store = Store(VIDS, 40)
    store.write_job(0, VIDS, store.last_commit)
    _, last = await element.run(store, stop_after=1)
    assert last.code == FINISHED and 0 < last.vid <= VIDS, f"{vars(last)}"


def damage(store):
    """Damages pages, each in a way of its own."""
    at = [STORAGE + PAGE * store.places[page] for page in store.on_storage]
    number = store.on_storage[2]
    store.memory[at[0] + random.randrange(8, PAGE)] ^= 1 << random.randrange(8)
    store.failing.add(at[1] // 64 + random.randrange(PAGE // 64))
    kind = random.choice(["place", "table", "store", "beyond"])
    if kind == "place":
        struct.pack_into("<Q", store.memory, store.map_chunk + 64 + 8 * number, 0)
    elif kind == "beyond":
        struct.pack_into("<Q", store.memory, store.map_chunk + 64 + 8 * number, store.place(store_image.STORAGE_PAGES))
    else:
        struct.pack_into("<I", store.memory, at[2] + (16 if kind == "table" else 56), store.table + 1)
        store.sum_up(at[2])
    # In a page that is whole: a line that leads out of it, a version of another tuple, a cycle, too few lines.
    image = store_image.IMAGES
    pointers = [struct.unpack_from("<I", store.memory, image + 64 + 4 * n)[0] for n in range(4)]
    struct.pack_into("<I", store.memory, image + 64, pointers[0] & ~0x3FFF | random.choice([60, 8188, 8184, 68]))
    struct.pack_into("<I", store.memory, image + (pointers[1] & 0x3FFF) + 24, VIDS + 1)
    struct.pack_into("<Q", store.memory, image + (pointers[2] & 0x3FFF) + 16, store.in_images[0] * 256 + 2)
    for n in (2, 3):
        struct.pack_into("<Q", store.memory, image + (pointers[n] & 0x3FFF), 1 << 60)
    store.sum_up(image)
    last = store_image.IMAGES + PAGE
    (lines,) = struct.unpack_from("<H", store.memory, last + 20)
    struct.pack_into("<H", store.memory, last + 20, lines - 3)
    store.sum_up(last)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def faults_are_those_of_single_tuples(dut):
    _, element = await start(dut)
    snapshot, codes = 120, set()
    while len(codes) < 6 or NOT_OLDER not in codes:
        store = Store(VIDS, 60)
        damage(store)
        wanted, rows = expected(store, 0, VIDS, snapshot)
        codes = {answer[0] for answer in wanted.values()}
    store.write_job(0, VIDS, snapshot)
    check(*await element.run(store), wanted, rows, VIDS)
    # A chunk of the VID map that cannot be read is a fault of each VID without a change.
    store.failing.add(store.vid_chunk // 64 + 5)
    wanted, rows = expected(store, 0, VIDS, 150)
    store.write_job(0, VIDS, 150)
    check(*await element.run(store), wanted, rows, VIDS)
