// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 40bd5ca1b7a791f54646426d18c7782d9fce96df4a2f8bc5078dc3236227d0d6 cores.py verilog.py
// body-sha256: 337a53db6ba83161cc7b0b27283f4b45f1853ad6ffd253d74c4712285b694480
// All files of shell, each after those that it needs.
generated/shell_map_pkg.sv
generated/shell_registers_pkg.sv
generated/shell_registers.sv
shell_block.sv
