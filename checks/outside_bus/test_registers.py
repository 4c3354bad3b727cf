# SPDX-License-Identifier: MIT OR Apache-2.0
"""The registers of a block, over AXI4-Lite as it may be: accesses in a row, strobes, addresses between words."""

import os
import random

import cocotb
from bench import Bench
from lite import DECERR, OKAY, SLVERR, Lite, words

TOP = os.environ["TOP"]
WORDS = words(TOP)
ADDRESSES = {word.address for word in WORDS}
BLOCK_BYTES = 0x1000
ABSENT = 24  # offsets without a word that are tried
AT_ONCE = 6  # words that are accessed at the same time
LANES = [0, 0, 1, 2, 3]
TIMEOUT = {"timeout_time": 2, "timeout_unit": "ms"}


async def all_of(jobs, at_once=AT_ONCE):
    """Runs so many of the jobs at a time, in any order."""
    jobs = list(jobs)
    random.shuffle(jobs)

    async def work():
        while jobs:
            await jobs.pop()

    for task in [cocotb.start_soon(work()) for _ in range(at_once)]:
        await task


async def start(dut):
    bench = await Bench.beside(dut)
    lite = Lite(bench)
    await bench.reset()
    return bench, lite


def absent():
    """Offsets without a word: beside one that has, and anywhere."""
    bits = max(address.bit_length() for address in ADDRESSES)
    end = max(BLOCK_BYTES, 1 << bits)
    beside = {address + 4 for address in ADDRESSES}
    drawn = [4 * random.randrange(end // 4) for _ in range(ABSENT)] + random.sample(sorted(beside), 10)
    return [address for address in drawn if address not in ADDRESSES and address < end]


async def check_read(lite, word, value=None):
    """Reads a word at any of its four bytes: the answer is the whole word."""
    data, response = await lite.read(word.address + random.choice(LANES))
    if word.access == "WriteOnly":
        assert response == DECERR, f"read of {word.name}: response {response}"
        return
    assert response == OKAY, f"read of {word.name}: response {response}"
    value = word.reset if value is None else value
    assert data & ~word.mask == 0, f"{word.name} reads {data:#x}, which has bits of no field"
    assert value is None or data == value, f"{word.name} reads {data:#x}, expected {value:#x}"


async def check_absent(lite, address):
    """No word is there, nor, where addresses between words are none, between two."""
    data, response = await lite.read(address + random.randrange(4 - address % 4))
    assert (data, response) == (0, DECERR), f"read of {address:#x}: {data:#x}, response {response}"
    response = await lite.write(address, random.getrandbits(32), random.choice([0b1111, random.randrange(16)]))
    assert response == SLVERR, f"write of {address:#x}: response {response}"


@cocotb.test(**TIMEOUT)
async def each_word_reads_as_after_a_reset(dut):
    bench, lite = await start(dut)
    await all_of([check_read(lite, word) for word in 2 * WORDS] + [check_absent(lite, one) for one in absent()], 12)
    assert lite.most > 6, "reads did not overlap"
    bench.assert_nothing_is_left()


def bytes_of(strobe):
    return sum(0xFF << 8 * lane for lane in range(4) if strobe >> lane & 1)


async def check_strobes(lite, word):
    """All sixteen strobes: the bytes named are written, or the write is refused and nothing is."""
    kept = word.reset or 0
    for strobe in random.sample(range(16), 16):
        value = word.suited(random.getrandbits(32))
        # An address between words is of that word; the strobes say which bytes.
        lowest = (strobe & -strobe).bit_length() - 1 if strobe else 0
        response = await lite.write(word.address + random.choice([0, lowest]), value, strobe)
        takes = "takes_bytes" in word.limits or strobe == 0b1111
        what = f"{word.name} = {value:#010x}, strobes {strobe:04b}"
        assert response == (OKAY if takes else SLVERR), f"{what}: response {response}"
        if takes and word.is_kept():
            kept = (kept & ~bytes_of(strobe) | value & bytes_of(strobe)) & word.mask
        await check_read(lite, word, kept)
        # What was behind a write that was refused must not come later.
        if not takes and random.random() < 0.2:
            await check_read(lite, word, kept)


async def check_refused(lite, word):
    """Strobes that are too few, values that are impossible."""
    for strobe in random.sample(range(15), 15):
        response = await lite.write(word.address, 0xFFFFFFFF, strobe)
        assert response == SLVERR, f"{word.name}, strobes {strobe:04b}: response {response}"
        await check_read(lite, word, word.reset)


async def check_read_only(lite, word):
    response = await lite.write(word.address, random.getrandbits(32))
    assert response == SLVERR, f"write of {word.name}: response {response}"
    await check_read(lite, word)


async def check_impossible(lite, word):
    before, _ = await lite.read(word.address)
    for value in word.unsuited():
        response = await lite.write(word.address, value)
        assert response == SLVERR, f"{word.name} = {value:#x}: response {response}"
        await check_read(lite, word, before)


@cocotb.test(**TIMEOUT)
async def strobes_name_the_bytes_that_change(dut):
    bench, lite = await start(dut)
    kept = [word for word in WORDS if word.is_kept()]
    refused = [word for word in WORDS if word.access != "ReadOnly" and not word.is_kept()]
    read_only = [word for word in WORDS if word.access == "ReadOnly"]
    await all_of(
        [check_strobes(lite, word) for word in kept]
        + [check_refused(lite, word) for word in refused]
        + [check_read_only(lite, word) for word in random.sample(read_only, min(20, len(read_only)))]
    )
    await all_of(check_impossible(lite, word) for word in kept)
    # Neither refused writes nor those of others have started anything.
    await all_of(check_read(lite, word) for word in WORDS if not word.is_kept())
    bench.assert_nothing_is_left()


@cocotb.test(**TIMEOUT)
async def a_read_sees_each_write_before_it(dut):
    """Reads and writes under way together: a read may see a write that is under way, and none that is over."""
    bench, lite = await start(dut)
    kept = [word for word in WORDS if word.is_kept()]
    history = {word.address: [word.reset or 0] for word in kept}
    over = dict.fromkeys(history, 0)  # of a word: the write whose response has come

    async def write(word):
        value = word.suited(random.getrandbits(32)) & word.mask
        history[word.address].append(value)
        number = len(history[word.address]) - 1
        assert await lite.write(word.address, value) == OKAY, f"{word.name} = {value:#x}"
        over[word.address] = number

    async def read(word):
        oldest = over[word.address]
        data, response = await lite.read(word.address)
        possible = history[word.address][oldest:]
        assert response == OKAY and data in possible, f"{word.name}: {data:#x}, not of {possible}"

    several = random.sample(kept, min(4, len(kept)))
    await all_of([random.choice([read, write])(random.choice(several)) for _ in range(200)], 10)
    await all_of(check_read(lite, word, history[word.address][-1]) for word in kept)
    assert lite.most > 4, "accesses did not overlap"
    bench.assert_nothing_is_left()


@cocotb.test(**TIMEOUT)
async def a_manager_reads_any_bytes(dut):
    """That of cocotbext-axi makes several accesses of bytes in several words; the first may be between words."""
    bench = await Bench.beside(dut)
    manager = bench.registers()
    await bench.reset()
    fixed = {word.address: word.reset for word in WORDS if word.name in ("IDENTITY", "VERSION")}
    image = {address + lane: value >> 8 * lane & 0xFF for address, value in fixed.items() for lane in range(4)}
    starts = [address for address in image if address + 1 in image]

    async def check():
        at = random.choice(starts)
        most = next(n for n in range(1, 9) if at + n not in image)
        wanted = bytes(image[at + n] for n in range(random.randint(1, most)))
        found = (await manager.read(at, len(wanted))).data
        assert found == wanted, f"{len(wanted)} bytes at {at:#x}: {found.hex()}, expected {wanted.hex()}"

    await all_of(check() for _ in range(40))
    bench.assert_nothing_is_left()


@cocotb.test(**TIMEOUT)
async def a_reset_among_accesses_leaves_nothing(dut):
    bench, lite = await start(dut)
    kept = [word for word in WORDS if word.is_kept()]
    for _ in range(3):
        doomed = [cocotb.start_soon(lite.write(word.address, word.suited(2**32 - 1))) for word in 2 * kept[:8]]
        doomed += [cocotb.start_soon(lite.read(word.address)) for word in kept[:8]]
        await bench.clocks(random.randint(3, 25))
        for task in doomed:
            task.cancel()
        await bench.reset(lite)
        await all_of(check_read(lite, word) for word in kept)
    bench.assert_nothing_is_left()
