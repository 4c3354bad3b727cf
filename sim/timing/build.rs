// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists the platform files of `sim/platforms`, so that a new one is known by being there.

use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../platforms");
    println!("cargo::rerun-if-changed={}", folder.display());
    let files =
        fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = files.map(|file| file.expect("a file of the folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    // The order of a folder is the file system's.
    paths.sort();
    let mut list = format!("[(&str, &str); {}] = [\n", paths.len());
    for path in &paths {
        let name = path.file_stem().and_then(|name| name.to_str());
        let name = name.unwrap_or_else(|| panic!("{}: expected a name in UTF-8", path.display()));
        let path = path.to_str().expect("its name is UTF-8");
        list += &format!("    ({name:?}, include_str!({path:?})),\n");
    }
    let text = format!(
        "/// The platforms that come with the program: their names and files.\nconst FILES: {list}];\n"
    );
    let to = Path::new(&env::var("OUT_DIR").expect("Cargo names it")).join("platforms.rs");
    fs::write(&to, text).unwrap_or_else(|error| panic!("{}: {error}", to.display()));
}
