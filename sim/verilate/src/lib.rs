// SPDX-License-Identifier: MIT OR Apache-2.0
//! For the build scripts of model crates: RTL in, a typed Rust model out.
//!
//! ```no_run
//! // The whole of `main` in the build.rs of a crate with its RTL in the folder rtl:
//! verilate::Block::new("my_block").source("rtl/my_block.sv").build();
//! ```
//!
//! The build script finds Verilator through the runtime crate (`lockstep-verilated`,
//! which must be a dependency of the model crate), runs it on the sources of this one
//! block, reads the ports of the class that came out, writes the `cxx` bridge for
//! them, and compiles everything into a static library. All of it stays in `OUT_DIR`,
//! and Cargo is told exactly which files were read, so that a change to one RTL file
//! rebuilds one model. The Rust side is `verilated::model!()`.
//!
//! docs/adding-an-rtl-block.md shows the whole way; `examples/outside` is a crate in a workspace of
//! its own.

mod block;
mod compile;
mod find;
mod glue;
mod ports;
mod version;

use std::env;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

pub use block::Block;
pub use cc;
pub use compile::runtime_options;
pub use find::{FindError, Search, Verilator};
pub use glue::Active;
pub use version::{OLDEST, Version};

/// The whole build script of a crate that holds the pins of several models: a `cxx`
/// bridge in the file `bridge_rs`, with the structs `Inputs` and `Outputs` in the
/// namespace `lockstep::<owner>`. The name of the crate's library, and `links` in its
/// `Cargo.toml`, are `owner`.
pub fn pins(owner: &str, bridge_rs: &str) {
    cxx_build::CFG.include_prefix = owner;
    cxx_build::bridge(bridge_rs).std("c++17").compile(owner);
    let out = PathBuf::from(required_variable("OUT_DIR"));
    let header = compile::bridge_header(owner, Path::new(bridge_rs), &out);
    println!("cargo::metadata=pins={}", header.display());
}

/// Tells Cargo to run the build script again when `path` changes.
pub fn rerun_if_changed(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// Says what is wrong and ends the build script as failed.
pub fn fail(message: impl Display) -> ! {
    eprintln!("\n{message}\n");
    process::exit(1)
}

fn required_variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| fail(format_args!("{name} is not set; run this by cargo")))
}

fn required_dependency_variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| {
        fail(format_args!("{name} is not set; its crate must be under [dependencies]"))
    })
}

fn read(path: &Path) -> String {
    fs::read_to_string(path)
        .unwrap_or_else(|error| fail(format_args!("cannot read {}: {error}", path.display())))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text)
        .unwrap_or_else(|error| fail(format_args!("cannot write {}: {error}", path.display())));
}
