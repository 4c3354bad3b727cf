// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 31c564c54e34f980e534522a7738ce931ac4e0816ebfba9c72e79e990ace8955 cores.py verilog.py
// body-sha256: dcf1d7dd6575ca138dfad93c3b5b1fffd5712734e996909a6dfb84a7171a4e0c
// All files of shell, each after those that it needs.
generated/shell_map_pkg.sv
generated/shell_registers_pkg.sv
generated/shell_registers.sv
../common/register_access.sv
shell_block.sv
