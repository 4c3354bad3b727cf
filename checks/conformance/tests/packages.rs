//! What packages the hardware for other tools names files, ports and registers that exist.

use std::collections::BTreeSet;
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

/// Names of the files of a folder of `hw` that end so.
fn names(folder: &str, ending: &str) -> BTreeSet<String> {
    let path = hardware().join(folder);
    let entries = fs::read_dir(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let names = entries.map(|entry| entry.expect("a readable folder").file_name());
    let names = names.map(|name| name.into_string().expect("a name in UTF-8"));
    names.filter(|name| name.ends_with(ending)).collect()
}

/// All files that are written here, as the lists in `hw/rtl` name them.
fn sources() -> BTreeSet<String> {
    let generated =
        names("rtl/generated", ".sv").into_iter().map(|name| format!("generated/{name}"));
    names("rtl", ".sv").into_iter().chain(generated).collect()
}

#[test]
fn the_lists_of_files_have_each_file_once() {
    let [mut all, element] = ["lockstep_device.f", "visibility_pe.f"].map(listed);
    all.extend(element);
    let mut expected = sources();
    expected.insert("../bsv/generated/tuple_lock_unit.v".into());
    assert_eq!(all, expected, "run hw/regs/generate");
}

/// The files of a list, each of which exists and is there once.
fn listed(list: &str) -> BTreeSet<String> {
    let text = read(&hardware().join("rtl").join(list));
    let listed: Vec<&str> = text.lines().filter(|line| !line.starts_with("//")).collect();
    for name in &listed {
        assert!(hardware().join("rtl").join(name).is_file(), "{name} does not exist");
    }
    let once: BTreeSet<String> = listed.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(once.len(), listed.len(), "a file is listed twice in {list}");
    once
}

/// What stands behind `key` in the lines of a core file.
fn entries<'a>(core: &'a str, key: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = core.lines().map(|line| line.trim_start().trim_start_matches("- "));
    lines.filter_map(move |line| line.split_once(key).map(|(before, _)| before))
}

#[test]
fn each_file_is_in_one_core_and_each_core_finds_what_it_needs() {
    let mut named = BTreeSet::new();
    for core in names("", ".core") {
        let text = read(&hardware().join(&core));
        assert_eq!(text.lines().next(), Some("CAPI=2:"), "{core}");
        for file in entries(&text, ": {file_type") {
            assert!(hardware().join(file).is_file(), "{core} names {file}");
            let fresh = file == "lint.vlt" || named.insert(file.to_owned());
            assert!(fresh, "{file} is in {core} and in another core");
        }
        let lines = text.lines().map(str::trim);
        for needed in lines.filter_map(|line| line.strip_prefix("- lockstep:hw:")) {
            let name = needed.split(':').next().expect("a name");
            assert!(hardware().join(format!("{name}.core")).is_file(), "{core} needs {needed}");
        }
    }
    let expected: BTreeSet<String> = sources().iter().map(|name| format!("rtl/{name}")).collect();
    named.remove("bsv/generated/tuple_lock_unit.v");
    assert_eq!(named, expected, "run hw/regs/generate");
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
    check_component("lockstep_device", "rtl/lockstep_device.sv", &device::PLACES, &beside);
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
    check_component("visibility_pe", "rtl/visibility_pe.sv", &[place], &["idle_o"]);
}
