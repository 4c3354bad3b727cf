// Generated from hw/regs by hw/regs/generate; do not edit.
// sources-sha256: 8a11454be0a0e2f8c1e739cea101f16b2a8050c6259cc46b8923794f16bcfe4a cores.py verilog.py
// body-sha256: 1674478d86f3c0dc00a5fd75cf6e77b5de7544e79fc24ffbb5e9ca0abc3f6bbf
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
vector_engine.sv
generated/dma_vectorizer_map_pkg.sv
generated/dma_vectorizer_registers_pkg.sv
generated/dma_vectorizer_registers.sv
vectorizer_block.sv
../common/axi_lite_blocks.sv
dma_vectorizer.sv
