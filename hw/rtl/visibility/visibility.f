// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: ea8406dc7257e88c5775b336fb4a9bd0c3ef2546fd4e9865a293dd9a8ae5d6fb cores.py verilog.py
// body-sha256: f572e52846586d5df5573574bde5e24224bef64b1f10acb748d6835e1040098b
// All files of visibility, each after those that it needs.
crc32c_pkg.sv
../common/lut_ram.sv
delta_page_table.sv
divide_by_127.sv
../common/lut_fifo.sv
entry_stream.sv
known_bits.sv
walk_pkg.sv
page_checker.sv
page_map_cache.sv
page_results.sv
page_lookup.sv
read_port.sv
row_output.sv
version_walk.sv
vid_stream.sv
visibility_walk.sv
