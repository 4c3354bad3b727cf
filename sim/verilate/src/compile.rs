// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the C++ that Verilator made, and the glue, to a static library.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::glue::Glue;
use crate::{fail, required_dependency_variable, required_variable, write};

/// Writes the glue into `folder` and compiles it together with what Verilator made. The library has
/// the name of the model, so that the models of one crate are apart.
pub(crate) fn compile(glue: &Glue, generated: &Path, folder: &Path) {
    let out = PathBuf::from(required_variable("OUT_DIR"));
    let core_h = folder.join("core.h");
    let bridge_rs = folder.join("bridge.rs");
    write(&core_h, &glue.core_h());
    write(&bridge_rs, &glue.bridge_rs(&core_h));

    cxx_build::CFG.include_prefix = &glue.name;
    let mut fast = cxx_build::bridge(&bridge_rs);
    let bridge_h = bridge_header(&glue.name, &bridge_rs, &out);
    write(&folder.join("core.cpp"), &glue.core_cpp(&bridge_h));

    let (slow_files, fast_files) = generated_files(generated);
    let fast_unit = one_unit(&folder.join("fast.cpp"), &fast_files, &[folder.join("core.cpp")]);
    let slow_unit = one_unit(&folder.join("slow.cpp"), &slow_files, &[]);

    let mut slow = cc::Build::new();
    for build in [&mut slow, &mut fast] {
        runtime_options(build, &runtime_include_folders()).include(generated);
    }
    let slow_objects = slow.opt_level(0).file(slow_unit).compile_intermediates();
    // Not 3: measured slower here, and it takes longer to compile. With `g` the compiler needs a quarter of the time
    // of 2, which is more than tests lose by it.
    fast.opt_level_str(if glue.checked { "g" } else { "2" })
        .file(fast_unit)
        .objects(slow_objects)
        .compile(&format!("v{}", glue.name));
}

/// Where `cxx-build` puts the header of a bridge.
pub(crate) fn bridge_header(prefix: &str, bridge_rs: &Path, out: &Path) -> PathBuf {
    let relative = bridge_rs.strip_prefix("/").unwrap_or(bridge_rs).with_extension("rs.h");
    out.join("cxxbridge/include").join(prefix).join(relative)
}

/// The C++ files that Verilator made: those that run once (set-up, symbols, traces),
/// and those that run in every cycle.
fn generated_files(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| {
        fail(format_args!("cannot list {}: {error}", folder.display()));
    });
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cpp"))
        .collect();
    files.sort();
    files.into_iter().partition(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ["__Slow", "__Syms", "__ConstPool", "__Trace"].iter().any(|part| name.contains(part))
    })
}

/// Writes a C++ file that includes all the others: the headers are read once.
fn one_unit(unit: &Path, files: &[PathBuf], more: &[PathBuf]) -> PathBuf {
    let include = |path: &PathBuf| format!("#include \"{}\"\n", path.display());
    write(unit, &files.iter().chain(more).map(include).collect::<String>());
    unit.to_path_buf()
}

/// The compiler options that the Verilator runtime and every model share. All objects
/// must agree on the macros.
pub fn runtime_options<'a>(build: &'a mut cc::Build, include: &[PathBuf]) -> &'a mut cc::Build {
    build
        .cpp(true)
        .std("c++17")
        .debug(false)
        .warnings(false)
        .includes(include)
        .define("VL_TIME_CONTEXT", None)
        .define("VM_COVERAGE", "0")
        .define("VM_SC", "0")
        .define("VM_TRACE", "1")
        .define("VM_TRACE_FST", "1")
        .define("VM_TRACE_SAIF", "0")
        .define("VM_TRACE_VCD", "0")
        .flag_if_supported("-faligned-new")
        .flag_if_supported("-fcf-protection=none")
        .flag_if_supported("-Wno-unused")
}

/// The include folders that the runtime crate hands on.
fn runtime_include_folders() -> Vec<PathBuf> {
    let folders = required_dependency_variable("DEP_VERILATED_INCLUDE");
    env::split_paths(&folders).collect()
}
