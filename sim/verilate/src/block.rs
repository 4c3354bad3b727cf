// SPDX-License-Identifier: MIT OR Apache-2.0
//! One RTL block, from its files to a static library and the Rust that goes with it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::compile::{bridge_header, compile};
use crate::glue::{Active, Glue, Reset, SharedPins};
use crate::{fail, ports, read, required_dependency_variable, required_variable, rerun_if_changed};

/// Options of Verilator for models that check: assertions, and registers and memories that begin
/// at random, also those of the Bluespec compiler, which has initial blocks for them.
const CHECKED: &[&str] = &["--assert", "--x-initial", "unique", "+define+BSV_NO_INITIAL_BLOCKS"];

/// Options of Verilator for models that have to be fast.
const FAST: &[&str] = &["--no-assert", "--x-initial", "fast"];

/// Options of Verilator for a netlist: nobody has to mend its style, or looks at its waves.
const NETLIST: &[&str] = &["-Wno-lint", "-Wno-style", "-Wno-fatal", "--trace-depth", "1"];

/// One RTL block that becomes a model, either its crate's only one or a module of it.
///
/// All paths count from [`Block::root`].
#[derive(Clone, Debug)]
pub struct Block {
    top: String,
    /// Of the model.
    name: String,
    root: PathBuf,
    /// Where in the crate the model is: the crate itself unless given.
    module: Option<String>,
    waivers: Vec<PathBuf>,
    /// Arguments of Verilator that are no files.
    options: Vec<String>,
    waves_of_top: bool,
    lists: Vec<PathBuf>,
    sources: Vec<PathBuf>,
    clock: String,
    reset: Reset,
    pins: Option<(PinsOf, Vec<String>)>,
}

/// Whose `Inputs` and `Outputs` a model has.
#[derive(Clone, Debug)]
enum PinsOf {
    Crate(String),
    Block(String),
}

impl Block {
    /// The block whose top module is `top`, with the clock `clk_i` and the reset `rst_ni`, which is
    /// active low.
    pub fn new(top: &str) -> Block {
        Block {
            top: top.to_owned(),
            name: top.to_owned(),
            root: PathBuf::new(),
            module: None,
            waivers: vec![],
            options: vec![],
            waves_of_top: false,
            lists: vec![],
            sources: vec![],
            clock: "clk_i".to_owned(),
            reset: Reset { name: "rst_ni".to_owned(), active: Active::Low },
            pins: None,
        }
    }

    /// The folder that all other paths count from, given from the folder of the crate (the one with
    /// its `Cargo.toml`), which it is unless set.
    pub fn root(mut self, folder: impl AsRef<Path>) -> Block {
        self.root = folder.as_ref().to_owned();
        self
    }

    /// Adds a list of files, as tools take them after `-F`: its paths count from its own folder.
    pub fn list(mut self, path: impl AsRef<Path>) -> Block {
        self.lists.push(path.as_ref().to_owned());
        self
    }

    /// Adds a source file. Packages stand before the files that use them.
    pub fn source(mut self, path: impl AsRef<Path>) -> Block {
        self.sources.push(path.as_ref().to_owned());
        self
    }

    /// Adds source files, in this order.
    pub fn sources(self, paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Block {
        paths.into_iter().fold(self, Block::source)
    }

    /// Adds a folder in which modules are looked for as `<module>.sv` or `<module>.v` when no
    /// source defines them.
    pub fn library(self, folder: &str) -> Block {
        self.option(&["-y", folder])
    }

    /// Adds a folder in which files are looked for that the sources include.
    pub fn include(self, folder: &str) -> Block {
        self.option(&[&format!("+incdir+{folder}")])
    }

    /// Defines a macro for the sources; without a value, write `NAME`, and with one `NAME=VALUE`.
    pub fn define(self, definition: &str) -> Block {
        self.option(&[&format!("-D{definition}")])
    }

    /// Sets a parameter of the top module to a number or to a string in quotation marks, as
    /// SystemVerilog writes them: `16`, `32'h80`, `"fast"`.
    pub fn parameter(self, name: &str, value: &str) -> Block {
        self.option(&[&format!("-G{name}={value}")])
    }

    /// Makes the model one with these parameters, in a module of this name (see [`Block::module`]), which the name of the
    /// model then ends with.
    pub fn shape<'a>(
        self,
        module: &str,
        parameters: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Block {
        let name = format!("{}_{module}", self.name);
        let block = self.module(module).name(&name);
        let set = |block: Block, (name, value)| block.parameter(name, value);
        parameters.into_iter().fold(block, set)
    }

    /// Names the model, which has the name of its top unless given: for a further model of the same top,
    /// with other parameters. All models of a program need names of their own.
    pub fn name(mut self, name: &str) -> Block {
        name.clone_into(&mut self.name);
        self
    }

    /// Adds a file of waivers for warnings. All others end the build.
    pub fn waivers(mut self, path: impl AsRef<Path>) -> Block {
        self.waivers.push(path.as_ref().to_owned());
        self
    }

    /// The clock, when it is not `clk_i`.
    pub fn clock(mut self, name: &str) -> Block {
        name.clone_into(&mut self.clock);
        self
    }

    /// The reset, when it is not `rst_ni`, or not active low.
    pub fn reset(mut self, name: &str, active: Active) -> Block {
        self.reset = Reset { name: name.to_owned(), active };
        self
    }

    /// Leaves all but the signals of the top module out of waves. Code that dumps every signal is a good
    /// part of a large model; one that only tests run, for its mutants say, is built sooner without.
    pub fn waves_of_top(mut self) -> Block {
        self.waves_of_top = true;
        self
    }

    /// Makes the model that of a module with this name, which holds
    /// `verilated::model!("<name>")`; for a second model in one crate.
    pub fn module(mut self, name: &str) -> Block {
        self.module = Some(name.to_owned());
        self
    }

    /// Uses the `Inputs` and `Outputs` of the crate `owner` (see [`pins`](crate::pins)), so that one
    /// test bench can drive several models. Their fields and the ports must be the same, but for
    /// `own_inputs`, each of which gets a function `set_<port>` instead.
    pub fn pins_of(mut self, owner: &str, own_inputs: &[&str]) -> Block {
        let own_inputs = own_inputs.iter().map(|&name| name.into()).collect();
        self.pins = Some((PinsOf::Crate(owner.to_owned()), own_inputs));
        self
    }

    /// As [`Block::pins_of`], with those of the block whose name is `name`, which is its top module unless
    /// given: the one that is the model of this crate, and that was built before.
    pub fn pins_of_block(mut self, name: &str, own_inputs: &[&str]) -> Block {
        let own_inputs = own_inputs.iter().map(|&name| name.into()).collect();
        self.pins = Some((PinsOf::Block(name.to_owned()), own_inputs));
        self
    }

    /// Builds the model; on an error says why and ends the build script.
    pub fn build(self) {
        let out = PathBuf::from(required_variable("OUT_DIR"));
        let folder = self.module.as_ref().map_or(out.clone(), |module| out.join(module));
        fs::create_dir_all(&folder).unwrap_or_else(|error| {
            fail(format_args!("cannot make {}: {error}", folder.display()))
        });
        let generated = self.verilate(&out, &folder);
        let header = read(&generated.join(format!("V{}.h", self.name)));
        let ports = ports::read(&header)
            .unwrap_or_else(|error| fail(format_args!("module `{}`: {error}", self.top)));
        let glue = Glue {
            shared: self.shared_pins(&out),
            name: self.name,
            ports,
            clock: self.clock,
            reset: self.reset,
            checked: checks_assertions(),
        };
        glue.check().unwrap_or_else(|error| fail(error));
        compile(&glue, &generated, &folder);
    }

    /// Runs Verilator; the folder with the C++ that it made.
    fn verilate(&self, out: &Path, folder: &Path) -> PathBuf {
        let manifest = PathBuf::from(required_variable("CARGO_MANIFEST_DIR"));
        let root = manifest.join(&self.root);
        self.check_files(&root);
        let generated = folder.join("verilated");
        // Files of an earlier run that this one does not make again must not be compiled.
        let _ = fs::remove_dir_all(&generated);
        let mut command = self.command(&root, &generated);
        let output = command
            .output()
            .unwrap_or_else(|error| fail(format_args!("cannot run {command:?}: {error}")));
        if !output.status.success() {
            eprint!("{}", String::from_utf8_lossy(&output.stderr));
            fail(format_args!("Verilator rejects `{}`; its messages are above", self.top));
        }
        self.watch_files_read(&root, &generated, out);
        generated
    }

    /// Names what is not there, before Verilator does it in its own words.
    fn check_files(&self, root: &Path) {
        for path in self.waivers.iter().chain(&self.lists).chain(&self.sources) {
            if !root.join(path).is_file() {
                let (path, root) = (path.display(), root.display());
                fail(format_args!("RTL file `{path}` of `{}` is not in {root}", self.top));
            }
        }
    }

    /// Verilog to read in the place of the RTL, where the environment names a file for this model: `./kit mutate`
    /// has tests judge what it plants.
    fn replacement(&self) -> Option<PathBuf> {
        let variable = format!("LOCKSTEP_PLANTED_{}", self.name.to_uppercase());
        println!("cargo::rerun-if-env-changed={variable}");
        env::var_os(variable).map(PathBuf::from)
    }

    fn command(&self, root: &Path, generated: &Path) -> Command {
        let mut command = Command::new(required_dependency_variable("DEP_VERILATED_PROGRAM"));
        command
            .env("VERILATOR_ROOT", required_dependency_variable("DEP_VERILATED_ROOT"))
            .current_dir(root)
            .args(["--cc", "--trace-fst", "--no-timing", "--threads", "1", "-Wall"])
            .args(["-O3", "--x-assign", "fast"])
            .args(if checks_assertions() { CHECKED } else { FAST })
            .args(["--top-module", &self.top, "--prefix", &format!("V{}", self.name)])
            .args(if self.waves_of_top { &["--trace-depth", "1"][..] } else { &[] })
            .arg("--Mdir")
            .arg(generated);
        if let Some(netlist) = self.replacement() {
            // A program wrote it, with the parameters that it was told.
            command.args(NETLIST).arg(netlist);
            return command;
        }
        command.args(&self.options).arg("+libext+.sv+.v").args(&self.waivers);
        for list in &self.lists {
            command.arg("-F").arg(list);
        }
        command.args(&self.sources);
        command
    }

    /// Tells Cargo of the files that Verilator read, by the list that it leaves for `make`, and of
    /// the lists of files.
    fn watch_files_read(&self, root: &Path, generated: &Path, out: &Path) {
        let list = read(&generated.join(format!("V{}__ver.d", self.name)));
        let inputs = list.split_once(" : ").map_or("", |(_, inputs)| inputs);
        let verilator = PathBuf::from(required_dependency_variable("DEP_VERILATED_ROOT"));
        // Names with spaces are not told apart here. What this build made itself is no source, and
        // of the tool the runtime crate watches the program.
        inputs
            .split_whitespace()
            .map(|name| root.join(name))
            .chain(self.lists.iter().map(|list| root.join(list)))
            .filter(|path| {
                path.is_file() && !path.starts_with(out) && !path.starts_with(&verilator)
            })
            .for_each(|path| rerun_if_changed(&path));
    }

    fn shared_pins(&self, out: &Path) -> Option<SharedPins> {
        let (of, own_inputs) = self.pins.clone()?;
        Some(match of {
            PinsOf::Crate(owner) => {
                let variable = format!("DEP_{}_PINS", owner.to_uppercase());
                let header = PathBuf::from(required_dependency_variable(&variable));
                SharedPins { path: owner.clone(), owner, header, own_inputs }
            }
            PinsOf::Block(owner) => {
                let header = bridge_header(&owner, &out.join("bridge.rs"), out);
                SharedPins { path: "crate".to_owned(), owner, header, own_inputs }
            }
        })
    }

    fn option(mut self, arguments: &[&str]) -> Block {
        self.options.extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }
}

/// Whether models check the assertions of their RTL: in Cargo's profile `dev` and those that
/// inherit from it, `test` among them, and not in `release`, in which benches run.
fn checks_assertions() -> bool {
    required_variable("PROFILE") == "debug"
}
