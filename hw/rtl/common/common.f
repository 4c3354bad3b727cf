// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: ea8406dc7257e88c5775b336fb4a9bd0c3ef2546fd4e9865a293dd9a8ae5d6fb cores.py verilog.py
// body-sha256: 282bf3e66e88c81228b1156e0b79ea279dd821b9aacbcd18227262b951f6c995
// All files of common, each after those that it needs.
clock_gate.sv
quiet_watch.sv
activity_clock.sv
axi_lite_blocks.sv
block_ram.sv
take_turns.sv
interrupt_collector.sv
lut_ram.sv
lut_fifo.sv
register_access.sv
