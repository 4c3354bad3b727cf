# SPDX-License-Identifier: MIT OR Apache-2.0
"""Makes what stands in the place of a module that a job cuts off: its ports alone, of which outputs may be anything in
each clock. So a wrapper can name what goes to its pins, and only its ports have to stay for a proof to hold."""

import os
import re
from dataclasses import replace
from pathlib import Path

import verilog

FOLDER = verilog.HARDWARE.parent / "out/prove/cut"
OUTPUT = re.compile(r"\boutput\s+[^,;]*?(\w+)\s*(?=,|\)\s*;)")


def text_of(path):
    """The Verilog of the stand-in, or nothing for a module without the clock `clk_i`, whose outputs nothing could draw."""
    text = verilog.plain(path)
    header, end, _ = text.partition(");")
    if not re.search(r"\bclk_i\b", header):
        return None
    lines = [line.rstrip() for line in (header + end).splitlines() if line.strip()]
    # As parts of a concatenation, of which also one of an enumeration takes any bits.
    lines += [f"anything #(.Width($bits({one}))) i_{one} (.clk_i, .value_o({{{one}}}));" for one in OUTPUT.findall(header + end)]
    return "\n".join([*lines, "endmodule", ""])


def stand_in(source):
    """The same of a file of `hw`, written below `out`; nothing where there is none."""
    text = text_of(verilog.HARDWARE / source.path)
    if text is None:
        return None
    path = FOLDER / Path(source.path).name
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        # Whoever reads it meanwhile has the old one or the new one.
        new.replace(path)
    return replace(source, path=str(path), words=frozenset(re.findall(r"\w+", text)))
