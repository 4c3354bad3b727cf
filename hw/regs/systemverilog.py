"""The register blocks in SystemVerilog, and packages with their offsets."""

import tempfile
from pathlib import Path

from peakrdl_regblock import RegblockExporter
from peakrdl_regblock.cpuif.passthrough import PassthroughCpuif

SOURCES = ["model.py", "properties.rdl", "requirements.txt"]
# The unit of each block. The lock unit's registers are Bluespec.
UNITS = {
    "shell": "shell",
    "queue": "queue",
    "visibility_pe": "visibility",
    "dma_vectorizer": "nic",
    "nic_lookup": "nic",
}
# Blocks with so many registers that a read takes a clock: a part of the multiplexer lies before a
# register, and the rest behind it.
READS_TAKE_A_CLOCK = {"nic_lookup", "visibility_pe"}


def files(device):
    result = {}
    for name, unit in UNITS.items():
        block, folder = device.blocks[name], f"hw/rtl/{unit}/generated"
        result[f"{folder}/{name}_map_pkg.sv"] = map_package(block), [name]
        for file, text in register_block(block).items():
            result[f"{folder}/{file}"] = text, [name]
    return result


def register_block(block):
    """What PeakRDL-regblock makes of it: an access is answered in the clock in which it comes,
    or a read in the next one.
    """
    with tempfile.TemporaryDirectory() as folder:
        RegblockExporter().export(
            block.node,
            folder,
            module_name=f"{block.name}_registers",
            cpuif_cls=PassthroughCpuif,
            address_width=12,
            default_reset_activelow=True,
            default_reset_async=False,
            err_if_bad_addr=True,
            err_if_bad_rw=True,
            retime_read_fanin=block.name in READS_TAKE_A_CLOCK,
        )
        return {
            path.name: path.read_text(encoding="utf-8") for path in sorted(Path(folder).iterdir())
        }


def map_package(block):
    lines = [
        f"// Offsets of the {block.title.lower()}'s registers, and the writes that are refused.",
        f"package {block.name}_map_pkg;",
    ]
    for register in block.registers:
        lines.append(f"    // {register.text}")
        lines.append(f"    localparam logic [11:0] {register.name} = 12'h{register.offset:03x};")
    return "\n".join(lines + [""] + refusals(block) + ["endpackage"]) + "\n"


def refusals(block):
    """A function of what is written: whether SLVERR is the answer and nothing may change."""
    cases = []
    uses = {"strobe"}
    for register in block.registers:
        if register.access == "ro":
            continue
        for word, offset in enumerate(register.offsets()):
            terms = refusal_terms(register, word % (register.width // 32))
            if terms == ["strobe != 4'hf"]:
                continue
            uses |= {name for name in ("data", "enabled") if any(name in term for term in terms)}
            cases.append((offset, " || ".join(terms) or "1'b0", register.name))
    declared = {"data": "[31:0] data", "strobe": "[3:0] strobe", "enabled": "enabled"}
    arguments = ["input logic [11:0] address"]
    arguments += [f"input logic {text}" for name, text in declared.items() if name in uses]
    body = [
        f"            12'h{offset:03x}: return {term};  // {name}" for offset, term, name in cases
    ]
    return [
        "    // Whether a write to a register that takes writes is refused all the same: the value",
        "    // is impossible, the block is enabled, or bytes are missing.",
        "    function automatic logic write_refused(",
        *[
            f"        {argument}{',' if argument != arguments[-1] else ''}"
            for argument in arguments
        ],
        "    );",
        "        case (address)",
        *body,
        "            default: return strobe != 4'hf;",
        "        endcase",
        "    endfunction",
    ]


def refusal_terms(register, word):
    """Why a write of 32-bit word `word` of the register is refused; empty: never."""
    terms = []
    if not register.takes_bytes:
        terms.append("strobe != 4'hf")
    if register.while_disabled:
        terms.append("enabled")
    if word == 0 and register.multiple_of > 1:
        terms.append(f"data[{register.multiple_of.bit_length() - 2}:0] != 0")
    for field in register.fields:
        if field.low // 32 == word:
            if field.smallest > 0:
                terms.append(f"data < 32'd{field.smallest}")
            if field.largest < (1 << field.width) - 1:
                terms.append(f"data > 32'd{field.largest}")
                assert field.low % 32 == 0, f"{register.name}: bounds are of fields at bit 0"
    return terms
