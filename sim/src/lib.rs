//! Verilated models, bus models, coherent memory and the event kernel.
