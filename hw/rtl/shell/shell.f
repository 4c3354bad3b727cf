// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 38bc4d28d1001033159a9bc0decdb2a28634abe826fca59311d82b44ecb98176 cores.py verilog.py
// body-sha256: 337a53db6ba83161cc7b0b27283f4b45f1853ad6ffd253d74c4712285b694480
// All files of shell, each after those that it needs.
generated/shell_map_pkg.sv
generated/shell_registers_pkg.sv
generated/shell_registers.sv
shell_block.sv
