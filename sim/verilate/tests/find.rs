// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where Verilator is looked for and what is said when there is none, with fake ones.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use verilate::{FindError, Search, Version};

/// A folder with fake Verilators, in a path with a space.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("lockstep {test} {}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A program that prints `banner` for `--version`.
    fn program(&self, name: &str, banner: &str) -> PathBuf {
        let root = self.0.display();
        let script = format!(
            "#!/bin/sh\ncase \"$1\" in\n--version) echo '{banner}' ;;\n\
             --getenv) echo '{root}' ;;\n*) exit 1 ;;\nesac\n"
        );
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// The headers that make a folder a root, of the release `number`.
    fn headers(&self, root: &str, number: &str) -> PathBuf {
        let root = self.path(root);
        fs::create_dir_all(root.join("include")).unwrap();
        fs::write(root.join("include/verilated.h"), "").unwrap();
        let text = format!("#define VERILATOR_VERSION \"{number}\"\n");
        fs::write(root.join("include/verilated_config.h"), text).unwrap();
        root
    }

    fn search(&self) -> Search {
        Search { workspace: self.0.clone(), ..Search::default() }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn value(path: &Path) -> Option<OsString> {
    Some(path.as_os_str().to_owned())
}

#[test]
fn nothing_anywhere() {
    let folder = Folder::new("nothing");
    let error = folder.search().find().unwrap_err().to_string();
    for part in ["VERILATOR ", "VERILATOR_ROOT", ".kit/venv", "PATH", "5.006", "./kit setup"] {
        assert!(error.contains(part), "{part:?} is not in: {error}");
    }
}

#[test]
fn too_old() {
    let folder = Folder::new("too old");
    let program = folder.program("bin/verilator", "Verilator 4.038 2020-07-11 rev v4.036");
    let search = Search { path: value(&folder.path("bin")), ..folder.search() };
    let error = search.find().unwrap_err();
    assert!(
        matches!(&error, FindError::TooOld { found: Version { major: 4, minor: 38 }, .. }),
        "{error:?}"
    );
    let text = error.to_string();
    for part in ["4.038", program.to_str().unwrap(), "on PATH", "5.006", "./kit setup"] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn the_variable_wins_over_all_other_places() {
    let folder = Folder::new("order");
    let named = folder.program("named/verilator", "Verilator 5.030 2024-10-27");
    folder.program("bin/verilator", "Verilator 5.006 2023-01-22");
    let kit = folder.headers(".kit/venv/lib/python3.11/site-packages/verilator", "5.49");
    let kit_banner = "rev vUNKNOWN";
    folder
        .program(".kit/venv/lib/python3.11/site-packages/verilator/bin/verilator_bin", kit_banner);

    let mut search =
        Search { verilator: value(&named), path: value(&folder.path("bin")), ..folder.search() };
    let found = search.find().unwrap();
    assert_eq!((found.program, found.version.minor), (named, 30));

    search.verilator = None;
    let found = search.find().unwrap();
    assert_eq!((found.root, found.version.minor), (kit, 49));

    fs::remove_dir_all(folder.path(".kit")).unwrap();
    let found = search.find().unwrap();
    assert_eq!((found.program, found.version.minor), (folder.path("bin/verilator"), 6));
}

#[test]
fn a_variable_that_names_nothing_is_an_error() {
    let folder = Folder::new("bad variable");
    folder.program("bin/verilator", "Verilator 5.006 2023-01-22");
    let absent = folder.path("absent");
    let search = Search { path: value(&folder.path("bin")), ..folder.search() };
    let by_program = Search { verilator: value(&absent), ..search.clone() };
    let by_root = Search { verilator_root: value(&absent), ..search };
    for (search, variable) in [(by_program, "VERILATOR"), (by_root, "VERILATOR_ROOT")] {
        let error = search.find().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{variable} is `")), "{error}");
        assert!(error.contains(absent.to_str().unwrap()), "{error}");
    }
}

#[test]
fn a_root_without_a_program_takes_the_one_on_path() {
    let folder = Folder::new("root");
    let root = folder.headers("share", "5.006");
    let program = folder.program("bin/verilator", "Verilator 5.006 2023-01-22");
    let search = Search {
        verilator_root: value(&root),
        path: value(&folder.path("bin")),
        ..folder.search()
    };
    let found = search.find().unwrap();
    assert_eq!((found.program, found.root), (program, root));
}

#[test]
fn a_program_that_fails_is_not_a_verilator() {
    let folder = Folder::new("broken");
    let program = folder.path("verilator");
    fs::write(&program, "#!/bin/sh\necho no licence >&2\nexit 3\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let error = Search { verilator: value(&program), ..folder.search() }.find().unwrap_err();
    assert!(matches!(&error, FindError::Broken { .. }), "{error:?}");
    assert!(error.to_string().contains("no licence"), "{error}");
}
