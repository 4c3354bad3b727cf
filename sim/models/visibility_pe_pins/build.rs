// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the C++ side of the structs.

fn main() {
    verilate::pins("visibility_pe_pins", "src/lib.rs");
}
