//! Breaks a copy of an RTL block on purpose: one model that has all faults, each of which is switched
//! on by its number at the input `fault_i`. Test suites are believed when they find each.
//!
//! A build script reads the block's files, plants the faults, writes the copy, and builds the model of
//! it. The library of the same crate shows the faults to the tests, so both include one list of
//! [`Fault`]s. RTL that is broken so need not know of it.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A place in the RTL that is broken on purpose.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What is wrong.
    pub name: &'static str,
    /// The file.
    pub file: &'static str,
    /// Text that stands in it once, with `{}` for the expression.
    pub place: &'static str,
    /// The expression that stands there.
    pub right: &'static str,
    /// What is computed instead.
    pub wrong: &'static str,
}

/// One fault, for lists of them: what is wrong; the file; the place; what is right there, and wrong.
pub const fn fault(
    name: &'static str,
    file: &'static str,
    place: &'static str,
    right: &'static str,
    wrong: &'static str,
) -> Fault {
    Fault { name, file, place, right, wrong }
}

/// What a test suite finds, if anything: its error, or the message with which it panics, as it does
/// where an assertion of the RTL fails.
pub fn found(suite: impl FnOnce() -> Result<(), String>) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(suite)) {
        Ok(result) => result.err(),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied());
            Some(text.unwrap_or("a panic, see above").to_owned())
        }
    }
}

/// Bits of `fault_i`.
const BITS: usize = 6;

/// The RTL files of a block, to be broken.
#[derive(Clone, Debug)]
pub struct Rtl {
    /// What the broken top is called.
    top: String,
    files: BTreeMap<String, String>,
}

impl Rtl {
    /// Reads all SystemVerilog files of a folder, for a broken top of this name; Cargo is told of
    /// them.
    ///
    /// # Errors
    /// What cannot be read, with its path.
    pub fn of_folder(top: &str, folder: &Path) -> Result<Self, String> {
        let failed = |error| format!("{}: {error}", folder.display());
        let mut names = Vec::new();
        for entry in fs::read_dir(folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
            if name.ends_with(".sv") {
                names.push(name);
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        Self::of_files(top, folder, &names)
    }

    /// As [`Rtl::of_folder`], of these files alone.
    ///
    /// # Errors
    /// As there.
    pub fn of_files(top: &str, folder: &Path, names: &[&str]) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        for &name in names {
            let path = folder.join(name);
            println!("cargo::rerun-if-changed={}", path.display());
            let text = fs::read_to_string(&path);
            let text = text.map_err(|error| format!("{}: {error}", path.display()))?;
            files.insert(name.to_owned(), text);
        }
        Ok(Self { top: top.to_owned(), files })
    }

    /// Plants faults: the first is number 1.
    ///
    /// # Errors
    /// As [`Rtl::choose`], with the name of the fault.
    ///
    /// # Panics
    /// When there are more than `fault_i` can name.
    pub fn plant(mut self, faults: &[Fault]) -> Result<Self, String> {
        assert!(faults.len() < 1 << BITS, "{} faults, fault_i has {BITS} bits", faults.len());
        for (fault, number) in faults.iter().zip(1..) {
            let Fault { name, file, place, right, wrong } = *fault;
            self = self
                .choose(number, file, place, right, wrong)
                .map_err(|error| format!("fault `{name}`: {error}"))?;
        }
        Ok(self)
    }

    /// Has `wrong` computed instead of `right` while `fault_i` is `number`.
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
        let choice = format!("({}.fault_i == {BITS}'d{number} ? ({wrong}) : ({right}))", self.top);
        let (from, to) = (place.replacen("{}", right, 1), place.replacen("{}", &choice, 1));
        let text = self.files.get_mut(file).ok_or_else(|| format!("{file} is not there"))?;
        *text = replace_once(text, &from, &to).map_err(|error| format!("{file}: {error}"))?;
        Ok(self)
    }

    /// Writes the files into a folder, which is made; `module`, the top, under its new name and with
    /// the input `fault_i`.
    ///
    /// # Errors
    /// When the top is not as expected (a `#` behind its name, its clock `clk_i` a port on a line of
    /// its own), or a file cannot be written.
    pub fn write(mut self, module: &str, folder: &Path) -> Result<(), String> {
        let name = format!("{module}.sv");
        let text = self.files.remove(&name).ok_or_else(|| format!("{name} is not there"))?;
        let declared = format!("module {} #", self.top);
        let text = replace_once(&text, &format!("module {module} #"), &declared)?;
        let is_clock = |line: &&str| line.starts_with("    input") && line.ends_with(" clk_i,");
        let clock = text.lines().find(is_clock).ok_or_else(|| format!("{name}: no port clk_i"))?;
        let port = format!("    input logic [{}:0] fault_i,\n{clock}", BITS - 1);
        let text = replace_once(&text, clock, &port)?;
        self.files.insert(format!("{}.sv", self.top), text);
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for (name, text) in &self.files {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }
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
        let files = BTreeMap::from([("adder.sv".to_owned(), TOP.to_owned())]);
        Rtl { top: "adder_sabotaged".into(), files }
    }

    #[test]
    fn each_fault_is_a_choice_by_its_number() {
        let fault = fault("it subtracts", "adder.sv", "sum_o = {};", "a + b", "a - b");
        let folder = std::env::temp_dir().join(format!("sabotage-{}", std::process::id()));
        adder().plant(&[fault]).unwrap().write("adder", &folder).unwrap();
        let written = fs::read_to_string(folder.join("adder_sabotaged.sv")).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let choice = "assign sum_o = (adder_sabotaged.fault_i == 6'd1 ? (a - b) : (a + b));";
        assert!(written.contains(choice), "{written}");
        assert!(written.starts_with("module adder_sabotaged #("), "{written}");
        assert!(written.contains("    input logic [5:0] fault_i,\n    input  logic clk_i,"));
    }

    #[test]
    fn errors_and_panics_are_found() {
        assert_eq!(found(|| Ok(())), None);
        assert_eq!(found(|| Err("wrong".into())).as_deref(), Some("wrong"));
        assert_eq!(found(|| panic!("wrong")).as_deref(), Some("wrong"));
        assert_eq!(found(|| panic!("{} wrong", 1)).as_deref(), Some("1 wrong"));
    }

    #[test]
    fn what_does_not_stand_there_once_is_named() {
        let twice = adder().choose(1, "adder.sv", "l{}", "ogic", "x").unwrap_err();
        assert_eq!(twice, "adder.sv: `logic` stands 2 times, expected 1");
        let missing = adder().choose(1, "other.sv", "{}", "a", "b").unwrap_err();
        assert_eq!(missing, "other.sv is not there");
        let folder = Path::new("nowhere");
        assert_eq!(adder().write("other", folder).unwrap_err(), "other.sv is not there");
    }
}
