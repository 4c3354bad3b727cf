// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: f98651c93cbc977cddb4ee2c2d070698e19cf970541bc2c1ac6b670b0b1ac7da cores.py verilog.py
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
