// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 8a11454be0a0e2f8c1e739cea101f16b2a8050c6259cc46b8923794f16bcfe4a cores.py verilog.py
// body-sha256: 28e561910bfa78fc8c58a0f9356b485edf30d3625a0c040ce354ab8b99f70931
// All files of nic, each after those that it needs.
byte_aligner.sv
vector_pkg.sv
../common/block_ram.sv
../common/lut_ram.sv
../common/lut_fifo.sv
piece_landing.sv
piece_splitter.sv
piece_tally.sv
piece_writer.sv
copy_path.sv
done_merge.sv
element_check.sv
vector_fill.sv
vector_queue.sv
vector_turns.sv
dma_vectorizer.sv
