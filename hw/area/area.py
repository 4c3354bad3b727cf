# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts the cells of a block that Yosys makes for UltraScale+, and the longest path between registers.

area.py LIST TOP [NAME=VALUE ...] prints a row of a Markdown table. These are counts before placement, not the
result of a vendor's tool: Yosys knows only carry cells of four bits, and packs no cells into slices. Paths begin and
end at registers, block memories, multipliers and ports.
"""

import json
import os
import sys
import tempfile
from collections import Counter

HEADER = "| block | LUT | as memory | FF | BRAM | URAM | DSP | levels | with carries |\n" + "|---" * 9 + "|"

# Memories of look-up tables, by the look-up tables that each takes.
LUT_RAMS = {
    "RAM32M": 4, "RAM32M16": 8, "RAM64M": 4, "RAM64M8": 8,
    "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8,
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8,
    "SRL16E": 1, "SRLC32E": 1,
}  # fmt: skip
LUTS = {"INV", *(f"LUT{inputs}" for inputs in range(1, 7))}
REGISTERS = {"FDRE", "FDSE", "FDCE", "FDPE", "LDCE", "LDPE"}
BLOCK_RAMS = {"RAMB18E2": 0.5, "RAMB36E2": 1}
# What else a path may go through, and what ends one.
BETWEEN = {"MUXF7", "MUXF8", "MUXF9", "CARRY4", "CARRY8"}
ENDS = {"URAM288", "DSP48E2", *REGISTERS, *BLOCK_RAMS}
CONSTANTS = {"GND", "VCC"}
# Inputs of such a memory that its output follows in the same clock begin so.
ADDRESSES = ("A", "DPRA")


def files(listing):
    """The paths in a list of files, which counts them from its own folder."""
    folder = os.path.dirname(os.path.abspath(listing))
    with open(listing, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return [os.path.join(folder, one) for one in lines if one and not one.startswith("//")]


def synthesise(listing, top, parameters, folder):
    """The cells of the block, as Yosys writes them."""
    from pyosys import libyosys

    netlist = os.path.join(folder, "netlist.json")
    design = libyosys.Design()
    sets = [f"-G {one}" for one in parameters]
    libyosys.run_pass(" ".join(["read_slang", "--top", top, *sets, *files(listing)]), design)
    # Ports of a block in the middle of a design have neither pads nor clock buffers.
    libyosys.run_pass(f"synth_xilinx -family xcup -uram -top {top} -flatten -noiopad -noclkbuf", design)
    libyosys.run_pass(f"write_json {netlist}", design)
    with open(netlist, encoding="utf-8") as file:
        modules = json.load(file)["modules"]
    return [one for name, one in modules.items() if name.lstrip("\\") == top][0]["cells"]


def quietly(work, log):
    """Runs `work` with what it prints, also from C++, in a file."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(log.fileno(), 1)
    try:
        return work()
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def reaches(kind, source, position, target, place):
    """Whether an output bit of a cell depends on an input bit."""
    if kind in LUT_RAMS:
        # With several ports, each has an address of its own; the last one is that of writes.
        if source.startswith("ADDR"):
            return source[len("ADDR") :] == target[len("DO") :]
        return source.startswith(ADDRESSES)
    if kind in ("CARRY4", "CARRY8") and source in ("DI", "S"):
        # An output at the place of a propagate bit follows it; carries follow their own place, too.
        return position < place or position == place and (target == "CO" or source == "S")
    return True


class Netlist:
    """Cells, as paths go through them."""

    def __init__(self, cells):
        self.drivers = {}  # of a bit: its cell, port and position there
        self.cells = cells
        for name, cell in cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    self.drivers.update({bit: (name, port, n) for n, bit in enumerate(bits)})

    def sources(self, bit):
        """The input bits that a bit follows, in the same clock."""
        name, target, place = self.drivers[bit]
        cell = self.cells[name]
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "input":
                for position, source in enumerate(bits):
                    if reaches(cell["type"], port, position, target, place):
                        yield source

    def kind(self, bit):
        """Of the cell that drives a bit in the same clock; nothing where paths begin."""
        driver = self.drivers.get(bit)
        kind = driver and self.cells[driver[0]]["type"]
        return None if kind in ENDS or kind in CONSTANTS else kind

    def levels(self, weight):
        """The largest sum of weights of the cells on a path between registers or ports."""
        known = {}
        pending = [bit for bit in self.drivers if self.kind(bit)]
        while pending:
            bit = pending[-1]
            if bit in known:
                pending.pop()
                continue
            sources = [one for one in self.sources(bit) if self.kind(one)]
            unknown = [one for one in sources if one not in known]
            if unknown:
                pending += unknown
                continue
            known[bit] = weight(self.kind(bit)) + max((known[one] for one in sources), default=0)
            pending.pop()
        return max(known.values(), default=0)


def row(name, cells):
    count = Counter(cell["type"] for cell in cells.values())
    strange = set(count) - LUTS - set(LUT_RAMS) - BETWEEN - ENDS - CONSTANTS
    if strange:
        sys.exit(f"area: cells that this program does not know: {', '.join(sorted(strange))}")

    def total(kinds):
        return sum(count[kind] for kind in kinds)

    ram = sum(count[kind] * luts for kind, luts in LUT_RAMS.items())
    block_ram = sum(count[kind] * part for kind, part in BLOCK_RAMS.items())
    netlist = Netlist(cells)
    is_table = LUTS | set(LUT_RAMS)
    levels = netlist.levels(lambda kind: int(kind in is_table))
    with_carries = netlist.levels(lambda kind: 1)
    others = [f"{block_ram:g}", count["URAM288"], count["DSP48E2"], levels, with_carries]
    counts = [f"{one:,}" for one in (total(LUTS) + ram, ram, total(REGISTERS))]
    return "| " + " | ".join(map(str, [name, *counts, *others])) + " |"


def main(listing, top, *parameters):
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryFile("w+") as log:
        try:
            cells = quietly(lambda: synthesise(listing, top, parameters, place), log)
        except Exception as error:  # The library has no type of its own for a failed pass.
            log.seek(0)
            sys.exit("".join(log.readlines()[-40:]) + f"area: {top}: {error}")
    print(HEADER)
    print(row(f"`{top}` {' '.join(parameters)}".strip(), cells))


if __name__ == "__main__":
    main(*sys.argv[1:])
