// SPDX-License-Identifier: MIT OR Apache-2.0
//! The packaging of the hardware for other tools names only existing files, ports and registers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use driver::map::{Place, device, lock_unit, visibility_pe};
use roxmltree::{Document, Node};

fn hardware() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hw")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files at or below `folder` whose names end so.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let below =
        paths.flat_map(|path| if path.is_dir() { files(&path, ending) } else { vec![path] });
    below.filter(|path| path.to_string_lossy().ends_with(ending)).collect()
}

/// All files that the tops are made of.
fn sources() -> BTreeSet<PathBuf> {
    let mut all: BTreeSet<PathBuf> = files(&hardware().join("rtl"), ".sv").into_iter().collect();
    all.insert(hardware().join("bsv/generated/tuple_lock_unit.v"));
    all
}

/// A path as written in a file of `folder`, which may begin with `..`; it has to exist.
fn resolve(folder: &Path, name: &str, from: &Path) -> PathBuf {
    let (mut path, mut rest) = (folder.to_path_buf(), name);
    while let Some(after) = rest.strip_prefix("../") {
        assert!(path.pop(), "{} names {name}", from.display());
        rest = after;
    }
    let path = path.join(rest);
    assert!(path.is_file(), "{} names {name}", from.display());
    path
}

/// A `.core` file, and the `.f` beside it.
struct Core {
    path: PathBuf,
    /// Its own files, in order.
    files: Vec<PathBuf>,
    /// Names of the cores that it needs.
    needs: Vec<String>,
    /// What the list beside it has, in order: its own files and what they need.
    list: Vec<PathBuf>,
}

impl Core {
    fn read(path: &Path) -> Self {
        let (text, folder) = (read(path), path.parent().expect("a folder"));
        assert_eq!(text.lines().next(), Some("CAPI=2:"), "{}", path.display());
        let entries = text.lines().filter_map(|line| line.trim_start().strip_prefix("- "));
        let named = entries.clone().filter_map(|entry| Some(entry.split_once(": {file_type")?.0));
        let needed = entries.filter_map(|entry| entry.strip_prefix("lockstep:hw:"));
        let needs = needed.map(|rest| rest.split(':').next().expect("a name").to_owned());
        let list = path.with_extension("f");
        let listed = if list.is_file() { read(&list) } else { String::new() };
        let listed = listed.lines().filter(|line| !line.starts_with("//"));
        Self {
            path: path.into(),
            files: named.map(|name| resolve(folder, name, path)).collect(),
            needs: needs.collect(),
            list: listed.map(|name| resolve(folder, name, &list)).collect(),
        }
    }
}

/// All cores by name.
fn cores() -> BTreeMap<String, Core> {
    let named = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_str().expect("in UTF-8").to_owned();
        (name, Core::read(&path))
    };
    files(&hardware(), ".core").into_iter().map(named).collect()
}

/// All files of a core and of those that it needs, each after those of the cores it needs.
fn flattened(cores: &BTreeMap<String, Core>, name: &str, path: &mut Vec<String>) -> Vec<PathBuf> {
    assert!(!path.iter().any(|above| above == name), "{path:?} goes round to {name}");
    let core = cores.get(name).unwrap_or_else(|| panic!("{path:?} needs {name}, which is no core"));
    path.push(name.to_owned());
    let mut all: Vec<PathBuf> = Vec::new();
    for file in core.needs.iter().flat_map(|needed| flattened(cores, needed, path)) {
        if !all.contains(&file) {
            all.push(file);
        }
    }
    path.pop();
    all.extend(core.files.iter().cloned());
    all
}

#[test]
fn each_file_is_in_one_core_and_each_core_finds_what_it_needs() {
    let (cores, mut named) = (cores(), BTreeSet::new());
    for core in cores.values() {
        for file in &core.files {
            let path = core.path.display();
            assert!(named.insert(file.clone()), "{} is in {path} and elsewhere", file.display());
        }
    }
    assert!(named.remove(&hardware().join("lint.vlt")), "no core has the waivers");
    assert_eq!(named, sources(), "run hw/regs/generate");
    cores.keys().for_each(|name| _ = flattened(&cores, name, &mut Vec::new()));
}

/// What a list has comes from the core beside it and from those that this one needs, and nothing of
/// the core is missing. Of other cores, it may leave out what no file of it uses.
#[test]
fn the_list_beside_a_core_has_its_files_and_what_they_need() {
    let cores = cores();
    for (name, core) in cores.iter().filter(|(name, _)| *name != "waivers") {
        let (mut all, mut known) = (flattened(&cores, name, &mut Vec::new()), BTreeSet::new());
        for file in &core.list {
            assert!(known.insert(file), "{} is twice in the list of {name}", file.display());
            assert!(all.contains(file), "{} is in the list of {name} alone", file.display());
        }
        all.retain(|file| core.files.contains(file));
        assert!(all.iter().all(|file| known.contains(file)), "the list of {name} lacks a file");
    }
    let tops = ["lockstep_device", "visibility_pe", "nic"].map(|top| &cores[top].list);
    let all: BTreeSet<PathBuf> = tops.into_iter().flatten().cloned().collect();
    assert_eq!(all, sources(), "what the tops are made of");
}

/// Name, direction and width of the ports of a Verilog file, which has one port a line.
fn ports_of_verilog(path: &Path) -> BTreeSet<(String, String, u32)> {
    let text = read(path);
    let code = text.lines().map(|line| line.split("//").next().expect("a first part").trim());
    code.filter_map(|line| {
        let (direction, rest) = line.split_once(' ')?;
        let direction = match direction {
            "input" => "in",
            "output" => "out",
            _ => return None,
        };
        let rest = rest.trim_start().trim_end_matches([',', ';']);
        let rest = rest.strip_prefix("logic ").unwrap_or(rest).trim_start();
        let (width, name) = match rest.strip_prefix('[') {
            Some(range) => {
                let (bounds, name) = range.split_once(']')?;
                let high: u32 = bounds.split(':').next()?.trim().parse().ok()?;
                (high + 1, name.trim())
            }
            None => (1, rest),
        };
        Some((name.to_owned(), direction.to_owned(), width))
    })
    .collect()
}

fn all<'a>(node: Node<'a, 'a>, tag: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
    node.descendants().filter(move |child| child.has_tag_name(tag_name(tag)))
}

fn tag_name(tag: &str) -> (&'static str, &str) {
    ("http://www.spiritconsortium.org/XMLSchema/SPIRIT/1685-2009", tag)
}

fn text<'a>(node: Node<'a, 'a>, tag: &str) -> &'a str {
    let child = node.children().find(|child| child.has_tag_name(tag_name(tag)));
    child.and_then(|child| child.text()).unwrap_or_else(|| panic!("no {tag} in {node:?}"))
}

fn number(text: &str) -> u32 {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Reads a component again, and compares it with its Verilog and with the map.
fn check_component(name: &str, verilog: &str, places: &[Place], outside: &[&str]) {
    let folder = hardware().join("ip").join(name);
    let xml = read(&folder.join("component.xml"));
    let document = Document::parse(&xml).unwrap_or_else(|error| panic!("{name}: {error}"));
    let component = document.root_element();
    assert_eq!(text(component, "name"), name);

    let files: Vec<&str> = all(component, "file").map(|file| text(file, "name")).collect();
    for file in &files {
        assert!(folder.join(file).is_file(), "{name} names {file}");
    }
    assert!(files.iter().any(|file| file.ends_with(verilog)), "{name} lacks {verilog}");

    let ports: BTreeSet<(String, String, u32)> = all(component, "port")
        .map(|port| {
            let wire = all(port, "wire").next().expect("a port is a wire");
            let width = all(wire, "left")
                .next()
                .map_or(1, |left| number(left.text().expect("a bound")) + 1);
            (text(port, "name").to_owned(), text(wire, "direction").to_owned(), width)
        })
        .collect();
    assert_eq!(
        ports,
        ports_of_verilog(&hardware().join(verilog)),
        "ports of {name}: run hw/regs/generate"
    );

    let mut mapped = BTreeSet::new();
    for physical in all(component, "physicalPort") {
        let port = text(physical, "name");
        assert!(mapped.insert(port.to_owned()), "{port} is in two interfaces of {name}");
    }
    mapped.extend(outside.iter().map(|&port| port.to_owned()));
    let all_ports: BTreeSet<String> = ports.into_iter().map(|(port, _, _)| port).collect();
    assert_eq!(mapped, all_ports, "ports in the interfaces of {name}");
    check_registers(component, places);
}

/// The memory map says of each word what `driver::map` says.
fn check_registers(component: Node, places: &[Place]) {
    let blocks: Vec<Node> = all(component, "addressBlock").collect();
    assert_eq!(blocks.len(), places.len());
    for (block, place) in blocks.iter().zip(places) {
        assert_eq!(text(*block, "name"), place.name);
        assert_eq!(number(text(*block, "baseAddress")), place.base, "{}", place.name);
        let mut words = Vec::new();
        for register in all(*block, "register") {
            let count =
                all(register, "dim").next().map_or(1, |dim| number(dim.text().expect("a length")));
            let bytes = number(text(register, "size")) / 8 * count;
            let offset = number(text(register, "addressOffset"));
            words.extend((offset..offset + bytes).step_by(4));
        }
        let expected: Vec<u32> = place.words.iter().map(|word| word.offset).collect();
        assert_eq!(words, expected, "words of {}", place.name);
    }
}

#[test]
fn the_package_of_the_device_is_what_its_verilog_and_its_map_are() {
    let beside = ["idle_o", "m_axi_queue_awatop", "m_axi_lock_awatop"];
    check_component("lockstep_device", "rtl/shell/lockstep_device.sv", &device::PLACES, &beside);
}

#[test]
fn the_package_of_the_lock_unit_is_what_its_verilog_and_its_map_are() {
    let place = Place { name: "lock_unit", base: 0, words: &lock_unit::WORDS };
    let verilog = "bsv/generated/tuple_lock_unit.v";
    check_component("tuple_lock_unit", verilog, &[place], &["m_axi_awatop"]);
}

#[test]
fn the_package_of_the_element_is_what_its_verilog_and_its_map_are() {
    let place = Place { name: "visibility_pe", base: 0, words: &visibility_pe::WORDS };
    check_component("visibility_pe", "rtl/visibility/visibility_pe.sv", &[place], &["idle_o"]);
}
