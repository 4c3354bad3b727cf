"""FuseSoC descriptions of the hardware, each with the same as a list of files for other tools.

A core is a unit, which is a folder of `hw/rtl`, or a top with the registers that only it has.
"""

import posixpath
from dataclasses import dataclass

import verilog

SOURCES = ["verilog.py"]
# What a unit is, and the module that is linted and synthesized of it, with what stands below that.
UNITS = {
    "common": ("Memories, buffers, clocks that stand still, register accesses, interrupts.", "axi_lite_blocks"),
    "float": ("The arithmetic of IEEE 754 binary64, and products of integers.", "arithmetic_unit"),
    "lock": ("The lock unit with its clock, and its queue.", "lock_block"),
    "near_data": ("Lanes that execute programs for rows.", "program_lanes"),
    "nic": ("What looks keys up in a table of the host.", "nic_lookup"),
    "queue": ("Queues in memory, and the streams behind them.", "queue_block"),
    "shell": ("The registers of the shell.", "shell_block"),
    "visibility": ("The walk that finds the versions that a snapshot sees.", "visibility_walk"),
}
# Where their cores are: beside the sources.
TOPS = {
    "lockstep_device": "rtl/shell",
    "tuple_lock_unit": "bsv",
    "visibility_pe": "rtl/visibility",
}
# The Alveo U250. Only who has Vivado can run it.
PART = "xcu250-figd2104-2L-e"
WAIVERS = "waivers"
# Has the clock buffer of an FPGA where this is defined; gates in its fabric would skew the clock.
GATE, BUFFER = "clock_gate", "LOCKSTEP_BUFGCE"


@dataclass(frozen=True)
class Core:
    name: str
    text: str
    top: str  # the module that its targets are for
    folder: str  # below `hw`
    files: tuple  # each after those that it needs
    needs: tuple  # names of other cores
    gates: bool  # a clock, in one of its files or of those of the cores that it needs


def files(device):
    known = verilog.sources()
    result = {f"hw/{WAIVERS}.core": (waivers(), [])}
    for one in cores(known):
        path = f"hw/{one.folder}/{one.name}"
        result[f"{path}.core"] = (core(one), [])
        result[f"{path}.f"] = (list_of_files(known, one), [])
    return result


def owner(one):
    """The name of the core that a file is in."""
    for top in TOPS:
        if one.name == top or one.name.startswith(f"{top}_"):
            return top
    return one.path.split("/")[1]


def cores(known):
    named = UNITS | {top: (known[top].text, top) for top in TOPS}
    owned = {name: [one.name for one in known.values() if owner(one) == name] for name in named}
    needs = {}
    for name, own in owned.items():
        used = {other for file in own for other in verilog.uses(known, known[file])}
        needs[name] = {owner(known[file]) for file in used} - {name}

    def gates(name):
        return GATE in owned[name] or any(gates(one) for one in needs[name])

    for name, (text, top) in sorted(named.items()):
        files = tuple(one for one in verilog.closure(known, owned[name]) if one.name in owned[name])
        folder = TOPS.get(name, f"rtl/{name}")
        yield Core(name, text, top, folder, files, tuple(sorted(needs[name])), gates(name))


def core_name(name):
    return f"lockstep:hw:{name}:{verilog.VERSION}"


def core(one):
    lines = ["CAPI=2:", f"name: {core_name(one.name)}", f"description: {one.text}"]
    lines += ["filesets:", "  rtl:", "    files:"]
    for file in one.files:
        kind = "systemVerilogSource" if file.path.endswith(".sv") else "verilogSource"
        path = posixpath.relpath(file.path, one.folder)
        lines.append(f"      - {path}: {{file_type: {kind}}}")
    if one.needs:
        lines += ["    depend:", *(f"      - {core_name(name)}" for name in one.needs)]
    lines += [f"  {WAIVERS}:", "    depend:", f"      - {core_name(WAIVERS)}"]
    lines += ["targets:", "  default: &default", "    filesets: [rtl]", f"    toplevel: {one.top}"]
    lines += ["  lint:", "    <<: *default", "    description: verilator -Wall"]
    lines += ["    default_tool: verilator", f"    filesets: [{WAIVERS}, rtl]", "    tools:", "      verilator:"]
    lines += ["        mode: lint-only", "        verilator_options: [-Wall]"]
    lines += ["  synth:", "    <<: *default", "    description: Vivado's synthesis, without placement"]
    lines += ["    default_tool: vivado", "    tools:", "      vivado:", f"        part: {PART}", "        pnr: none"]
    if one.gates:
        lines += [f"    parameters: [{BUFFER}]", "parameters:", f"  {BUFFER}:"]
        lines += ["    description: Gated clocks come from the clock buffers of an FPGA (clock_gate.sv)."]
        lines += ["    datatype: bool", "    paramtype: vlogdefine", "    default: true"]
    return "\n".join(lines) + "\n"


def waivers():
    lines = ["CAPI=2:", f"name: {core_name(WAIVERS)}"]
    lines += ["description: Warnings of Verilator that are wrong here, with the reasons."]
    lines += ["filesets:", "  vlt:", "    files:", "      - lint.vlt: {file_type: vlt}"]
    return "\n".join([*lines, "targets:", "  default:", "    filesets: [vlt]"]) + "\n"


def list_of_files(known, one):
    """What the core has and needs, file by file. Paths count from the list, as -F takes them."""
    lines = [f"// All files of {one.name}, each after those that it needs."]
    for file in verilog.closure(known, [file.name for file in one.files]):
        lines.append(posixpath.relpath(file.path, one.folder))
    return "\n".join(lines) + "\n"
