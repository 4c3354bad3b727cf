// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: ea8406dc7257e88c5775b336fb4a9bd0c3ef2546fd4e9865a293dd9a8ae5d6fb cores.py verilog.py
// body-sha256: 9b72a69b94096e9168b7b9800a78cc4fe4f813383a490161a99f82dcef0947ce
// All files of visibility_pe, each after those that it needs.
generated/visibility_pe_map_pkg.sv
generated/visibility_pe_registers_pkg.sv
generated/visibility_pe_registers.sv
../common/axi_lite_blocks.sv
../near_data/job_loader.sv
../common/block_ram.sv
../float/float_pkg.sv
../float/float_add.sv
../float/float_multiply.sv
../float/integer_multiply.sv
../float/arithmetic_unit.sv
../near_data/program_pkg.sv
../near_data/lane_execute.sv
../common/lut_ram.sv
../near_data/program_lane.sv
../common/take_turns.sv
../near_data/program_lanes.sv
../common/register_access.sv
../common/lut_fifo.sv
entry_stream.sv
delta_page_table.sv
crc32c_pkg.sv
walk_pkg.sv
page_checker.sv
divide_by_127.sv
known_bits.sv
page_map_cache.sv
page_results.sv
page_lookup.sv
read_port.sv
row_output.sv
version_walk.sv
vid_stream.sv
visibility_walk.sv
visibility_pe.sv
