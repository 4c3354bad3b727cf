"""Offsets and constants of the lock unit's registers, in Bluespec."""

SOURCES = ["model.py", "properties.rdl", "requirements.txt"]
NAME = "hw/bsv/LockRegisterMap.bsv"


def files(device):
    block = device.blocks["lock_unit"]
    lines = ["// Where the registers of the lock unit are, and what the constant ones say."]
    for register in block.registers:
        if is_counter(register):
            continue
        low = camel(register.name)
        names = [low] if register.width == 32 else [f"{low}Low", f"{low}High"]
        for name, offset in zip(names, register.offsets()):
            lines.append(f"Bit#(12) {name}Offset = 'h{offset:03X};")
    counters = [register for register in block.registers if is_counter(register)]
    first, last = counters[0], counters[-1]
    assert [c.offset for c in counters] == [first.offset + 8 * n for n in range(len(counters))]
    lines += ["", f"// From {first.name} to {last.name}, each a low half and a high half."]
    lines += [f"Bit#(12) countersOffset = 'h{first.offset:03X};"]
    lines += [f"typedef {len(counters)} CounterCount;", ""]
    for register in block.registers:
        if register.access == "ro" and all(field.constant for field in register.fields):
            lines.append(f"Bit#(32) {camel(register.name)} = 32'h{register.reset:08X};")
    for register in block.registers:
        for field in register.fields:
            if field.largest < (1 << field.width) - 1:
                lines.append(
                    f"Bit#(32) largest{camel(register.name, first=True)} = {field.largest};"
                )
    return {NAME: ("\n".join(lines) + "\n", ["lock_unit"])}


def is_counter(register):
    return register.width == 64 and register.access == "ro"


def camel(name, first=False):
    words = name.lower().split("_")
    return "".join(word.capitalize() if n or first else word for n, word in enumerate(words))
