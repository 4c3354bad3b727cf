// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of the glue between a Verilated class and Rust, written from the ports.
//!
//! Three files come of it: `bridge.rs` (the `cxx` bridge with the plain structs
//! `Inputs` and `Outputs`), `core.h` (the C++ class that the bridge names) and
//! `core.cpp` (how values get from the structs to the ports and back). What does not
//! depend on the ports is written by hand in `lockstep/core.h` of the runtime crate.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::ports::{Direction, Port};

/// The level at which a reset resets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Active {
    /// 1.
    High,
    /// 0, as a name that ends in `n` tells.
    Low,
}

/// The reset of a block.
#[derive(Clone, Debug)]
pub struct Reset {
    /// The port.
    pub name: String,
    /// Its polarity.
    pub active: Active,
}

/// Pins of a crate of their own, or of another model: those structs are used instead of new
/// ones, so that one test bench can drive several models.
pub struct SharedPins {
    /// The last part of the C++ namespace of the structs.
    pub owner: String,
    /// Where they are in Rust.
    pub path: String,
    /// The C++ header with the structs.
    pub header: PathBuf,
    /// Inputs that only this model has; each gets a function of its own.
    pub own_inputs: Vec<String>,
}

/// What the glue is written from.
pub struct Glue {
    /// The name of the model, mostly that of its top module.
    pub name: String,
    /// All ports of the top module.
    pub ports: Vec<Port>,
    /// Where the structs come from, when not from `ports`.
    pub shared: Option<SharedPins>,
    /// The port of the clock.
    pub clock: String,
    /// The port of the reset.
    pub reset: Reset,
    /// Whether the model checks the assertions of the RTL.
    pub checked: bool,
}

impl Glue {
    /// The name of the class that Verilator makes.
    pub fn class(&self) -> String {
        format!("V{}", self.name)
    }

    /// The first thing that is wrong with the ports, if anything is.
    pub fn check(&self) -> Result<(), String> {
        for name in [&self.clock, &self.reset.name] {
            let port = self.ports.iter().find(|port| port.name == *name);
            if !port.is_some_and(|port| port.direction == Direction::Input && port.width == 1) {
                return Err(format!("module `{}` has no one-bit input `{name}`", self.name));
            }
        }
        for name in self.own_input_names() {
            if !self.ports.iter().any(|p| p.name == *name && p.direction == Direction::Input) {
                return Err(format!("module `{}` has no input `{name}`", self.name));
            }
        }
        Ok(())
    }

    /// The `cxx` bridge.
    pub fn bridge_rs(&self, core_h: &Path) -> String {
        let model = &self.name;
        let own_inputs: String = self
            .own_inputs()
            .map(|port| {
                let (name, ty) = (&port.name, port.rust_type());
                format!("        fn set_{name}(core: Pin<&mut Core>, value: {ty});\n")
            })
            .collect();
        format!(
            r#"#[cxx::bridge(namespace = "lockstep::{model}")]
mod ffi {{
{structs}
    unsafe extern "C++" {{
        include!("{core_h}");
        type Core;
        fn new_core(power_up_seed: u64) -> UniquePtr<Core>;
        fn set_reset(self: Pin<&mut Core>, asserted: bool);
        fn clock(self: Pin<&mut Core>, inputs: &Inputs, outputs: &mut Outputs) -> bool;
        fn clock_dumping(
            self: Pin<&mut Core>,
            inputs: &Inputs,
            outputs: &mut Outputs,
            start_ps: u64,
            half_period_ps: u64,
        ) -> bool;
        fn toggle_only(self: Pin<&mut Core>, cycles: u64) -> bool;
        fn failure(self: &Core) -> String;
        fn open_waves(self: Pin<&mut Core>, path: &str) -> Result<()>;
        fn close_waves(self: Pin<&mut Core>);
{own_inputs}    }}
}}

const BLOCK: &str = "{model}";
const CHECKED: bool = {checked};
"#,
            checked = self.checked,
            structs = self.structs_rs(),
            core_h = core_h.display(),
        )
    }

    fn structs_rs(&self) -> String {
        let Some(shared) = &self.shared else {
            let inputs = self.struct_rs("Inputs", "driven into", Direction::Input);
            return inputs + &self.struct_rs("Outputs", "read from", Direction::Output);
        };
        format!(
            r#"    unsafe extern "C++" {{
        include!("{header}");
        /// The values driven into the block, those of `{owner}`.
        #[namespace = "lockstep::{owner}"]
        type Inputs = {path}::Inputs;
        /// The values read from the block, those of `{owner}`.
        #[namespace = "lockstep::{owner}"]
        type Outputs = {path}::Outputs;
    }}
"#,
            header = shared.header.display(),
            owner = shared.owner,
            path = shared.path,
        )
    }

    fn struct_rs(&self, name: &str, verb: &str, direction: Direction) -> String {
        let mut text = format!(
            "    /// The values {verb} `{}` in one clock cycle, a field for each port.\n    \
             #[derive(Clone, Debug, Default, PartialEq, Eq)]\n    pub struct {name} {{\n",
            self.name
        );
        for port in self.pins(direction) {
            let ty = port.rust_type();
            writeln!(text, "        /// {port}\n        pub {}: {ty},", port.name).unwrap();
        }
        text + "    }\n"
    }

    /// The declaration of the C++ class behind the bridge.
    pub fn core_h(&self) -> String {
        let (model, class) = (&self.name, self.class());
        let owner = self.owner();
        let own_inputs: String =
            self.own_inputs().map(|port| format!("{};\n", setter_signature(port))).collect();
        format!(
            r#"#pragma once
#include "lockstep/core.h"

class {class};

namespace lockstep::{owner} {{
struct Inputs;
struct Outputs;
}}

namespace lockstep::{model} {{
struct Pins {{
    using Inputs = lockstep::{owner}::Inputs;
    using Outputs = lockstep::{owner}::Outputs;
    using Unit = {class};
    static void apply(const Inputs& inputs, Unit& unit);
    static void sample(const Unit& unit, Outputs& outputs);
    static void set_clock(Unit& unit, bool high);
    static void set_reset(Unit& unit, bool asserted);
}};

using Core = lockstep::Core<Pins>;
std::unique_ptr<Core> new_core(std::uint64_t power_up_seed);
{own_inputs}}}
"#
        )
    }

    /// The definition of what [`Glue::core_h`] declares.
    pub fn core_cpp(&self, bridge_h: &Path) -> String {
        let (model, class) = (&self.name, self.class());
        let lines = |direction, line: fn(&Port) -> String| -> String {
            self.pins(direction).map(|port| format!("    {}\n", line(port))).collect()
        };
        let own_inputs: String = self
            .own_inputs()
            .map(|port| {
                let put = put_line(port, "core.unit()", "value");
                format!("{} {{ {put} }}\n", setter_signature(port))
            })
            .collect();
        format!(
            r#"#define LOCKSTEP_CHECKED {checked}
#include "{bridge_h}"
#include "{class}.h"
#include "lockstep/core_impl.h"

namespace lockstep::{model} {{
using Inputs = Pins::Inputs;
using Outputs = Pins::Outputs;

void Pins::apply(const Inputs& inputs, Unit& unit) {{
{apply}}}

void Pins::sample(const Unit& unit, Outputs& outputs) {{
{sample}}}

void Pins::set_clock(Unit& unit, bool high) {{ unit.{clock} = high; }}
void Pins::set_reset(Unit& unit, bool asserted) {{ unit.{reset} = {asserted}; }}

std::unique_ptr<Core> new_core(std::uint64_t power_up_seed) {{
    return std::make_unique<Core>(power_up_seed);
}}
{own_inputs}
// Does not compile when a struct has a field that is not a port of this block.
[[maybe_unused]] static void every_field_is_a_port(const Inputs& inputs, const Outputs& outputs) {{
{fields}}}
}}

template class lockstep::Core<lockstep::{model}::Pins>;
"#,
            bridge_h = bridge_h.display(),
            checked = u8::from(self.checked),
            clock = self.clock,
            reset = self.reset.name,
            asserted = match self.reset.active {
                Active::High => "asserted",
                Active::Low => "!asserted",
            },
            apply = lines(Direction::Input, |p| put_line(p, "unit", &format!("inputs.{}", p.name))),
            sample = lines(Direction::Output, sample_line),
            fields = self.fields_line(Direction::Input, "inputs")
                + &self.fields_line(Direction::Output, "outputs"),
        )
    }

    /// Takes a struct apart into as many names as there are ports.
    fn fields_line(&self, direction: Direction, name: &str) -> String {
        let fields: Vec<&str> = self.pins(direction).map(|port| port.name.as_str()).collect();
        if fields.is_empty() {
            return format!("    (void){name};\n");
        }
        format!("    [[maybe_unused]] const auto& [{}] = {name};\n", fields.join(", "))
    }

    /// The ports that are fields of `Inputs` or of `Outputs`.
    fn pins(&self, direction: Direction) -> impl Iterator<Item = &Port> {
        self.ports
            .iter()
            .filter(move |port| port.direction == direction)
            .filter(|port| port.name != self.clock && port.name != self.reset.name)
            .filter(|port| !self.own_input_names().contains(&port.name))
    }

    fn own_inputs(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| self.own_input_names().contains(&port.name))
    }

    fn own_input_names(&self) -> &[String] {
        self.shared.as_ref().map_or(&[], |shared| &shared.own_inputs)
    }

    fn owner(&self) -> &str {
        self.shared.as_ref().map_or(&self.name, |shared| &shared.owner)
    }
}

fn setter_signature(port: &Port) -> String {
    format!("void set_{}(Core& core, {} value)", port.name, cpp_type(port))
}

fn cpp_type(port: &Port) -> String {
    match port.width {
        1 => "bool".to_owned(),
        2..=8 => "std::uint8_t".to_owned(),
        9..=16 => "std::uint16_t".to_owned(),
        17..=32 => "std::uint32_t".to_owned(),
        33..=64 => "std::uint64_t".to_owned(),
        wide => format!("const std::array<std::uint64_t, {}>&", wide.div_ceil(64)),
    }
}

/// Verilator wants the unused high bits of an input to be zero.
fn put_line(port: &Port, unit: &str, value: &str) -> String {
    let (name, width) = (&port.name, port.width);
    format!("lockstep::put<{width}>({unit}.{name}, {value});")
}

fn sample_line(port: &Port) -> String {
    let (name, width) = (&port.name, port.width);
    format!("lockstep::get<{width}>(unit.{name}, outputs.{name});")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: &str = "clk_i";
    const RESET: &str = "rst_ni";

    fn port(name: &str, direction: Direction, width: u32) -> Port {
        Port { name: name.to_owned(), direction, width }
    }

    fn glue(shared: Option<SharedPins>) -> Glue {
        let ports = vec![
            port(CLOCK, Direction::Input, 1),
            port("data_o", Direction::Output, 192),
            port("fault_i", Direction::Input, 8),
            port("id_i", Direction::Input, 11),
            port(RESET, Direction::Input, 1),
        ];
        let reset = Reset { name: RESET.to_owned(), active: Active::Low };
        let (name, clock) = ("block".to_owned(), CLOCK.to_owned());
        Glue { name, ports, shared, clock, reset, checked: true }
    }

    #[test]
    fn structs_hold_all_ports_but_clock_and_reset() {
        let text = glue(None).bridge_rs(Path::new("/core.h"));
        for field in ["pub data_o: [u64; 3]", "pub fault_i: u8", "pub id_i: u16"] {
            assert!(text.contains(field), "{field} is not in {text}");
        }
        assert!(!text.contains(CLOCK) && !text.contains(RESET), "{text}");
    }

    #[test]
    fn own_inputs_of_shared_pins_get_a_function() {
        let own_inputs = vec!["fault_i".to_owned()];
        let header = PathBuf::from("/other.h");
        let shared =
            SharedPins { owner: "other".to_owned(), path: "other".to_owned(), header, own_inputs };
        let glue = glue(Some(shared));
        assert_eq!(glue.check(), Ok(()));
        let text = glue.bridge_rs(Path::new("/core.h"));
        assert!(text.contains("type Inputs = other::Inputs;"), "{text}");
        assert!(text.contains("fn set_fault_i(core: Pin<&mut Core>, value: u8);"), "{text}");
        let text = glue.core_cpp(Path::new("/bridge.h"));
        assert!(!text.contains("inputs.fault_i"), "{text}");
    }

    #[test]
    fn clock_and_reset_may_have_other_names_and_the_other_polarity() {
        let mut glue = glue(None);
        let mut check = |reset: &str, active, line: &str| {
            glue.reset = Reset { name: reset.to_owned(), active };
            let text = glue.core_cpp(Path::new("/bridge.h"));
            assert!(text.contains(line), "no `{line}` in {text}");
        };
        check(RESET, Active::Low, "{ unit.rst_ni = !asserted; }");
        check("rst", Active::High, "{ unit.rst = asserted; }");
        let missing = Err("module `block` has no one-bit input `rst`".to_owned());
        assert_eq!(glue.check(), missing);
        glue.clock = "clk".to_owned();
        let text = glue.core_cpp(Path::new("/bridge.h"));
        assert!(text.contains("{ unit.clk = high; }"), "{text}");
    }

    #[test]
    fn missing_ports_are_named() {
        let mut without_reset = glue(None);
        without_reset.ports.pop();
        assert_eq!(
            without_reset.check(),
            Err("module `block` has no one-bit input `rst_ni`".to_owned())
        );
        let own_inputs = vec!["data_o".to_owned()];
        let shared = SharedPins {
            owner: "other".to_owned(),
            path: "crate".to_owned(),
            header: PathBuf::new(),
            own_inputs,
        };
        assert_eq!(
            glue(Some(shared)).check(),
            Err("module `block` has no input `data_o`".to_owned())
        );
    }
}
