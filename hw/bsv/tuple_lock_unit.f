// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 31c564c54e34f980e534522a7738ce931ac4e0816ebfba9c72e79e990ace8955 cores.py verilog.py
// body-sha256: a148826502484d560bab56bbf281ee2a284c4831425919ddcf8f53cb6b08a880
// All files of tuple_lock_unit, each after those that it needs.
../rtl/common/lut_ram.sv
generated/tuple_lock_unit.v
