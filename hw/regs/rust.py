"""The typed map of the driver, in Rust."""

import subprocess

from model import BLOCKS

SOURCES = ["model.py", "properties.rdl", "requirements.txt"]
FOLDER = "driver/src/map"
# In all blocks at the same place, so that a driver can look before it knows which one it is.
COMMON = ("IDENTITY", "VERSION")

TOKENS = {"ro": "ReadOnly", "rw": "ReadWrite", "wo": "WriteOnly", "w1c": "WriteOneToClear"}
CELLS = {"ro": "RO", "rw": "RW", "wo": "WO", "w1c": "RW"}
BLOCK_BYTES = 0x1000


def files(device):
    check_common(device)
    result = {name: (block_module(device.blocks[name]), [name]) for name in BLOCKS}
    result["device"] = device_module(device), ["lockstep_device", *BLOCKS]
    return {
        f"{FOLDER}/{name}.rs": (formatted(text), parts) for name, (text, parts) in result.items()
    }


def formatted(text):
    command = ["rustfmt", "--edition", "2024", "--config"]
    command += ["max_width=100,use_small_heuristics=Max", "--emit", "stdout"]
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def check_common(device):
    for name in COMMON:
        places = {device.blocks[block].register(name).offset for block in BLOCKS}
        assert len(places) == 1, f"{name} is at {places}"


def camel(name):
    return "".join(part.capitalize() for part in name.split("_"))


def member(register):
    """The name in the struct; one of our registers is named as a keyword."""
    name = register.name.lower()
    return f"r#{name}" if name == "return" else name


def unsigned(width):
    return next(f"u{bits}" for bits in (8, 16, 32, 64) if width <= bits)


def is_counter(register):
    return register.width == 64 and register.access == "ro"


def has_struct(register):
    """A register that is one number is read as that; others have named fields."""
    only = register.fields[0]
    number = len(register.fields) == 1 and only.low == 0 and only.width > 1 and not only.values
    return register.width == 32 and not number


def value_type(register):
    if register.width == 64:
        return "u64"
    return camel(register.name) if has_struct(register) else unsigned(register.fields[0].width)


def doc(text, indent="", marker="///"):
    """Comment lines of at most 100 columns."""
    lines, line = [], f"{indent}{marker}"
    for word in text.split():
        if len(line) + 1 + len(word) > 100:
            lines.append(line)
            line = f"{indent}{marker}"
        line += f" {word}"
    return [*lines, line]


def block_module(block):
    own = [register for register in block.registers if register.name != "VERSION"]
    body = [line for register in block.registers for line in token(register)]
    body += constants(block) + counters(block)
    body += [line for register in own if has_struct(register) for line in structure(register)]
    body += memory(block) + words(block)
    return "\n".join(
        doc(f"{block.title}: {block.text}", marker="//!") + [""] + imports(block, body) + body
    )


def imports(block, body):
    """Of what the text uses."""
    text = "\n".join(body)
    kinds = [name for name in ("Counter", *TOKENS.values()) if f"{name}::new" in text]
    cells = [cell for cell in ("RO", "RW", "WO") if f"{cell}<" in text]
    modules = ["Access", "Signature", "Word", "device::Version", *kinds]
    if "value_of_fields!" in text:
        modules.append("token::value_of_fields")
    result = ["use std::mem::offset_of;", ""]
    result += [f"use volatile_register::{{{', '.join(cells)}}};", ""]
    result += [f"use super::{{{', '.join(sorted(modules))}}};"]
    if "Registers" in text:
        result += ["use crate::{DeviceError, Registers};"]
    return result + [""]


def token(register):
    """The constant that stands for a register."""
    kind = (
        "Counter" if is_counter(register) else f"{TOKENS[register.access]}<{value_type(register)}>"
    )
    new = "Counter" if is_counter(register) else TOKENS[register.access]
    places = [
        f'{new}::new("{register.name}", 0x{register.offset + n * register.stride:03X})'
        for n in range(register.count)
    ]
    lines = doc(register.text)
    if register.count == 1:
        return lines + [f"pub const {register.name}: {kind} = {places[0]};"]
    return lines + [
        f"pub const {register.name}: [{kind}; {register.count}] = [{', '.join(places)}];"
    ]


def constants(block):
    """What a driver checks before it writes, and what it knows the block by."""
    lines = []
    for register in block.registers:
        if register.multiple_of > 1:
            lines += [f"/// [`{register.name}`] is a multiple of this."]
            lines += [f"pub const {register.name}_MULTIPLE: u64 = {register.multiple_of};"]
        for field in register.fields:
            kind = unsigned(field.width)
            if field.smallest > 0:
                lines += [f"/// The smallest value of [`{register.name}`]."]
                lines += [f"pub const {register.name}_SMALLEST: {kind} = {field.smallest};"]
            if field.largest < (1 << field.width) - 1:
                lines += [f"/// The largest value of [`{register.name}`]."]
                lines += [f"pub const {register.name}_LARGEST: {kind} = {field.largest};"]
    identity = block.register("IDENTITY").reset
    version = block.register("VERSION").reset
    lines += ["/// What the block is known by."]
    lines += [f"pub const SIGNATURE: Signature = Signature {{ identity: 0x{identity:08X},"]
    lines += [f"major: {version >> 16}, minor: {version & 0xFFFF} }};"]
    return lines


def counters(block):
    names = [register.name for register in block.registers if is_counter(register)]
    if not names:
        return []
    lines = ["/// All counters, in the order of the map."]
    lines += [f"pub const COUNTERS: [Counter; {len(names)}] = [{', '.join(names)}];", ""]
    lines += doc(block.register(names[0]).fields[0].text)
    lines += ["#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]"]
    lines += ["pub struct Counters {"]
    for name in names:
        lines += doc(block.register(name).text, "    ")
        lines += [f"    pub {name.lower()}: u64,"]
    lines += ["}", "", "impl Counters {"]
    lines += ["    /// Reads one after the other: a consistent picture only of an idle block."]
    lines += ["    ///", "    /// # Errors"]
    lines += [
        "    /// [`DeviceError::Timeout`] when a counter's high half never holds still, or what the"
    ]
    lines += ["    /// registers report."]
    lines += [
        "    pub fn read<R: Registers + ?Sized>(registers: &mut R) -> Result<Self, DeviceError> {"
    ]
    lines += ["        Ok(Counters {"]
    lines += [f"{name.lower()}: {name}.read(registers)?," for name in names]
    return lines + ["        })", "    }", "}", ""]


def structure(register):
    """The struct around the bits of a register, and what its fields have."""
    name = camel(register.name)
    lines = []
    for field in register.fields:
        if field.values:
            lines += enumeration(register, field)
    lines += doc(f"The fields of [`{register.name}`].")
    lines += ["#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]", "#[repr(transparent)]"]
    lines += [f"pub struct {name}(u32);", "", f"value_of_fields!({name});", "", f"impl {name} {{"]
    lines += [
        "    /// The register with these bits.",
        "    pub const fn from_bits(bits: u32) -> Self {",
    ]
    lines += [f"        {name}(bits)", "    }", ""]
    lines += [
        "    /// All bits of the register.",
        "    pub const fn bits(self) -> u32 {",
        "        self.0",
        "    }",
    ]
    for field in register.fields:
        lines += [""] + getter(register, field)
        if register.access != "ro":
            lines += [""] + setter(register, field)
    return lines + ["}", ""]


def enumeration(register, field):
    name = camel(field.kind)
    lines = doc(f"Values of `{field.name}` in [`{register.name}`].")
    lines += ["#[derive(Debug, Clone, Copy, PartialEq, Eq)]", f"pub enum {name} {{"]
    for value, number, text in field.values:
        lines += doc(text, "    ") + [f"    {camel(value)} = {number},"]
    lines += ["}", "", f"impl {name} {{", "    /// The name of a value, if it has one."]
    lines += ["    pub const fn from_bits(bits: u32) -> Option<Self> {", "        match bits {"]
    lines += [
        f"            {number} => Some({name}::{camel(value)}),"
        for value, number, _ in field.values
    ]
    return lines + ["            _ => None,", "        }", "    }", "}", ""]


def getter(register, field):
    mask = (1 << field.width) - 1
    shifted = f"self.0 >> {field.low}" if field.low else "self.0"
    # A shift right of the highest field, or a cast, leaves nothing else.
    bits = shifted if field.low + field.width == 32 else f"{shifted} & 0x{mask:X}"
    if field.values:
        name = camel(field.kind)
        kind, value = f"Option<{name}>", f"{name}::from_bits({bits})"
    elif field.width == 1:
        kind, value = "bool", f"{bits} != 0"
    else:
        kind = unsigned(field.width)
        bits = shifted if kind == f"u{field.width}" else bits
        value = bits if kind == "u32" else f"({bits}) as {kind}"
    value = value.replace("(self.0) as", "self.0 as")
    return doc(field.text, "    ") + [
        f"    pub const fn {field.name}(self) -> {kind} {{",
        value,
        "    }",
    ]


def setter(register, field):
    """The same register with another value in one field."""
    mask = field.mask
    assert field.width == 1, f"{field.name}: so far all fields beside others are flags"
    name = field.name
    what = "The same bits with `{}` or without, for [`WriteOneToClear::clear`]. {}"
    if register.access != "w1c":
        what = "The same register with another `{}`. {}"
    lines = doc(what.format(name, field.text), "    ")
    lines += ["    #[must_use]", f"    pub const fn with_{name}(self, {name}: bool) -> Self {{"]
    shifted = f"({name} as u32) << {field.low}" if field.low else f"{name} as u32"
    return lines + [f"        Self(self.0 & !0x{mask:X} | {shifted})", "    }"]


def memory(block):
    """The block as it lies in memory."""
    lines = doc(f"The {block.title.lower()}'s registers as they lie in memory.")
    lines += ["#[repr(C)]", "pub struct Block {"]
    checks, place = [], 0
    for register in block.registers:
        assert place <= register.offset, f"{register.name} overlaps"
        if place < register.offset:
            lines += [f"    _reserved_{place:03x}: [u32; {(register.offset - place) // 4}],"]
        assert register.stride in (0, register.width // 8), f"{register.name} has gaps"
        value = value_type(register) if has_struct(register) else "u32"
        count = register.count * register.width // 32
        cell = f"{CELLS[register.access]}<{value}>"
        halves = " The low half, then the high half." if register.width == 64 else ""
        lines += doc(register.text + halves, "    ")
        lines += [f"    pub {member(register)}: {cell if count == 1 else f'[{cell}; {count}]'},"]
        first = register.name if register.count == 1 else f"{register.name}[0]"
        checks += [
            f"    assert!(offset_of!(Block, {member(register)}) == {first}.offset() as usize);"
        ]
        place = register.offset + 4 * count
    lines += [f"    _reserved_{place:03x}: [u32; {(BLOCK_BYTES - place) // 4}],", "}", ""]
    lines += ["const _: () = {", *checks, f"    assert!(size_of::<Block>() == 0x{BLOCK_BYTES:X});"]
    return lines + ["};", ""]


def words(block):
    rows = [row for register in block.registers for row in word_rows(register)]
    lines = ["/// All words of the block.", f"pub const WORDS: [Word; {len(rows)}] = ["]
    return lines + rows + ["];", ""]


def word_rows(register):
    halves = register.width // 32
    for index, offset in enumerate(register.offsets()):
        half, low = index % halves, 32 * (index % halves)
        name = register.name
        name += f"[{index // halves}]" if register.count > 1 else ""
        name += (" low", " high")[half] if halves == 2 else ""
        reset = register.reset
        reset = "None" if reset is None else f"Some(0x{reset >> low & 0xFFFFFFFF:X})"
        mask = register.mask >> low & 0xFFFFFFFF
        row = f'Word::new("{name}", 0x{offset:03X}, Access::{TOKENS[register.access]}, '
        row += f"{reset}, 0x{mask:08X})"
        row += "".join(limits(register, half))
        yield f"    {row},"


def limits(register, half):
    field = register.fields[0]
    if field.smallest > 0 or field.largest < (1 << field.width) - 1:
        yield f".between({field.smallest}, {field.largest})"
    if half == 0 and register.multiple_of > 1:
        yield f".multiple_of({register.multiple_of})"
    if register.takes_bytes:
        yield ".takes_bytes()"
    if register.while_disabled:
        yield ".while_disabled()"


def device_module(device):
    block = device.blocks[BLOCKS[0]]
    placed = [instance for instance in device.instances if instance.block in BLOCKS]
    lines = doc(f"{device.title}: {device.text}", marker="//!") + [""]
    modules = ["Place", "ReadOnly", *sorted({one.block for one in placed})]
    lines += [f"use super::{{{', '.join(modules)}, token::value_of_fields}};", ""]
    for instance in device.instances:
        lines += doc(f"{instance.title}. {instance.text}")
        lines += [f"pub const {instance.name.upper()}: u32 = 0x{instance.base:04X};"]
    lines += ["", "/// All blocks of the RTL, at their places."]
    lines += [f"pub const PLACES: [Place; {len(placed)}] = ["]
    for one in placed:
        words = f"&{one.block}::WORDS"
        lines += [f'Place {{ name: "{one.name}", base: {one.name.upper()}, words: {words} }},']
    lines += ["];", ""]
    for name in COMMON:
        text = {"IDENTITY": "Four characters that name the block."}.get(
            name, block.register(name).text
        )
        register = block.register(name)
        lines += doc(f"In all blocks. {text}") + token(register)[-1:]
    return "\n".join(lines + structure(block.register("VERSION")))
