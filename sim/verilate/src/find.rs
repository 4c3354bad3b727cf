// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search for Verilator, and the error if it is not found.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::version::{OLDEST, Version};

/// A Verilator that was found, and is new enough.
#[derive(Clone, Debug)]
pub struct Verilator {
    /// The program to run: the compiler itself, or the wrapper around it.
    pub program: PathBuf,
    /// What `VERILATOR_ROOT` has to be when it runs; holds `include/verilated.h`.
    pub root: PathBuf,
    /// Its version, at least [`OLDEST`].
    pub version: Version,
}

/// Why there is no Verilator to build with.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// Nothing was found in any of the places.
    #[error(
        "no Verilator found.\n  looked for: {looked}\n  expected: Verilator {OLDEST} or newer\n  \
         to get one: ./kit setup"
    )]
    Missing {
        /// The places, in the order in which they were tried.
        looked: String,
    },
    /// A place that the user named holds no Verilator.
    #[error(
        "{variable} is `{value}`, but {reason}.\n  expected: Verilator {OLDEST} or newer\n  \
         to get one: unset {variable} and run ./kit setup"
    )]
    BadVariable {
        /// `VERILATOR` or `VERILATOR_ROOT`.
        variable: &'static str,
        /// The value that it was set to.
        value: String,
        /// The error in it.
        reason: String,
    },
    /// One was found that is older than [`OLDEST`].
    #[error(
        "Verilator {found} at `{}` ({place}) is too old.\n  expected: {OLDEST} or newer\n  \
         to get one: ./kit setup, or name another in VERILATOR",
        program.display()
    )]
    TooOld {
        /// Where it was found.
        program: PathBuf,
        /// Which of the places that was.
        place: &'static str,
        /// Its version.
        found: Version,
    },
    /// One was found that does not run, or does not say what it is.
    #[error(
        "`{}` ({place}) does not work as a Verilator: {reason}.\n  expected: Verilator {OLDEST} \
         or newer\n  to get one: ./kit setup, or name another in VERILATOR",
        program.display()
    )]
    Broken {
        /// Where it was found.
        program: PathBuf,
        /// Which of the places that was.
        place: &'static str,
        /// The error.
        reason: String,
    },
}

/// The places in which Verilator is looked for, in this order: `VERILATOR`,
/// `VERILATOR_ROOT`, the environment that `./kit setup` makes, `PATH`.
///
/// A variable that is set is binding: when it names no Verilator, that is an
/// error, and the later places are not tried.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// `VERILATOR`: a path, or a name to be found in `path`.
    pub verilator: Option<OsString>,
    /// `VERILATOR_ROOT`: the folder that holds `include/verilated.h`.
    pub verilator_root: Option<OsString>,
    /// The folder of the workspace, in which `.kit/venv` may lie.
    pub workspace: PathBuf,
    /// `PATH`.
    pub path: Option<OsString>,
}

/// A program to be tried: where it is, its root when that is known, and which
/// place it came from.
struct Candidate {
    program: PathBuf,
    root: Option<PathBuf>,
    place: &'static str,
}

impl Search {
    /// Takes the variables from the environment of this process.
    pub fn from_environment(workspace: &Path) -> Search {
        let variable = |name| env::var_os(name).filter(|value| !value.is_empty());
        Search {
            verilator: variable("VERILATOR"),
            verilator_root: variable("VERILATOR_ROOT"),
            workspace: workspace.to_path_buf(),
            path: variable("PATH"),
        }
    }

    /// Looks in all places and takes the first Verilator.
    ///
    /// # Errors
    /// [`FindError`], when there is none, or when the first one is too old or broken.
    pub fn find(&self) -> Result<Verilator, FindError> {
        self.candidate()?.examine()
    }

    fn candidate(&self) -> Result<Candidate, FindError> {
        if let Some(value) = &self.verilator {
            return self.named_by_verilator(value);
        }
        if let Some(value) = &self.verilator_root {
            return self.below_verilator_root(value);
        }
        if let Some(root) = self.kit_root() {
            let program = root.join("bin/verilator_bin");
            return Ok(Candidate { program, root: Some(root), place: "from ./kit setup" });
        }
        if let Some(program) = self.on_path(OsStr::new("verilator")) {
            return Ok(Candidate { program, root: None, place: "on PATH" });
        }
        Err(FindError::Missing { looked: self.looked() })
    }

    fn named_by_verilator(&self, value: &OsStr) -> Result<Candidate, FindError> {
        let as_path = PathBuf::from(value);
        let program = if as_path.components().count() > 1 {
            Some(as_path).filter(|path| path.is_file())
        } else {
            self.on_path(value)
        };
        let program = program.ok_or_else(|| FindError::BadVariable {
            variable: "VERILATOR",
            value: value.to_string_lossy().into_owned(),
            reason: "there is no such program".to_owned(),
        })?;
        let root = self.verilator_root.as_ref().map(PathBuf::from);
        Ok(Candidate { program, root, place: "named by VERILATOR" })
    }

    fn below_verilator_root(&self, value: &OsStr) -> Result<Candidate, FindError> {
        let root = PathBuf::from(value);
        let bad = |reason: String| FindError::BadVariable {
            variable: "VERILATOR_ROOT",
            value: value.to_string_lossy().into_owned(),
            reason,
        };
        if !is_root(&root) {
            return Err(bad("there is no include/verilated.h below it".to_owned()));
        }
        // A distribution keeps the program elsewhere than the rest.
        let program = ["bin/verilator_bin", "bin/verilator"]
            .iter()
            .map(|name| root.join(name))
            .find(|path| path.is_file())
            .or_else(|| self.on_path(OsStr::new("verilator_bin")))
            .or_else(|| self.on_path(OsStr::new("verilator")))
            .ok_or_else(|| bad("no verilator is in its bin folder or on PATH".to_owned()))?;
        Ok(Candidate { program, root: Some(root), place: "named by VERILATOR_ROOT" })
    }

    /// The package folder inside the environment made by `./kit setup`.
    fn kit_root(&self) -> Option<PathBuf> {
        let mut roots: Vec<PathBuf> = std::fs::read_dir(self.workspace.join(".kit/venv/lib"))
            .ok()?
            .flatten()
            .map(|entry| entry.path().join("site-packages/verilator"))
            .filter(|root| is_root(root) && root.join("bin/verilator_bin").is_file())
            .collect();
        roots.sort();
        roots.pop()
    }

    fn on_path(&self, name: &OsStr) -> Option<PathBuf> {
        env::split_paths(self.path.as_ref()?).map(|dir| dir.join(name)).find(|path| path.is_file())
    }

    fn looked(&self) -> String {
        let kit = self.workspace.join(".kit/venv");
        format!(
            "VERILATOR (not set), VERILATOR_ROOT (not set), {} (not there), \
             verilator on PATH (not there)",
            kit.display()
        )
    }
}

impl Candidate {
    fn examine(self) -> Result<Verilator, FindError> {
        let root = self.find_root()?;
        let banner = self.run(&root, "--version")?;
        let version = Version::from_banner(&banner)
            .or_else(|| Version::from_root(&root))
            .ok_or_else(|| self.broken(format_args!("it prints no version, only {banner:?}")))?;
        if version < OLDEST {
            let Candidate { program, place, .. } = self;
            return Err(FindError::TooOld { program, place, found: version });
        }
        Ok(Verilator { program: self.program, root, version })
    }

    fn find_root(&self) -> Result<PathBuf, FindError> {
        if let Some(root) = &self.root {
            return Ok(root.clone());
        }
        if let Ok(program) = self.program.canonicalize()
            && let Some(above) = program.parent().and_then(Path::parent)
            && is_root(above)
        {
            return Ok(above.to_path_buf());
        }
        let printed = self.output(Command::new(&self.program).args(["--getenv", "VERILATOR_ROOT"]));
        Ok(PathBuf::from(printed?.trim()))
    }

    fn run(&self, root: &Path, argument: &str) -> Result<String, FindError> {
        self.output(Command::new(&self.program).arg(argument).env("VERILATOR_ROOT", root))
    }

    fn output(&self, command: &mut Command) -> Result<String, FindError> {
        let output = command.output().map_err(|error| self.broken(error))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            return Err(self.broken(format_args!("{}, {}", output.status, text.trim())));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn broken(&self, reason: impl fmt::Display) -> FindError {
        let reason = reason.to_string();
        FindError::Broken { program: self.program.clone(), place: self.place, reason }
    }
}

fn is_root(folder: &Path) -> bool {
    folder.join("include/verilated.h").is_file()
}
