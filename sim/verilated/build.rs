// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the Verilator runtime once for all models, and tells their build scripts
//! which Verilator it belongs to.

use std::env;
use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-env-changed=VERILATOR");
    println!("cargo::rerun-if-env-changed=VERILATOR_ROOT");
    let ours = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let kit = ours.ancestors().nth(2).expect("the workspace is two folders above");
    let verilator = verilate::Search::from_environment(kit)
        .find()
        .unwrap_or_else(|error| verilate::fail(error));
    verilate::rerun_if_changed(&verilator.program);

    let runtime = verilator.root.join("include");
    let mut include = vec![ours.join("include"), runtime.clone(), runtime.join("vltstd")];
    let header = |file: &str| ours.join("include/lockstep").join(file);
    for file in ["core.h", "core_impl.h", "messages.h", "print.h"] {
        verilate::rerun_if_changed(&header(file));
    }
    let messages = ours.join("src/messages.cpp");
    verilate::rerun_if_changed(&messages);

    // For the models: the headers, and the program that they must be made with.
    let joined = env::join_paths(&include).expect("no folder has a colon in its name");
    println!("cargo::metadata=include={}", joined.display());
    println!("cargo::metadata=program={}", verilator.program.display());
    println!("cargo::metadata=root={}", verilator.root.display());
    println!("cargo::rustc-env=VERILATOR_VERSION={}", verilator.version);

    for variable in ["DEP_LZ4_INCLUDE", "DEP_Z_INCLUDE"] {
        include.extend(env::split_paths(&env::var_os(variable).expect("set by its crate")));
    }
    let mut build = verilate::cc::Build::new();
    verilate::runtime_options(&mut build, &include)
        .opt_level(1)
        .define("VL_USER_STOP", None)
        .flag("-include")
        .flag(header("print.h"))
        .file(messages)
        .files(
            ["verilated.cpp", "verilated_threads.cpp", "verilated_fst_c.cpp"]
                .map(|file| runtime.join(file)),
        )
        .compile("verilated");
}
