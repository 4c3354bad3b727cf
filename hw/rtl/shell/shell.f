// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: ea8406dc7257e88c5775b336fb4a9bd0c3ef2546fd4e9865a293dd9a8ae5d6fb cores.py verilog.py
// body-sha256: dcf1d7dd6575ca138dfad93c3b5b1fffd5712734e996909a6dfb84a7171a4e0c
// All files of shell, each after those that it needs.
generated/shell_map_pkg.sv
generated/shell_registers_pkg.sv
generated/shell_registers.sv
../common/register_access.sv
shell_block.sv
