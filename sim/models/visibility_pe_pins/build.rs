//! Makes the C++ side of the structs.

fn main() {
    verilate::pins("visibility_pe_pins", "src/lib.rs");
}
