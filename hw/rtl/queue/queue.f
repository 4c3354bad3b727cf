// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 8a11454be0a0e2f8c1e739cea101f16b2a8050c6259cc46b8923794f16bcfe4a cores.py verilog.py
// body-sha256: 91c334c62de610a32e95d8ad21d040d026ae6beec09f82fe384cc7a5b9cb6530
// All files of queue, each after those that it needs.
queue_pkg.sv
completion_store.sv
copy_engine.sv
job_port.sv
../common/lut_ram.sv
submission_fetch.sv
queue_engine.sv
generated/queue_map_pkg.sv
generated/queue_registers_pkg.sv
generated/queue_registers.sv
../common/clock_gate.sv
../common/quiet_watch.sv
../common/activity_clock.sv
queue_block.sv
queue_memory_port.sv
