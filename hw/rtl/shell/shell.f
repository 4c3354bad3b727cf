// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: f98651c93cbc977cddb4ee2c2d070698e19cf970541bc2c1ac6b670b0b1ac7da cores.py verilog.py
// body-sha256: dcf1d7dd6575ca138dfad93c3b5b1fffd5712734e996909a6dfb84a7171a4e0c
// All files of shell, each after those that it needs.
generated/shell_map_pkg.sv
generated/shell_registers_pkg.sv
generated/shell_registers.sv
../common/register_access.sv
shell_block.sv
