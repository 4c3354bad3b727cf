# SPDX-License-Identifier: MIT OR Apache-2.0
"""dma_vectorizer between the AXI4, AXI4-Lite and AXI4-Stream models of cocotbext-axi."""

import itertools
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import (
    AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiStreamBus, AxiStreamFrame, AxiStreamSink,
    AxiStreamSource,
)  # fmt: skip

ELEMENTS = 150
MEMORY = 1 << 18
HALF = MEMORY // 2
HOST_LAST, NIC_LAST, CONTROL = 0x030, 0x050, 0x000
HOST_FIRST, NIC_FIRST = 0x020, 0x040


def pauses(share):
    """Pauses in this share of the clocks."""
    return (random.random() < share for _ in itertools.count())


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
    bits = token | length << 16 | host << 32 | nic << 96 | way << 160
    return bits.to_bytes(21, "little")


@cocotb.test()
async def elements_are_copied_once(dut):
    cocotb.start_soon(Clock(dut.clk_i, 4, unit="ns").start())
    dut.rst_ni.value = 0
    reset = {"reset": dut.rst_ni, "reset_active_level": False}
    rams = [
        AxiRam(AxiBus.from_prefix(dut, f"m_axi_{name}"), dut.clk_i, size=MEMORY, **reset)
        for name in ("host", "nic")
    ]
    registers = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk_i, **reset)
    sources = [
        AxiStreamSource(AxiStreamBus.from_prefix(dut, f"s_axis_cmd{n}"), dut.clk_i, **reset)
        for n in range(8)
    ]
    done = AxiStreamSink(AxiStreamBus.from_prefix(dut, "m_axis_done"), dut.clk_i, **reset)
    for _ in range(4):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)

    before = [random.randbytes(MEMORY) for _ in rams]
    for ram, content in zip(rams, before):
        ram.write(0, content)
        for channel in (ram.write_if.aw_channel, ram.write_if.w_channel, ram.write_if.b_channel,
                        ram.read_if.ar_channel, ram.read_if.r_channel):  # fmt: skip
            channel.set_pause_generator(pauses(0.2))
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
        await sources[queues[token]].send(AxiStreamFrame(tdata=beat_of(*element)))
        source, target = (nic, host) if way else (host, nic)
        expected[1 - way][target : target + length] = before[way][source : source + length]
    ended = set()
    while len(ended) < ELEMENTS:
        beat = int.from_bytes((await done.recv()).tdata, "little")
        token, queue, response = beat & 0xFFFF, beat >> 16 & 7, beat >> 20
        assert token not in ended, f"token {token} comes twice"
        assert (queue, response) == (queues[token], 0), f"token {token}: 0x{beat:06X}"
        ended.add(token)
    for _ in range(300):
        await RisingEdge(dut.clk_i)
    assert done.empty(), "more ends than elements"
    for name, ram, content in zip(("host", "NIC"), rams, expected):
        found = bytes(ram.read(0, MEMORY))
        wrong = next((n for n in range(MEMORY) if found[n] != content[n]), None)
        assert wrong is None, f"byte 0x{wrong:X} of {name} memory"
