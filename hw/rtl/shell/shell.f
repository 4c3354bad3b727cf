// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: f98651c93cbc977cddb4ee2c2d070698e19cf970541bc2c1ac6b670b0b1ac7da cores.py verilog.py
// body-sha256: 337a53db6ba83161cc7b0b27283f4b45f1853ad6ffd253d74c4712285b694480
// All files of shell, each after those that it needs.
generated/shell_map_pkg.sv
generated/shell_registers_pkg.sv
generated/shell_registers.sv
shell_block.sv
