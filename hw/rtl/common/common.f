// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 31c564c54e34f980e534522a7738ce931ac4e0816ebfba9c72e79e990ace8955 cores.py verilog.py
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
