# SPDX-License-Identifier: MIT OR Apache-2.0
"""dma_vectorizer between the AXI4, AXI4-Lite and AXI4-Stream models of cocotbext-axi."""

import random

import cocotb
from bench import Bench, receive, send

ELEMENTS = 150
MEMORY = 1 << 18
HALF = MEMORY // 2
HOST_LAST, NIC_LAST, CONTROL = 0x030, 0x050, 0x000
HOST_FIRST, NIC_FIRST = 0x020, 0x040


def draw_elements():
    """Reads and writes whose sources are in the first half of a memory, and whose targets touch."""
    free = [HALF, HALF]
    for token in range(ELEMENTS):
        way = random.randrange(2)
        length = random.choice([64, 256, random.randint(1, 64), random.randint(1, 1500)])
        target = free[way] + random.choice([0, 0, 1, 61])
        free[way] = target + length
        source = random.randrange(HALF - length)
        host, nic = (target, source) if way else (source, target)
        yield token, way, host, nic, length


def beat_of(token, way, host, nic, length):
    return token | length << 16 | host << 32 | nic << 96 | way << 160


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def elements_are_copied_once(dut):
    bench = await Bench.beside(dut)
    rams = [bench.memory(f"m_axi_{name}", MEMORY) for name in ("host", "nic")]
    registers = bench.registers()
    sources = [bench.source(f"s_axis_cmd{n}") for n in range(8)]
    done = bench.sink("m_axis_done")
    await bench.reset()

    before = [random.randbytes(MEMORY) for _ in rams]
    for ram, content in zip(rams, before):
        ram.write(0, content)
    for first, last in ((HOST_FIRST, HOST_LAST), (NIC_FIRST, NIC_LAST)):
        await registers.write_dword(first, 0)
        await registers.write_dword(last, MEMORY - 4096)
    await registers.write_dword(CONTROL, 1)

    elements = list(draw_elements())
    expected = [bytearray(content) for content in before]
    queues = {}
    for element in elements:
        token, way, host, nic, length = element
        queues[token] = random.randrange(8)
        send(sources[queues[token]], beat_of(*element))
        source, target = (nic, host) if way else (host, nic)
        expected[1 - way][target : target + length] = before[way][source : source + length]
    ended = set()
    while len(ended) < ELEMENTS:
        beat = await receive(done)
        token, queue, response = beat & 0xFFFF, beat >> 16 & 7, beat >> 20
        assert token not in ended, f"token {token} comes twice"
        assert (queue, response) == (queues[token], 0), f"token {token}: 0x{beat:06X}"
        ended.add(token)
    await bench.clocks(300)
    bench.assert_nothing_is_left()
    for name, ram, content in zip(("host", "NIC"), rams, expected):
        found = bytes(ram.read(0, MEMORY))
        wrong = next((n for n in range(MEMORY) if found[n] != content[n]), None)
        assert wrong is None, f"byte 0x{wrong:X} of {name} memory"
