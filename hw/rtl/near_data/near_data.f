// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 31c564c54e34f980e534522a7738ce931ac4e0816ebfba9c72e79e990ace8955 cores.py verilog.py
// body-sha256: 6035b494b674b197bcdf09929ce73bf23cfbf624017c0a90ff0559a1f23241fc
// All files of near_data, each after those that it needs.
job_loader.sv
program_pkg.sv
../float/float_pkg.sv
../float/float_add.sv
../float/float_multiply.sv
../float/integer_multiply.sv
../float/arithmetic_unit.sv
lane_execute.sv
../common/block_ram.sv
../common/lut_ram.sv
program_lane.sv
../common/take_turns.sv
program_lanes.sv
