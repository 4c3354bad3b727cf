// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 8a11454be0a0e2f8c1e739cea101f16b2a8050c6259cc46b8923794f16bcfe4a cores.py verilog.py
// body-sha256: 337a53db6ba83161cc7b0b27283f4b45f1853ad6ffd253d74c4712285b694480
// All files of shell, each after those that it needs.
generated/shell_map_pkg.sv
generated/shell_registers_pkg.sv
generated/shell_registers.sv
shell_block.sv
