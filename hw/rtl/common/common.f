// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 40bd5ca1b7a791f54646426d18c7782d9fce96df4a2f8bc5078dc3236227d0d6 cores.py verilog.py
// body-sha256: 12eb5c4799656d22a1a6e30bc78fe0e5f922ce07258b8f9dd7c5a98214a91d4c
// All files of common, each after those that it needs.
clock_gate.sv
quiet_watch.sv
activity_clock.sv
axi_lite_blocks.sv
block_ram.sv
interrupt_collector.sv
lut_ram.sv
lut_fifo.sv
