"""FuseSoC descriptions of the hardware, a core for each block, and a list of files for others."""

import verilog

SOURCES = ["verilog.py"]
# Of each a list of files, too.
TOPS = ("lockstep_device", "visibility_pe")


def files(device):
    known = verilog.units()
    result = {f"hw/{one.name}.core": (core(known, one), []) for one in known.values()}
    for top in TOPS:
        result[f"hw/rtl/{top}.f"] = (list_of_files(known, top), [])
    return result


def core_name(name):
    return f"lockstep:hw:{name}:{verilog.VERSION}"


def core(known, one):
    lines = [
        "CAPI=2:",
        f"name: {core_name(one.name)}",
        f"description: {one.text}",
        "filesets:",
        "  rtl:",
    ]
    lines += ["    files:"]
    for file in one.files:
        kind = "systemVerilogSource" if file.endswith(".sv") else "verilogSource"
        lines.append(f"      - {file}: {{file_type: {kind}}}")
    used = verilog.uses(known, one)
    if used:
        lines += ["    depend:", *(f"      - {core_name(name)}" for name in used)]
    if one.is_module:
        lines += ["  waivers:", "    files:", "      - lint.vlt: {file_type: vlt}"]
    lines += ["targets:", "  default: &default", "    filesets: [rtl]"]
    if one.is_module:
        lines += [f"    toplevel: {one.name}", "  lint:", "    <<: *default"]
        lines += ["    description: verilator -Wall", "    default_tool: verilator"]
        lines += ["    filesets: [waivers, rtl]", "    tools:", "      verilator:"]
        lines += ["        mode: lint-only", "        verilator_options: [-Wall]"]
    return "\n".join(lines) + "\n"


def list_of_files(known, top):
    """Paths count from the list, as tools take them after -F."""
    lines = [f"// All files of {top}, each after those that it needs."]
    for one in verilog.closure(known, top):
        for file in one.files:
            lines.append(file.removeprefix("rtl/") if file.startswith("rtl/") else f"../{file}")
    return "\n".join(lines) + "\n"
