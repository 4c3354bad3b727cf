// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 40bd5ca1b7a791f54646426d18c7782d9fce96df4a2f8bc5078dc3236227d0d6 cores.py verilog.py
// body-sha256: a148826502484d560bab56bbf281ee2a284c4831425919ddcf8f53cb6b08a880
// All files of tuple_lock_unit, each after those that it needs.
../rtl/common/lut_ram.sv
generated/tuple_lock_unit.v
