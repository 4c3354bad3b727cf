# SPDX-License-Identifier: MIT OR Apache-2.0
"""Counts the cells of a block that Yosys makes for UltraScale+, and finds its deepest path.

area.py TOP [NAME=VALUE ...] prints the counts as JSON. They are counts before placement, not the result of a vendor's
tool: Yosys knows only carry cells of four bits, and packs no cells into slices. Paths begin and end at registers,
memories, multipliers and ports.
"""

import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "regs"))
import verilog  # noqa: E402

# Memories of look-up tables, by the look-up tables that each takes.
LUT_RAMS = {
    "RAM32M": 4, "RAM32M16": 8, "RAM64M": 4, "RAM64M8": 8,
    "RAM32X1S": 1, "RAM64X1S": 1, "RAM128X1S": 2, "RAM256X1S": 4, "RAM512X1S": 8,
    "RAM32X1D": 2, "RAM64X1D": 2, "RAM128X1D": 4, "RAM256X1D": 8,
    "SRL16E": 1, "SRLC32E": 1,
}  # fmt: skip
LUTS = {"INV", *(f"LUT{inputs}" for inputs in range(1, 7))}
REGISTERS = {"FDRE", "FDSE", "FDCE", "FDPE"}
LATCHES = {"LDCE", "LDPE"}
BLOCK_RAMS = {"RAMB18E2": 0.5, "RAMB36E2": 1}
CARRIES = {"CARRY4", "CARRY8"}
# What else a path may go through, and what ends one.
BETWEEN = {"MUXF7", "MUXF8", "MUXF9", *CARRIES}
ENDS = {"URAM288", "DSP48E2", "BUFGCE", *REGISTERS, *LATCHES, *BLOCK_RAMS}
CONSTANTS = {"GND", "VCC"}
# Inputs of such a memory that its output follows in the same clock begin so.
ADDRESSES = ("A", "DPRA")
CLOCKS = {"C", "G", "I", "CLK", "WCLK", "CLKA", "CLKB", "CLKARDCLK", "CLKBWRCLK"}
# What the pins of a register other than its data are for.
PINS = {"CE": " (enable)", "R": " (reset)", "S": " (reset)", "GE": " (enable)", "WE": " (write)"}


def synthesise(top, parameters, folder):
    """The block as Yosys writes it: its cells, ports and names."""
    from pyosys import libyosys

    netlist = os.path.join(folder, "netlist.json")
    design = libyosys.Design()
    sets = [f"-G {one}" for one in parameters]
    # Slang asks for what a clock gate is made of before Yosys reads the cells of the family.
    buffer = os.path.join(folder, "buffer.v")
    with open(buffer, "w", encoding="utf-8") as file:
        file.write("(* blackbox *) module BUFGCE(input I, input CE, output O); endmodule\n")
    files = [*map(str, verilog.paths(verilog.sources(), top)), buffer]
    libyosys.run_pass(" ".join(["read_slang", "-D LOCKSTEP_BUFGCE", "--top", top, *sets, *files]), design)
    # Ports of a block in the middle of a design have neither pads nor clock buffers.
    libyosys.run_pass(f"synth_xilinx -family xcup -uram -top {top} -flatten -noiopad -noclkbuf", design)
    libyosys.run_pass(f"write_json {netlist}", design)
    with open(netlist, encoding="utf-8") as file:
        modules = json.load(file)["modules"]
    return [one for name, one in modules.items() if name.lstrip("\\") == top][0]


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
    if kind in CARRIES and source in ("DI", "S"):
        # An output at the place of a propagate bit follows it; carries follow their own place, too.
        return position < place or position == place and (target == "CO" or source == "S")
    return True


class Netlist:
    """Cells, as paths go through them."""

    def __init__(self, module):
        self.cells = module["cells"]
        self.drivers = {}  # of a bit: its cell, port and position there
        self.names = {}  # of a bit: the shortest that a person gave
        self.ports = {name: one["bits"] for name, one in module["ports"].items() if one["direction"] == "output"}
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"][port] == "output":
                    self.drivers.update({bit: (name, port, n) for n, bit in enumerate(bits)})
        for name, net in sorted(module["netnames"].items(), key=lambda one: (-len(one[0]), one[0])):
            if not net["hide_name"] and "$" not in name:
                self.names.update((bit, name) for bit in net["bits"] if isinstance(bit, int))

    def sources(self, bit):
        """The input bits that a bit follows in the same clock, each with its port."""
        name, target, place = self.drivers[bit]
        cell = self.cells[name]
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "input":
                for position, source in enumerate(bits):
                    # Constants are no numbers here.
                    if isinstance(source, int) and reaches(cell["type"], port, position, target, place):
                        yield source, port

    def kind(self, bit):
        """Of the cell that drives a bit in the same clock; nothing where paths begin."""
        driver = self.drivers.get(bit)
        kind = driver and self.cells[driver[0]]["type"]
        return None if kind in ENDS or kind in CONSTANTS else kind

    def depths(self, weight):
        """Of each bit behind a cell: the largest sum of weights on a path to it, and the bit before it there."""
        known, begun = {}, set()
        pending = [bit for bit in self.drivers if self.kind(bit)]
        while pending:
            bit = pending[-1]
            if bit in known:
                pending.pop()
                continue
            sources = list(self.sources(bit))
            unknown = [one for one, _ in sources if one not in known and self.kind(one)]
            if unknown:
                if bit in begun:
                    sys.exit(f"a loop without a register, through {self.names.get(bit, self.drivers[bit][0])}")
                begun.add(bit)
                pending += unknown
                continue
            kind = self.kind(bit)
            weighed = [
                (known[one][0] if one in known else 0) + weight(kind, port, self.kind(one)) for one, port in sources
            ]
            most = max(weighed, default=weight(kind, "", None))
            known[bit] = most, sources[weighed.index(most)][0] if weighed else None
            pending.pop()
        return known

    def ends(self):
        """Where paths end: each bit with what it goes into."""
        for name, bits in self.ports.items():
            yield from ((bit, name) for bit in bits)
        for name, cell in self.cells.items():
            if cell["type"] in ENDS or cell["type"] in LUT_RAMS:
                for port, bits in cell["connections"].items():
                    if cell["port_directions"][port] == "input" and port not in CLOCKS:
                        yield from ((bit, self.called(name) + PINS.get(port, "")) for bit in bits)

    def called(self, cell):
        """What a person calls a register or memory."""
        kind = self.cells[cell]["type"]
        if kind in REGISTERS or kind in LATCHES:
            return self.names.get(self.cells[cell]["connections"]["Q"][0], "a register without a name")
        # Yosys numbers the parts of a memory behind its name.
        name = cell.removeprefix("\\")
        while name.rpartition(".")[2].isdigit():
            name = name.rpartition(".")[0]
        return "a memory without a name" if "$" in name else name

    def deepest(self, with_carries):
        """The largest number of levels, and where such a path begins and ends.

        Levels are tables; with carries, a chain of them is one more, however long. Wide multiplexers belong to the
        tables before them.
        """

        def weight(kind, port, before):
            if kind in CARRIES:
                return int(with_carries and not (port == "CI" and before in CARRIES))
            return int(kind in LUTS or kind in LUT_RAMS)

        known = self.depths(weight)
        reached = [(known[bit][0], bit, end) for bit, end in self.ends() if bit in known]
        if not reached:
            return 0, "", ""
        levels, bit, end = max(reached, key=lambda one: one[0])
        while bit in known:
            last, bit = bit, known[bit][1]
        if bit in self.drivers:
            return levels, self.called(self.drivers[bit][0]), end
        # The contents of a memory in tables follow no input.
        return levels, self.names.get(bit) or self.called(self.drivers[last][0]), end


def count(module):
    """The counts of a block by the columns of the table."""
    kinds = Counter(cell["type"] for cell in module["cells"].values())
    strange = set(kinds) - LUTS - set(LUT_RAMS) - BETWEEN - ENDS - CONSTANTS
    if strange:
        sys.exit(f"cells that this program does not know: {', '.join(sorted(strange))}")

    def total(some):
        return sum(kinds[kind] for kind in some)

    ram = sum(kinds[kind] * luts for kind, luts in LUT_RAMS.items())
    netlist = Netlist(module)
    levels, start, end = netlist.deepest(with_carries=False)
    return {
        "LUT": total(LUTS) + ram,
        "as memory": ram,
        "FF": total(REGISTERS),
        "latch": total(LATCHES),
        "BRAM": sum(kinds[kind] * part for kind, part in BLOCK_RAMS.items()),
        "URAM": kinds["URAM288"],
        "DSP": kinds["DSP48E2"],
        "levels": levels,
        "with carries": netlist.deepest(with_carries=True)[0],
        "deepest path": f"{start} → {end}" if levels else "",
    }


def main(top, *parameters):
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryFile("w+") as log:
        try:
            module = quietly(lambda: synthesise(top, parameters, place), log)
        except Exception as error:  # The library has no type of its own for a failed pass.
            log.seek(0)
            sys.exit("".join(log.readlines()[-40:]) + f"{top}: {error}")
        print(json.dumps(count(module)))


if __name__ == "__main__":
    main(*sys.argv[1:])
