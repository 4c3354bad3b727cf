// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 94ddf332e2433f58038063288f18a0f86f2824e08a2ddefb6a7f649aab5c4dce cores.py verilog.py
// body-sha256: a148826502484d560bab56bbf281ee2a284c4831425919ddcf8f53cb6b08a880
// All files of tuple_lock_unit, each after those that it needs.
../rtl/common/lut_ram.sv
generated/tuple_lock_unit.v
