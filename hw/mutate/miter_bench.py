# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes a miter of one module of a bench alone, with some mutants in it or below it. A process of its own, as
plant_bench.py, which has written what it reads.

miter_bench.py WISH NAME MODULE KIND NUMBER ... writes NAME.aag, as plant.py does. Where KIND is `cut`, what is below the
module is not in it: it gives what it wants, and what it gets is compared. Where KIND is `whole`, only memories are
outside. Where it is `asked`, what the block's entry in `seen` says of its outputs is compared in their place, besides
what memories get. Of memories, bits that nothing reads are not compared, nor what is not written. There is no miter of
what has several clocks, or stops one.
"""

import json
import os
import sys
from pathlib import Path

import clocks
import plant
import seen
from model import run
from plant_bench import Enables, id_of, libyosys, name_of, options_of, plant_all


# Blocks that hold words, and do nothing else.
MEMORIES = ("block_ram", "lut_ram")
# Arrays of so many bits are no memories, but part of their module, such as what goes along a pipeline.
FEW_BITS = 64


def choice_by_input(design, top, width):
    """The choice of a module is an input, which comes from that of the module around it, up to the top."""
    around = {
        str(cell.type): (module, cell) for module in design.modules_.values() for cell in module.cells_.values()
    }

    def choice(module):
        wire = module.wire(id_of("mutant"))
        if wire is None:
            wire = module.addWire(id_of("mutant"), width)
            wire.port_input = True
            module.fixup_ports()
            if name_of(module) != top:
                parent, cell = around[str(module.name)]
                cell.setPort(id_of("mutant"), choice(parent))
        return libyosys.SigSpec(wire)

    return choice


def check_clock(top):
    """What has several clocks, or stops one, cannot be compared."""

    def bits_of(signal):
        return [f"{name_of(bit.wire)}[{bit.offset}]" for bit in signal.bits() if bit.is_wire()]

    pins = [
        (str(port).removeprefix("\\"), bits_of(signal))
        for cell in top.cells_.values() if str(cell.type) not in plant.CHECKS
        for port, signal in cell.connections_.items() if cell.input(port)
    ]  # fmt: skip
    inputs = {bit for one in top.wires_.values() if one.port_input for bit in bits_of(libyosys.SigSpec(one))}
    fault = clocks.fault(pins, inputs)
    if fault:
        raise RuntimeError(fault)


def own_ports(top):
    """Those that it has before cells are cut off, whose pins become ports, too."""
    ports = [one for one in top.wires_.values() if one.port_input or one.port_output]
    return [seen.Port(name_of(one), one.width, one.port_output) for one in ports]


def add_seen(design, top, ports, expression, folder):
    """Has an inner signal `i_seen.seen` say which output of the block counts when, in the place of the outputs."""
    text, read = seen.module_of(ports, expression)
    (folder / "seen.sv").write_text(text, encoding="utf-8")
    run(design, f"read_slang --top planted_seen {folder}/seen.sv\nproc")
    cell = top.addCell(id_of("i_seen"), id_of("planted_seen"))
    cell.set_bool_attribute(id_of("keep"))
    for one in read:
        cell.setPort(id_of(one.name), libyosys.SigSpec(top.wire(id_of(one.name))))
    for one in ports:
        if one.is_output:
            top.wire(id_of(one.name)).port_output = False
    top.fixup_ports()


def has_few_bits(cell):
    if str(cell.type) != "$mem_v2":
        return False
    words, width = (cell.getParam(id_of(one)).as_int() for one in ("SIZE", "WIDTH"))
    return words * width <= FEW_BITS


def bits_read(top):
    """The bits, by their drivers, that a cell or an output takes."""
    driver = {}
    for left, right in top.connections_:
        driver.update(zip(map(Enables.place, left.bits()), map(Enables.place, right.bits()), strict=True))
    outputs = [libyosys.SigSpec(one) for one in top.wires_.values() if one.port_output]
    inputs = [
        signal for cell in top.cells_.values() for port, signal in cell.connections_.items() if cell.input(port)
    ]  # fmt: skip
    result = set()
    for bit in {Enables.place(bit) for signal in outputs + inputs for bit in signal.bits()}:
        while bit in driver:
            bit = driver[bit]
        result.add(bit)
    return result


def memories_of(top):
    """Each memory with the port that it gives words at, those that it gets them at, bit by bit, and the bits of a word."""
    for cell in top.cells_.values():
        if str(cell.type) == "$mem_v2":
            yield cell, "RD_DATA", ("WR_DATA", "WR_EN"), cell.getParam(id_of("WIDTH")).as_int()
        elif str(cell.type).removeprefix("\\").split("$")[0] in MEMORIES:
            yield cell, "read_data_o", ("write_data_i",), cell.getPort(id_of("write_data_i")).size()


def forget_unread(design, top):
    """Takes away what is written to bits of memories that nothing reads, and what it is made of."""
    forgets = True
    while forgets:
        run(design, "opt_clean -purge")
        forgets, read, zero = False, bits_read(top), libyosys.SigSpec(0, 1)
        for cell, gives, gets, width in memories_of(top):
            data = list(map(Enables.place, cell.getPort(id_of(gives)).bits()))
            unread = [not read.intersection(data[bit::width]) for bit in range(width)]
            for port in gets:
                old, new = cell.getPort(id_of(port)), libyosys.SigSpec()
                for place in range(old.size()):
                    bit = old.extract(place, 1)
                    forget = unread[place % width] and bit.bits()[0].is_wire()
                    forgets |= forget
                    new.append(zero if forget else bit)
                cell.setPort(id_of(port), new)


def blank_unwritten(top):
    """What memories get counts only while they write it: data and addresses are zero else."""

    def while_enabled(cell, port, enable):
        data = cell.getPort(id_of(port))
        blanked = top.And(libyosys.IdString(f"$blanked${cell.name}${port}"), data, enable)
        cell.setPort(id_of(port), blanked)

    def repeated(bit, size):
        result = libyosys.SigSpec()
        for _ in range(size):
            result.append(bit)
        return result

    for cell, gives, _, width in list(memories_of(top)):
        if gives == "RD_DATA":
            enables, bits = cell.getPort(id_of("WR_EN")), cell.getParam(id_of("ABITS")).as_int()
            any_of_port = libyosys.SigSpec()
            for port in range(cell.getParam(id_of("WR_PORTS")).as_int()):
                name = libyosys.IdString(f"$written${cell.name}${port}")
                any_of_port.append(repeated(top.ReduceOr(name, enables.extract(port * width, width)), bits))
            while_enabled(cell, "WR_DATA", enables)
            while_enabled(cell, "WR_ADDR", any_of_port)
        else:
            for port in ("write_data_i", "write_address_i"):
                enable = cell.getPort(id_of("write_enable_i"))
                while_enabled(cell, port, repeated(enable, cell.getPort(id_of(port)).size()))


def main(path, name, module, kind, numbers):
    wish = json.loads(Path(path).read_text(encoding="utf-8"))
    folder = Path(wish["folder"])
    mutants = json.loads((folder / "mutants.json").read_text(encoding="utf-8"))["mutants"]
    width = len(mutants).bit_length()
    design = libyosys.Design()
    run(design, f"read_rtlil {folder}/sound.il")
    run(design, f"hierarchy -top {module}")
    plant_all(design, [(number, mutants[number - 1]) for number in numbers], choice_by_input(design, module, width))
    top = plant.module_of(design, module)
    mutated = {options_of(mutants[number - 1])["module"].removeprefix("\\") for number in numbers}
    if kind != "cut":
        # Of a memory with a mutant, the array in it is outside.
        for one in design.modules_.values():
            if name_of(one).split("$")[0] in MEMORIES and name_of(one) not in {module, *mutated}:
                one.set_bool_attribute(id_of("keep_hierarchy"))
    # Names of instances may be patterns to those passes that select.
    run(design, f"rename {module} planted\nhierarchy -top planted")
    if kind != "cut":
        run(design, "flatten")
    for cell in top.cells_.values():
        if has_few_bits(cell):
            cell.set_bool_attribute(id_of("few_bits"))
    run(design, "memory_map -formal a:few_bits")
    ports = own_ports(top)
    plant.remove_checks(top)
    forget_unread(design, top)
    blank_unwritten(top)
    # Of cells alone: wires that are selected would become outputs.
    run(design, "expose -evert planted/c:*\nhierarchy -top planted")
    compared = []
    if kind == "asked":
        add_seen(design, top, ports, wish["seen"][module.split("$")[0]], folder)
        compared = ["i_seen.seen"]
    if top.wire(id_of("rst_ni")) and top.wire(id_of("clk_i")):
        run(design, f"read_slang --no-synthesis-define --top power_up {wish['power_up']}\nproc")
        cell = top.addCell(id_of("i_power_up"), id_of("power_up"))
        for port in ("clk_i", "rst_ni"):
            cell.setPort(id_of(port), libyosys.SigSpec(top.wire(id_of(port))))
    run(design, "flatten")
    plant.remove_checks(plant.module_of(design, "planted"))
    # Of several names of a signal one is left.
    run(design, "opt_clean")
    # The miter has a signal of that name.
    own = top.wire(id_of("none"))
    if own:
        top.rename(own, id_of("own_none"))
    check_clock(top)
    plant.write_miter(design, {"top": "planted", "folder": str(folder)}, width, name, compared)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:5], [int(one) for one in sys.argv[5:]])
    except Exception as error:  # The library has no type of its own for a failed pass.
        sys.stdout.flush()
        print(f"ERROR: {error}", flush=True)
        os._exit(1)
