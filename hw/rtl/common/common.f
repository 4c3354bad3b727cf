// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: f98651c93cbc977cddb4ee2c2d070698e19cf970541bc2c1ac6b670b0b1ac7da cores.py verilog.py
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
