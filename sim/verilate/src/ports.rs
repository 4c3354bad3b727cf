// SPDX-License-Identifier: MIT OR Apache-2.0
//! The ports of a block, read from the class that Verilator made of it.

use std::fmt;

/// Which way a port goes, seen from the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Driven by the test bench.
    Input,
    /// Driven by the block.
    Output,
}

/// One port of the top module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name in the RTL.
    pub name: String,
    /// Its direction.
    pub direction: Direction,
    /// Its width in bits, at least 1.
    pub width: u32,
}

/// A port declaration that a model cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// An `inout`.
    #[error("port `{0}` is an inout; expected input or output")]
    InOut(String),
    /// A declaration that does not read as one.
    #[error("cannot read the port declaration `{0}` in the class made by Verilator")]
    Unreadable(String),
}

/// Reads every port from the text of the class header, sorted by name.
///
/// Verilator declares them as `VL_IN8(&name,msb,lsb);`, with `8`, `16`, `64`, `W` or
/// nothing after `VL_IN` and `VL_OUT` for the kind of storage.
///
/// # Errors
/// [`PortError`] names the port.
pub fn read(header: &str) -> Result<Vec<Port>, PortError> {
    let declarations = header.lines().map(str::trim).filter(|line| {
        line.starts_with("VL_IN") && line.contains("(&") || line.starts_with("VL_OUT")
    });
    let mut ports = declarations.map(read_declaration).collect::<Result<Vec<_>, _>>()?;
    ports.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(ports)
}

fn read_declaration(line: &str) -> Result<Port, PortError> {
    let unreadable = || PortError::Unreadable(line.to_owned());
    let (macro_name, rest) = line.split_once('(').ok_or_else(unreadable)?;
    let mut arguments = rest.trim_end_matches(");").split(',');
    let name = arguments.next().ok_or_else(unreadable)?.trim_start_matches('&').to_owned();
    if macro_name.starts_with("VL_INOUT") {
        return Err(PortError::InOut(name));
    }
    let mut bound = || arguments.next()?.trim().parse::<u32>().ok();
    let (msb, lsb) = bound().zip(bound()).ok_or_else(unreadable)?;
    let width = msb.checked_sub(lsb).ok_or_else(unreadable)? + 1;
    let input = macro_name.starts_with("VL_IN");
    let direction = if input { Direction::Input } else { Direction::Output };
    Ok(Port { name, direction, width })
}

impl Port {
    /// The Rust type that carries the port's value.
    pub fn rust_type(&self) -> String {
        match self.width {
            1 => "bool".to_owned(),
            2..=8 => "u8".to_owned(),
            9..=16 => "u16".to_owned(),
            17..=32 => "u32".to_owned(),
            33..=64 => "u64".to_owned(),
            wide => format!("[u64; {}]", wide.div_ceil(64)),
        }
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let direction = match self.direction {
            Direction::Input => "Input",
            Direction::Output => "Output",
        };
        match self.width {
            1 => write!(f, "{direction}, 1 bit."),
            width @ 2..=64 => write!(f, "{direction}, {width} bits."),
            width => write!(f, "{direction}, {width} bits; word 0 carries bits 63 to 0."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "
    // The application code writes and reads these signals
    VL_IN8(&clk_i,0,0);
    VL_OUT8(&m_axi_awsize,2,0);
    VL_IN16(&m_axi_bid,10,0);
    VL_OUT(&s_axil_rdata,31,0);
    VL_INW(&s_axis_req_tdata,191,0,6);
    VL_OUT64(&m_axi_awaddr,63,0);
    ";

    #[test]
    fn every_kind_of_storage() {
        let read = read(HEADER).unwrap();
        let seen: Vec<_> =
            read.iter().map(|p| (p.name.as_str(), p.direction, p.width, p.rust_type())).collect();
        use Direction::{Input, Output};
        assert_eq!(
            seen,
            [
                ("clk_i", Input, 1, "bool".to_owned()),
                ("m_axi_awaddr", Output, 64, "u64".to_owned()),
                ("m_axi_awsize", Output, 3, "u8".to_owned()),
                ("m_axi_bid", Input, 11, "u16".to_owned()),
                ("s_axil_rdata", Output, 32, "u32".to_owned()),
                ("s_axis_req_tdata", Input, 192, "[u64; 3]".to_owned()),
            ]
        );
    }

    #[test]
    fn inout_is_refused() {
        assert_eq!(read("VL_INOUT8(&pad,0,0);"), Err(PortError::InOut("pad".to_owned())));
    }

    #[test]
    fn nonsense_is_refused() {
        let line = "VL_IN8(&clk_i,zero,0);";
        assert_eq!(read(line), Err(PortError::Unreadable(line.to_owned())));
    }
}
