// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plants bugs in a copy of an RTL block: one model has all of these *mutants*, and the input
//! `mutant_i` selects one by its number. A test suite is trustworthy if it finds each.
//!
//! A build script reads the block's files, plants the mutants, writes what has changed, and builds the
//! model of it. The library of the same crate shows the mutants to the tests, so both include one list of
//! [`Mutant`]s; its model is [`model!`]. RTL that is mutated so need not know of it.

use std::env;
use std::fs;
use std::path::{self, Path, PathBuf};

/// A bug, planted on purpose at one place of the RTL.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// The error.
    pub name: &'static str,
    /// The file.
    pub file: &'static str,
    /// Text that stands in it once, with `{}` for the expression.
    pub place: &'static str,
    /// The expression that stands there.
    pub right: &'static str,
    /// The text that replaces it.
    pub wrong: &'static str,
}

/// One mutant, for lists of them: what is wrong; the file; the place; what is right there, and wrong.
pub const fn mutant(
    name: &'static str,
    file: &'static str,
    place: &'static str,
    right: &'static str,
    wrong: &'static str,
) -> Mutant {
    Mutant { name, file, place, right, wrong }
}

/// Bits of `mutant_i`.
const BITS: usize = 6;

/// What the mutated top of this module is called.
pub fn mutated(module: &str) -> String {
    format!("{module}_mutants")
}

/// Makes the module `mutants` of a model crate the model that [`Rtl::write_for_build`] has written
/// the RTL of: what `verilated::model!` makes, and `Core::set_mutant`.
#[macro_export]
macro_rules! model {
    () => {
        ::verilated::model!("mutants");

        impl Core {
            /// Chooses a mutant by its number, which is its place in the list and 1 for the first,
            /// from the next clock cycle on; 0 for none.
            pub fn set_mutant(&mut self, number: u8) {
                ffi::set_mutant_i(self.0.pin_mut(), number);
            }
        }
    };
}

/// For a build script: plants mutants in the block whose top is `module`, and writes what has changed; gives all files
/// of the block, in their order. `list` names those of the block itself. The model's top is [`mutated`].
///
/// # Errors
/// As [`Rtl::of_list`], [`Rtl::plant`] and [`Rtl::write_for_build`].
pub fn plant_for_build(
    module: &str,
    list: &Path,
    mutants: &[Mutant],
) -> Result<Vec<PathBuf>, String> {
    Rtl::of_list(module, list)?.plant(mutants)?.write_for_build()
}

/// The RTL files of a block, to be mutated.
#[derive(Clone, Debug)]
pub struct Rtl {
    /// The top of the block, whose mutated copy is called [`mutated`].
    module: String,
    files: Vec<File>,
}

#[derive(Clone, Debug)]
struct File {
    path: PathBuf,
    text: String,
    changed: bool,
}

impl File {
    fn is_called(&self, name: &str) -> bool {
        self.path.file_name().is_some_and(|own| own == name)
    }
}

impl Rtl {
    /// Reads the files that a list names, whose paths count from its folder, for mutants of the
    /// block whose top is `module`; Cargo is told of them and of the list.
    ///
    /// # Errors
    /// What cannot be read, with its path; a line of the list that is no path.
    pub fn of_list(module: &str, list: &Path) -> Result<Self, String> {
        let list = path::absolute(list).map_err(|error| format!("{}: {error}", list.display()))?;
        let folder = list.parent().unwrap_or(Path::new(""));
        let text = read(&list)?;
        let lines = text.lines().map(str::trim);
        let paths = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        let mut files = Vec::new();
        for name in paths {
            if name.starts_with(['+', '-']) {
                return Err(format!("{}: `{name}` is no path", list.display()));
            }
            let path = folder.join(name);
            files.push(File { text: read(&path)?, path, changed: false });
        }
        Ok(Self { module: module.to_owned(), files })
    }

    /// Plants mutants: the first is number 1.
    ///
    /// # Errors
    /// As [`Rtl::choose`], with the name of the mutant.
    ///
    /// # Panics
    /// When there are more than `mutant_i` can name.
    pub fn plant(mut self, mutants: &[Mutant]) -> Result<Self, String> {
        assert!(mutants.len() < 1 << BITS, "{} mutants, mutant_i has {BITS} bits", mutants.len());
        for (mutant, number) in mutants.iter().zip(1..) {
            let Mutant { name, file, place, right, wrong } = *mutant;
            self = self
                .choose(number, file, place, right, wrong)
                .map_err(|error| format!("mutant `{name}`: {error}"))?;
        }
        Ok(self)
    }

    /// Has `wrong` computed instead of `right` while `mutant_i` is `number`.
    ///
    /// # Errors
    /// When there is no such file, or the place does not stand in it just once.
    pub fn choose(
        mut self,
        number: u8,
        file: &str,
        place: &str,
        right: &str,
        wrong: &str,
    ) -> Result<Self, String> {
        let top = mutated(&self.module);
        let choice = format!("({top}.mutant_i == {BITS}'d{number} ? ({wrong}) : ({right}))");
        let (from, to) = (place.replacen("{}", right, 1), place.replacen("{}", &choice, 1));
        self.change(file, |text| {
            replace_once(text, &from, &to).map_err(|error| format!("{file}: {error}"))
        })?;
        Ok(self)
    }

    /// [`Rtl::write`] into the folder `mutants/rtl` of the build script that calls this.
    ///
    /// # Errors
    /// As [`Rtl::write`], and when `OUT_DIR` is not set.
    pub fn write_for_build(self) -> Result<Vec<PathBuf>, String> {
        let out =
            env::var_os("OUT_DIR").ok_or("OUT_DIR is not set; Cargo sets it in a build script")?;
        self.write(&Path::new(&out).join("mutants/rtl"))
    }

    /// Writes the files that were changed into a folder, which is made; the top under its new name
    /// and with the input `mutant_i`. Gives all files of the block, in their order.
    ///
    /// # Errors
    /// When the top is not as expected (`module` and its name once, with a space behind; its clock
    /// `clk_i` a port on a line of its own), or a file cannot be written.
    pub fn write(mut self, folder: &Path) -> Result<Vec<PathBuf>, String> {
        let top = mutated(&self.module);
        let name = format!("{}.sv", self.module);
        let module = format!("module {} ", self.module);
        self.change(&name, |text| {
            let text = replace_once(text, &module, &format!("module {top} "))?;
            let is_clock = |line: &&str| line.starts_with("    input") && line.ends_with(" clk_i,");
            let clock = text.lines().find(is_clock);
            let clock = clock.ok_or_else(|| format!("{name}: no port clk_i"))?;
            let port = format!("    input logic [{}:0] mutant_i,\n{clock}", BITS - 1);
            replace_once(&text, clock, &port)
        })?;
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut paths = Vec::new();
        for file in self.files {
            if !file.changed {
                paths.push(file.path);
                continue;
            }
            let path = if file.is_called(&name) {
                folder.join(format!("{top}.sv"))
            } else {
                folder.join(file.path.file_name().expect("it was found by its name"))
            };
            fs::write(&path, file.text).map_err(|error| format!("{}: {error}", path.display()))?;
            paths.push(path);
        }
        Ok(paths)
    }

    /// Puts other text into the file of this name.
    fn change(
        &mut self,
        name: &str,
        edit: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<(), String> {
        let file = self.files.iter_mut().find(|file| file.is_called(name));
        let file = file.ok_or_else(|| format!("{name} is not there"))?;
        file.text = edit(&file.text)?;
        file.changed = true;
        Ok(())
    }
}

fn read(path: &Path) -> Result<String, String> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn replace_once(text: &str, from: &str, to: &str) -> Result<String, String> {
    match text.matches(from).count() {
        1 => Ok(text.replacen(from, to, 1)),
        found => Err(format!("`{from}` stands {found} times, expected 1")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: &str = "module adder #(\n    parameter int Bits = 8\n) (\n    input  logic clk_i,\n    \
        output logic [7:0] sum_o\n);\n    assign sum_o = a + b;\nendmodule\n";

    fn adder() -> Rtl {
        let file = |path: &str, text: &str| File {
            path: path.into(),
            text: text.to_owned(),
            changed: false,
        };
        let files = vec![file("rtl/words_pkg.sv", "package words_pkg;"), file("rtl/adder.sv", TOP)];
        Rtl { module: "adder".into(), files }
    }

    #[test]
    fn each_mutant_is_a_choice_by_its_number() {
        let mutant = mutant("it subtracts", "adder.sv", "sum_o = {};", "a + b", "a - b");
        let folder = std::env::temp_dir().join(format!("mutants-{}", std::process::id()));
        let files = adder().plant(&[mutant]).unwrap().write(&folder).unwrap();
        // What is as it was stays where it was.
        let mutated = folder.join("adder_mutants.sv");
        assert_eq!(files, [Path::new("rtl/words_pkg.sv"), &mutated]);
        let written = fs::read_to_string(mutated).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let choice = "assign sum_o = (adder_mutants.mutant_i == 6'd1 ? (a - b) : (a + b));";
        assert!(written.contains(choice), "{written}");
        assert!(written.starts_with("module adder_mutants #("), "{written}");
        assert!(written.contains("    input logic [5:0] mutant_i,\n    input  logic clk_i,"));
    }

    #[test]
    fn a_top_needs_no_parameters() {
        let mut adder = adder();
        adder.files[1].text = TOP.replace("#(\n    parameter int Bits = 8\n) (", "(");
        let folder = std::env::temp_dir().join(format!("mutants-plain-{}", std::process::id()));
        let files = adder.plant(&[]).unwrap().write(&folder).unwrap();
        let written = fs::read_to_string(&files[1]).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(written.starts_with("module adder_mutants (\n    input logic [5:0]"), "{written}");
    }

    #[test]
    fn a_list_names_files_from_its_folder() {
        let folder = std::env::temp_dir().join(format!("mutants-list-{}", std::process::id()));
        fs::create_dir_all(folder.join("a")).unwrap();
        fs::write(folder.join("top.sv"), TOP).unwrap();
        let list = folder.join("a/top.f");
        fs::write(&list, "// the top\n\n../top.sv\n").unwrap();
        let rtl = Rtl::of_list("top", &list).unwrap();
        assert_eq!(rtl.files[0].path, folder.join("a/../top.sv"));
        assert_eq!(rtl.files[0].text, TOP);
        fs::write(&list, "+incdir+rtl\n").unwrap();
        let error = Rtl::of_list("top", &list).unwrap_err();
        assert!(error.ends_with("top.f: `+incdir+rtl` is no path"), "{error}");
        fs::write(&list, "absent.sv\n").unwrap();
        let error = Rtl::of_list("top", &list).unwrap_err();
        assert!(error.contains("absent.sv"), "{error}");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_does_not_stand_there_once_is_named() {
        let twice = adder().choose(1, "adder.sv", "l{}", "ogic", "x").unwrap_err();
        assert_eq!(twice, "adder.sv: `logic` stands 2 times, expected 1");
        let missing = adder().choose(1, "other.sv", "{}", "a", "b").unwrap_err();
        assert_eq!(missing, "other.sv is not there");
        let other = Rtl { module: "other".into(), ..adder() };
        assert_eq!(other.write(Path::new("nowhere")).unwrap_err(), "other.sv is not there");
    }
}
