// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: aee4e764430b36227ec7934a34f7b0d107791ee7aac16ad7aaca05dc3d00199c cores.py verilog.py
// body-sha256: a247282afc559e69e195772a27f3dac80a12a95bb157139ba76e05d42a13cdb0
// All files of lockstep_device, each after those that it needs.
axi_lite_blocks.sv
queue_pkg.sv
copy_engine.sv
interrupt_collector.sv
job_port.sv
clock_gate.sv
quiet_watch.sv
activity_clock.sv
lut_ram.sv
../bsv/generated/tuple_lock_unit.v
lock_block.sv
lock_port.sv
completion_store.sv
submission_fetch.sv
queue_engine.sv
generated/queue_map_pkg.sv
generated/queue_registers_pkg.sv
generated/queue_registers.sv
queue_block.sv
queue_memory_port.sv
generated/shell_map_pkg.sv
generated/shell_registers_pkg.sv
generated/shell_registers.sv
shell_block.sv
lockstep_device.sv
