// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 8a11454be0a0e2f8c1e739cea101f16b2a8050c6259cc46b8923794f16bcfe4a cores.py verilog.py
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
