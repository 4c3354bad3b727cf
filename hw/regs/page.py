"""The register map as one HTML page, with nothing else to load."""

from html import escape

from model import BLOCKS

SOURCES = ["model.py", "properties.rdl", "requirements.txt"]
NAME = "docs/registers.html"
ACCESS = {
    "ro": "read",
    "rw": "read, write",
    "wo": "write",
    "w1c": "read, clear by 1",
}

STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; --field: #4a80c428; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2.2rem 0 .2rem; font-family: ui-monospace, monospace; font-size: 1.05rem; }
p { margin: .3rem 0 .6rem; }
code, .n { font-family: ui-monospace, monospace; font-size: .92em; white-space: nowrap; }
.access { white-space: nowrap; }
table { border-collapse: collapse; width: 100%; }
td, th { border-bottom: 1px solid var(--line); padding: .2rem .7rem .2rem 0; text-align: left;
  vertical-align: top; font-weight: normal; }
th { opacity: .65; }
a { color: inherit; text-decoration-color: var(--line); text-underline-offset: .2em; }
table:not(.bits) td:last-child { width: 58%; }
.facts { opacity: .75; }
.bits { table-layout: fixed; margin: .5rem 0; }
.bits td { border: 1px solid var(--line); text-align: center; padding: .2rem 0; overflow: hidden;
  font: 12px/1.3 ui-monospace, monospace; }
.bits .place td { border: 0; font-size: 10px; opacity: .65; padding: 0; }
.bits .field { background: var(--field); }
.bits .tall { writing-mode: vertical-rl; text-align: right; padding: .3rem 0; }
.bits .none { background: var(--soft); }
"""


def files(device):
    body = ["<h1>Registers</h1>", f"<p>{escape(device.title)}. {escape(device.text)}</p>"]
    body += overview(device)
    for block in device.blocks.values():
        body += block_section(device, block)
    lines = ["<!DOCTYPE html>", '<html lang="en">', "<head>", '<meta charset="utf-8">']
    lines += ['<meta name="viewport" content="width=device-width, initial-scale=1">']
    lines += ["<title>Lockstep: registers</title>", f"<style>{STYLE}</style>", "</head>", "<body>"]
    text = "\n".join([*lines, *body, "</body>", "</html>"]) + "\n"
    return {NAME: (text, [*BLOCKS, "lockstep_device"])}


def overview(device):
    yield "<table><tr><th>BAR0</th><th>block</th><th></th></tr>"
    for one in device.instances:
        link = f'<a href="#{one.block}">{escape(one.title)}</a>'
        yield f'<tr><td class="n">0x{one.base:04X}</td><td>{link}</td>'
        yield f"<td>{escape(one.text)}</td></tr>"
    yield "</table>"


def block_section(device, block):
    places = [
        f"<code>0x{one.base:04X}</code>" for one in device.instances if one.block == block.name
    ]
    yield f'<h2 id="{block.name}">{escape(block.title)}</h2>'
    where = f"At {' and '.join(places)} of BAR0." if places else "At a port of its own."
    yield f"<p>{escape(block.text)} {where}</p>"
    yield "<table><tr><th>offset</th><th>register</th><th>access</th>"
    yield "<th>after reset</th><th></th></tr>"
    for register in block.registers:
        yield (
            f'<tr><td class="n">{offset(register)}</td><td>{link(block, register)}</td>'
            f'<td class="access">{ACCESS[register.access]}</td>'
            f'<td class="n">{number(register.reset)}</td>'
            f"<td>{escape(register.text)}</td></tr>"
        )
    yield "</table>"
    for register in block.registers:
        yield from register_section(block, register)


def link(block, register):
    return f'<a href="#{block.name}.{register.name}"><code>{label(register)}</code></a>'


def label(register):
    return register.name + (f"[{register.count}]" if register.count > 1 else "")


def offset(register):
    text = f"0x{register.offset:03X}"
    return text + (f" + 0x{register.stride:X}·n" if register.count > 1 else "")


def number(value):
    return "by the device" if value is None else f"0x{value:X}"


def register_section(block, register):
    yield f'<h3 id="{block.name}.{register.name}">{label(register)}</h3>'
    yield f"<p>{escape(register.text)}</p>"
    facts = [f"<code>{offset(register)}</code>", f"{register.width} bits", ACCESS[register.access]]
    if register.width == 64:
        facts.append("the low half first")
    if register.takes_bytes:
        facts.append("single bytes may be written")
    if register.while_disabled:
        facts.append("may be written only while CONTROL is 0")
    if register.multiple_of > 1:
        facts.append(f"a multiple of {register.multiple_of}")
    yield f'<p class="facts">{" · ".join(facts)}</p>'
    for low in reversed(range(0, register.width, 32)):
        yield from picture(register, low)
    yield from field_table(register)


def picture(register, low):
    """32 bits from bit `low` on, the highest at the left."""
    cells, bit = [], low + 32
    for field in sorted(register.fields, key=lambda field: -field.low):
        top, bottom = min(field.low + field.width, low + 32), max(field.low, low)
        if top <= bottom:
            continue
        if top < bit:
            cells.append((bit - top, "", bit - 1, top))
        cells.append((top - bottom, field.name, top - 1, bottom))
        bit = bottom
    if bit > low:
        cells.append((bit - low, "", bit - 1, low))
    yield '<table class="bits"><tr class="place">'
    for width, _, first, last in cells:
        yield f'<td colspan="{width}">{first if first == last else f"{first}:{last}"}</td>'
    yield "</tr><tr>"
    for width, name, _, _ in cells:
        # Four characters fit into the width of a bit.
        kind = ("field tall" if len(name) > 4 * width else "field") if name else "none"
        title = escape(name)
        yield f'<td colspan="{width}" class="{kind}" title="{title}">{title or "0"}</td>'
    yield "</tr></table>"


def field_table(register):
    yield "<table><tr><th>bits</th><th>field</th><th>after reset</th><th></th></tr>"
    for field in register.fields:
        top = field.low + field.width - 1
        bits = f"{field.low}" if field.width == 1 else f"{top}:{field.low}"
        yield (
            f'<tr><td class="n">{bits}</td><td><code>{escape(field.name)}</code></td>'
            f'<td class="n">{number(field.reset)}</td><td>{meaning(field)}</td></tr>'
        )
    yield "</table>"


def meaning(field):
    parts = [escape(field.text)]
    if field.smallest > 0 or field.largest < (1 << field.width) - 1:
        parts.append(f"{field.smallest} to {field.largest}.")
    parts += [f"<br><code>{value}</code> {escape(text)}" for _, value, text in field.values]
    return " ".join(parts)
