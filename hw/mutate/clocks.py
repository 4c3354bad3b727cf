# SPDX-License-Identifier: MIT OR Apache-2.0
"""Whether all registers of a module have one clock that nothing stops: a miter has no other, and its registers go on in
each clock of it. Of what stops a clock it would say that it changes nothing."""

CLOCKS = ("CLK", "RD_CLK", "WR_CLK")


def fault(pins, inputs):
    """What is wrong, or nothing. A pin is the name of an input of a cell with the names of its bits but constants; of the
    module, the names of all bits of its inputs are given."""
    clocks = {bit for port, bits in pins if port in CLOCKS for bit in bits}
    if len(clocks) > 1:
        return f"its registers have several clocks: {', '.join(sorted(clocks))}"
    if clocks - inputs:
        return f"it makes the clock of its registers: {', '.join(clocks)}"
    if any(clocks & set(bits) for port, bits in pins if port not in CLOCKS):
        return f"the clock of its registers is read as a signal: {', '.join(clocks)}"
    return None
