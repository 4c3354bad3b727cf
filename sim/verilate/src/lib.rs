//! For the build scripts of model crates: RTL in, a typed Rust model out.
//!
//! ```no_run
//! // The whole of `main` in sim/models/my_block/build.rs:
//! verilate::Block::new("my_block").source("hw/rtl/my_block.sv").build();
//! ```
//!
//! The build script finds Verilator through the runtime crate (`lockstep-verilated`,
//! which must be a dependency of the model crate), runs it on the sources of this one
//! block, reads the ports of the class that came out, writes the `cxx` bridge for
//! them, and compiles everything into a static library. All of it stays in `OUT_DIR`,
//! and Cargo is told exactly which files were read, so that a change to one RTL file
//! rebuilds one model. The Rust side is `verilated::model!()`.
//!
//! docs/adding-an-rtl-block.md shows the whole way.

mod find;
mod glue;
mod ports;
mod version;

use std::env;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

pub use cc;
pub use find::{FindError, Search, Verilator};
pub use version::{OLDEST, Version};

use glue::{Glue, SharedPins};

/// Waivers for the lint warnings of Verilator, each with its reason.
const LINT_WAIVERS: &str = "hw/lint.vlt";

/// Options of Verilator for models that check: assertions, and registers and memories that begin
/// at random, also those of the Bluespec compiler, which has initial blocks for them.
const CHECKED: &[&str] = &["--assert", "--x-initial", "unique", "+define+BSV_NO_INITIAL_BLOCKS"];

/// Options of Verilator for models that have to be fast.
const FAST: &[&str] = &["--no-assert", "--x-initial", "fast"];

/// One RTL block that becomes one model crate.
#[derive(Clone, Debug)]
pub struct Block {
    top: String,
    sources: Vec<String>,
    libraries: Vec<String>,
    pins_of: Option<(String, Vec<String>)>,
}

impl Block {
    /// The block whose top module is `top`.
    pub fn new(top: &str) -> Block {
        Block { top: top.to_owned(), sources: vec![], libraries: vec![], pins_of: None }
    }

    /// Adds a source file; `path` is relative to the root of the workspace.
    pub fn source(mut self, path: &str) -> Block {
        self.sources.push(path.to_owned());
        self
    }

    /// Adds a folder, relative to the root of the workspace, in which modules are
    /// looked for as `<module>.sv` or `<module>.v` when no source defines them.
    pub fn library(mut self, folder: &str) -> Block {
        self.libraries.push(folder.to_owned());
        self
    }

    /// Uses the `Inputs` and `Outputs` of the crate `owner` (see [`pins`]), so that one
    /// test bench can drive several models. Their fields and the ports must be the same,
    /// but for `own_inputs`, each of which gets a function `set_<port>` instead.
    pub fn pins_of(mut self, owner: &str, own_inputs: &[&str]) -> Block {
        self.pins_of = Some((owner.to_owned(), own_inputs.iter().map(|&s| s.into()).collect()));
        self
    }

    /// Builds the model; on an error says why and ends the build script.
    pub fn build(self) {
        let out = PathBuf::from(required_variable("OUT_DIR"));
        let workspace = workspace_root();
        let generated = self.verilate(&workspace, &out);
        let header = read(&generated.join(format!("V{}.h", self.top)));
        let ports = ports::read(&header)
            .unwrap_or_else(|error| fail(format_args!("module `{}`: {error}", self.top)));
        let shared = self.shared_pins();
        let glue = Glue { shared, top: self.top, ports, checked: checks_assertions() };
        glue.check().unwrap_or_else(|error| fail(error));
        compile(&glue, &generated, &out);
    }

    /// Runs Verilator; the folder with the C++ that it made.
    fn verilate(&self, workspace: &Path, out: &Path) -> PathBuf {
        let generated = out.join("verilated");
        // Files of an earlier run that this one does not make again must not be compiled.
        let _ = fs::remove_dir_all(&generated);
        let mut command = Command::new(required_dependency_variable("DEP_VERILATED_PROGRAM"));
        command
            .env("VERILATOR_ROOT", required_dependency_variable("DEP_VERILATED_ROOT"))
            .current_dir(workspace)
            .args(["--cc", "--trace-fst", "--no-timing", "--threads", "1", "-Wall"])
            .args(["-O3", "--x-assign", "fast"])
            .args(if checks_assertions() { CHECKED } else { FAST })
            .args(["--top-module", &self.top, "--prefix", &format!("V{}", self.top)])
            .arg("--Mdir")
            .arg(&generated)
            .args(self.libraries.iter().flat_map(|folder| ["-y", folder]))
            .arg("+libext+.sv+.v");
        if workspace.join(LINT_WAIVERS).is_file() {
            command.arg(LINT_WAIVERS);
        }
        command.args(&self.sources);
        for source in &self.sources {
            if !workspace.join(source).is_file() {
                let folder = workspace.display();
                fail(format_args!("RTL file `{source}` of `{}` is not in {folder}", self.top));
            }
        }
        let output = command
            .output()
            .unwrap_or_else(|error| fail(format_args!("cannot run {command:?}: {error}")));
        if !output.status.success() {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            fail(format_args!("Verilator rejects `{}`; its messages are above", self.top));
        }
        self.watch_files_read(workspace, &generated);
        generated
    }

    /// Tells Cargo of the files that Verilator read, by the list that it leaves for `make`.
    fn watch_files_read(&self, workspace: &Path, generated: &Path) {
        let list = read(&generated.join(format!("V{}__ver.d", self.top)));
        let inputs = list.split_once(" : ").map_or("", |(_, inputs)| inputs);
        // Names with spaces are not told apart here. Only the system's own files have
        // absolute names, ours are relative to the workspace.
        inputs
            .split_whitespace()
            .map(|name| workspace.join(name))
            .filter(|path| path.is_file() && path.starts_with(workspace.join("hw")))
            .for_each(|path| rerun_if_changed(&path));
    }

    fn shared_pins(&self) -> Option<SharedPins> {
        let (owner, own_inputs) = self.pins_of.clone()?;
        let variable = format!("DEP_{}_PINS", owner.to_uppercase());
        let header = PathBuf::from(required_dependency_variable(&variable));
        Some(SharedPins { owner, header, own_inputs })
    }
}

/// The whole build script of a crate that holds the pins of several models: a `cxx`
/// bridge in the file `bridge_rs`, with the structs `Inputs` and `Outputs` in the
/// namespace `lockstep::<owner>`. The name of the crate's library, and `links` in its
/// `Cargo.toml`, are `owner`.
pub fn pins(owner: &str, bridge_rs: &str) {
    cxx_build::CFG.include_prefix = owner;
    cxx_build::bridge(bridge_rs).std("c++17").compile(owner);
    let out = PathBuf::from(required_variable("OUT_DIR"));
    let header = bridge_header(owner, Path::new(bridge_rs), &out);
    println!("cargo::metadata=pins={}", header.display());
}

/// Writes the glue and compiles it together with what Verilator made.
fn compile(glue: &Glue, generated: &Path, out: &Path) {
    let core_h = out.join("core.h");
    let bridge_rs = out.join("bridge.rs");
    write(&core_h, &glue.core_h());
    write(&bridge_rs, &glue.bridge_rs(&core_h));

    cxx_build::CFG.include_prefix = &glue.top;
    let mut fast = cxx_build::bridge(&bridge_rs);
    let bridge_h = bridge_header(&glue.top, &bridge_rs, out);
    write(&out.join("core.cpp"), &glue.core_cpp(&bridge_h));

    let (slow_files, fast_files) = generated_files(generated);
    let fast_unit = one_unit(&out.join("fast.cpp"), &fast_files, &[out.join("core.cpp")]);
    let slow_unit = one_unit(&out.join("slow.cpp"), &slow_files, &[]);

    let mut slow = cc::Build::new();
    for build in [&mut slow, &mut fast] {
        runtime_options(build, &runtime_include_folders()).include(generated);
    }
    let slow_objects = slow.opt_level(0).file(slow_unit).compile_intermediates();
    // Not 3: measured slower here, and it takes longer to compile. With 1 the compiler needs half
    // the time, which is more than tests win by 2.
    fast.opt_level(if glue.checked { 1 } else { 2 })
        .file(fast_unit)
        .objects(slow_objects)
        .compile(&format!("v{}", glue.top));
}

/// Where `cxx-build` puts the header of a bridge.
fn bridge_header(prefix: &str, bridge_rs: &Path, out: &Path) -> PathBuf {
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

/// The root of the workspace: the nearest folder above the crate that holds `hw`.
pub fn workspace_root() -> PathBuf {
    let manifest = PathBuf::from(required_variable("CARGO_MANIFEST_DIR"));
    let root = manifest.ancestors().find(|folder| folder.join("hw").is_dir());
    root.unwrap_or_else(|| fail(format_args!("no folder above {} holds hw", manifest.display())))
        .to_path_buf()
}

/// Whether models check the assertions of their RTL: in Cargo's profile `dev` and those that
/// inherit from it, `test` among them, and not in `release`, in which benches run.
fn checks_assertions() -> bool {
    required_variable("PROFILE") == "debug"
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
