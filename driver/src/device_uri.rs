// SPDX-License-Identifier: MIT OR Apache-2.0
//! The URI that names a device and its backend.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The smallest card memory that can be asked for, in bytes.
pub const CARD_BYTES_MIN: u64 = 4 << 10;
/// The largest card memory that can be asked for, in bytes.
pub const CARD_BYTES_MAX: u64 = 1 << 40;

/// A device's URI: `sim:`, `vfio-user:/path/to/socket` or `pci:0000:3b:00.0?mode=vfio`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DeviceUri {
    /// A simulated device in this process: `sim:`, `sim:?card=64M`,
    /// `sim:?storage=/var/lib/store&elements=rtl`.
    Simulated {
        /// Bytes of its card memory, a power of two, unless the simulator's usual size will do.
        card_bytes: Option<u64>,
        /// Its native storage: the pages of a store, or the folder of the store. Without one, jobs
        /// find no storage.
        storage: Option<PathBuf>,
        /// Who walks through the data for its jobs.
        elements: Elements,
    },
    /// A device that another process serves at a unix socket.
    VfioUser(PathBuf),
    /// A PCI function of this machine.
    Pci {
        /// Where it is.
        address: PciAddress,
        /// How the kernel lets us at it.
        mode: PciMode,
    },
}

/// Processing elements of a simulated device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Elements {
    /// The store's own reader.
    #[default]
    Software,
    /// The RTL of the element, Verilated.
    Rtl,
}

impl fmt::Display for Elements {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Elements::Software => "software",
            Elements::Rtl => "rtl",
        })
    }
}

impl FromStr for Elements {
    type Err = DeviceUriError;

    fn from_str(text: &str) -> Result<Self, DeviceUriError> {
        parse_elements(text).map_err(|fault| fault.within(text))
    }
}

/// How a PCI function is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PciMode {
    /// Through sysfs, with physical addresses: needs root and no IOMMU.
    Sysfs,
    /// Through the kernel's VFIO and the IOMMU.
    #[default]
    Vfio,
}

impl fmt::Display for PciMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            PciMode::Sysfs => "sysfs",
            PciMode::Vfio => "vfio",
        })
    }
}

/// Where a PCI function is: `0000:3b:00.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PciAddress {
    /// The domain; some host bridges use more than 16 bits.
    pub domain: u32,
    /// The bus.
    pub bus: u8,
    /// The device, 0 to 31.
    pub device: u8,
    /// The function, 0 to 7.
    pub function: u8,
}

impl fmt::Display for PciAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PciAddress { domain, bus, device, function } = self;
        write!(formatter, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
    }
}

/// A text that is no URI of a device; it names the part and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("device URI {uri:?}: {part} is {found:?}, expected {expected}")]
pub struct DeviceUriError {
    /// The whole text.
    pub uri: String,
    /// The part that is wrong.
    pub part: &'static str,
    /// What it is.
    pub found: String,
    /// What it should be.
    pub expected: &'static str,
}

/// A part of a text that is wrong; the whole text is put to it by [`PartError::within`].
struct PartError {
    part: &'static str,
    found: String,
    expected: &'static str,
}

impl PartError {
    fn new(part: &'static str, found: &str, expected: &'static str) -> Self {
        PartError { part, found: found.into(), expected }
    }

    fn within(self, text: &str) -> DeviceUriError {
        let PartError { part, found, expected } = self;
        DeviceUriError { uri: text.into(), part, found, expected }
    }
}

impl FromStr for DeviceUri {
    type Err = DeviceUriError;

    fn from_str(text: &str) -> Result<Self, DeviceUriError> {
        parse(text).map_err(|fault| fault.within(text))
    }
}

impl FromStr for PciAddress {
    type Err = DeviceUriError;

    fn from_str(text: &str) -> Result<Self, DeviceUriError> {
        parse_pci(text).map_err(|fault| fault.within(text))
    }
}

impl fmt::Display for DeviceUri {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceUri::Simulated { card_bytes, storage, elements } => {
                let card = card_bytes.map(|bytes| format!("card={}", Size(bytes)));
                let storage = storage.as_ref().map(|path| format!("storage={}", path.display()));
                let usual = *elements == Elements::default();
                let elements = (!usual).then(|| format!("elements={elements}"));
                let options: Vec<_> = [card, storage, elements].into_iter().flatten().collect();
                let mark = if options.is_empty() { "" } else { "?" };
                write!(formatter, "sim:{mark}{}", options.join("&"))
            }
            DeviceUri::VfioUser(path) => write!(formatter, "vfio-user:{}", path.display()),
            DeviceUri::Pci { address, mode } => write!(formatter, "pci:{address}?mode={mode}"),
        }
    }
}

fn parse(text: &str) -> Result<DeviceUri, PartError> {
    const SCHEMES: &str = "sim:, vfio-user:/path/to/socket or pci:0000:3b:00.0?mode=vfio";
    let Some((scheme, rest)) = text.split_once(':') else {
        return Err(PartError::new("scheme", text, SCHEMES));
    };
    match scheme {
        "sim" => parse_simulated(rest),
        "vfio-user" => parse_socket(rest),
        "pci" => parse_function(rest),
        _ => Err(PartError::new("scheme", scheme, SCHEMES)),
    }
}

fn parse_simulated(rest: &str) -> Result<DeviceUri, PartError> {
    const OPTIONS: &str = "card, storage or elements, each once, as in sim:?card=64M";
    let (path, options) = match rest.split_once('?') {
        Some((path, options)) => (path, Some(options)),
        None => (rest, None),
    };
    if !path.is_empty() {
        return Err(PartError::new("path", path, "none: sim: or sim:?card=64M"));
    }
    let (mut card_bytes, mut storage, mut elements) = (None, None, None);
    for option in options.into_iter().flat_map(|options| options.split('&')) {
        match split_name(option)? {
            ("card", size) if card_bytes.is_none() => card_bytes = Some(parse_card_bytes(size)?),
            ("storage", path) if storage.is_none() => storage = Some(parse_storage(path)?),
            ("elements", which) if elements.is_none() => elements = Some(parse_elements(which)?),
            (name, _) => return Err(PartError::new("option", name, OPTIONS)),
        }
    }
    let elements = elements.unwrap_or_default();
    Ok(DeviceUri::Simulated { card_bytes, storage, elements })
}

/// A path as it is, but for what parts options from each other.
fn parse_storage(path: &str) -> Result<PathBuf, PartError> {
    if path.is_empty() || path.contains('\0') {
        return Err(PartError::new(
            "storage",
            path,
            "the path of a store, or of its file of pages",
        ));
    }
    Ok(PathBuf::from(path))
}

fn parse_elements(text: &str) -> Result<Elements, PartError> {
    match text {
        "software" => Ok(Elements::Software),
        "rtl" => Ok(Elements::Rtl),
        _ => Err(PartError::new("elements", text, "software or rtl")),
    }
}

fn parse_card_bytes(text: &str) -> Result<u64, PartError> {
    let fault = || PartError::new("card", text, "a power of two of bytes from 4K to 1024G, as 64M");
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let count = parse_digits(digits, 10).ok_or_else(fault)?;
    let bytes = count.checked_mul(1 << shift).ok_or_else(fault)?;
    if !bytes.is_power_of_two() || !(CARD_BYTES_MIN..=CARD_BYTES_MAX).contains(&bytes) {
        return Err(fault());
    }
    Ok(bytes)
}

/// A socket's path is taken as it is: question marks and spaces are part of names.
fn parse_socket(path: &str) -> Result<DeviceUri, PartError> {
    const PATH: &str = "an absolute path, as vfio-user:/run/lockstep.socket";
    // What a unix socket's address holds, without the zero byte at its end.
    const BYTES_MAX: usize = 107;
    if !path.starts_with('/') || path.starts_with("//") {
        return Err(PartError::new("path", path, PATH));
    }
    if path.len() > BYTES_MAX {
        return Err(PartError::new(
            "path",
            path,
            "at most 107 bytes, as unix sockets take no more",
        ));
    }
    if path.contains('\0') {
        return Err(PartError::new("path", path, "no zero byte"));
    }
    Ok(DeviceUri::VfioUser(PathBuf::from(path)))
}

fn parse_function(rest: &str) -> Result<DeviceUri, PartError> {
    let (path, option) = split_option(rest)?;
    let address = parse_pci(path)?;
    let mode = match option {
        None => PciMode::default(),
        Some(("mode", "sysfs")) => PciMode::Sysfs,
        Some(("mode", "vfio")) => PciMode::Vfio,
        Some(("mode", other)) => return Err(PartError::new("mode", other, "sysfs or vfio")),
        Some((name, _)) => {
            return Err(PartError::new("option", name, "mode, as in pci:0000:3b:00.0?mode=vfio"));
        }
    };
    Ok(DeviceUri::Pci { address, mode })
}

fn parse_pci(text: &str) -> Result<PciAddress, PartError> {
    let malformed = || {
        PartError::new(
            "PCI address",
            text,
            "domain:bus:device.function in hexadecimal, as 0000:3b:00.0",
        )
    };
    let (rest, function) = text.rsplit_once('.').ok_or_else(malformed)?;
    let (rest, device) = rest.rsplit_once(':').ok_or_else(malformed)?;
    let (domain, bus) = rest.split_once(':').ok_or_else(malformed)?;
    let field = |part, text: &str, digits, max, expected| {
        parse_digits(text, 16)
            .filter(|value| *value <= max && text.len() <= digits)
            .ok_or_else(|| PartError::new(part, text, expected))
    };
    Ok(PciAddress {
        domain: field("PCI domain", domain, 8, 0xFFFF_FFFF, "0 to ffffffff in hexadecimal")? as u32,
        bus: field("PCI bus", bus, 2, 0xFF, "00 to ff in hexadecimal")? as u8,
        device: field("PCI device", device, 2, 0x1F, "00 to 1f in hexadecimal")? as u8,
        function: field("PCI function", function, 1, 7, "0 to 7")? as u8,
    })
}

/// Splits `path?name=value`.
#[expect(clippy::type_complexity, reason = "a path and perhaps an option, used right below")]
fn split_option(text: &str) -> Result<(&str, Option<(&str, &str)>), PartError> {
    let Some((path, option)) = text.split_once('?') else { return Ok((text, None)) };
    split_name(option).map(|option| (path, Some(option)))
}

/// Splits `name=value`.
fn split_name(option: &str) -> Result<(&str, &str), PartError> {
    match option.split_once('=') {
        Some((name, value)) if !value.contains(['&', '=', '?']) => Ok((name, value)),
        _ => Err(PartError::new("option", option, "one name=value")),
    }
}

/// Digits only: `from_str_radix` also takes a sign.
fn parse_digits(text: &str, radix: u32) -> Option<u64> {
    let digits = !text.is_empty() && text.chars().all(|character| character.is_digit(radix));
    digits.then(|| u64::from_str_radix(text, radix).ok()).flatten()
}

/// A number of bytes, in the largest unit that divides it.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (shift, unit) in [(30, "G"), (20, "M"), (10, "K")] {
            if self.0 != 0 && self.0.trailing_zeros() >= shift {
                return write!(formatter, "{}{unit}", self.0 >> shift);
            }
        }
        write!(formatter, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        text.parse::<DeviceUri>().unwrap_err().to_string()
    }

    #[test]
    fn reads_back_what_it_writes() {
        for text in [
            "sim:",
            "sim:?card=64M",
            "sim:?card=4K",
            "sim:?card=2G",
            "sim:?storage=/var/lib/a store",
            "sim:?card=4M&storage=pages&elements=rtl",
            "vfio-user:/run/lockstep.socket",
            "vfio-user:/tmp/with space?and=more",
            "pci:0000:3b:00.0?mode=sysfs",
            "pci:10000:ff:1f.7?mode=vfio",
        ] {
            assert_eq!(text.parse::<DeviceUri>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn vfio_is_the_usual_mode() {
        let uri = "pci:0000:3b:00.0".parse::<DeviceUri>().unwrap();
        assert!(matches!(uri, DeviceUri::Pci { mode: PciMode::Vfio, .. }));
    }

    #[test]
    fn a_wrong_one_names_the_part_and_what_was_expected() {
        for (text, part, expected) in [
            ("", "scheme is \"\"", "sim:, vfio-user:/path"),
            ("/run/socket", "scheme is \"/run/socket\"", "sim:, vfio-user:/path"),
            ("usb:1", "scheme is \"usb\"", "sim:, vfio-user:/path"),
            ("sim:x", "path is \"x\"", "none"),
            ("sim:?size=1", "option is \"size\"", "card"),
            ("sim:?card", "option is \"card\"", "one name=value"),
            ("sim:?card=1M&card=2M", "option is \"card\"", "each once"),
            ("sim:?card=1M&", "option is \"\"", "one name=value"),
            ("sim:?storage=", "storage is \"\"", "path of a store"),
            ("sim:?storage=a=b", "option is \"storage=a=b\"", "one name=value"),
            ("sim:?elements=verilog", "elements is \"verilog\"", "software or rtl"),
            ("sim:?card=3M", "card is \"3M\"", "power of two"),
            ("sim:?card=2K", "card is \"2K\"", "from 4K"),
            ("sim:?card=+4M", "card is \"+4M\"", "power of two"),
            ("sim:?card=99999999999999999999G", "card is", "power of two"),
            ("sim:?card=é", "card is \"é\"", "power of two"),
            ("vfio-user:socket", "path is \"socket\"", "absolute path"),
            ("vfio-user:", "path is \"\"", "absolute path"),
            ("vfio-user://host/x", "path is \"//host/x\"", "absolute path"),
            ("pci:3b:00.0", "PCI address is \"3b:00.0\"", "domain:bus:device.function"),
            ("pci:0000:3b:00", "PCI address is", "domain:bus:device.function"),
            ("pci:0000:3g:00.0", "PCI bus is \"3g\"", "00 to ff"),
            ("pci:0000:3b:20.0", "PCI device is \"20\"", "00 to 1f"),
            ("pci:0000:3b:00.8", "PCI function is \"8\"", "0 to 7"),
            ("pci:0000:3b:00.0?mode=uio", "mode is \"uio\"", "sysfs or vfio"),
            ("pci:0000:3b:00.0?backend=uio", "option is \"backend\"", "mode"),
        ] {
            let message = refusal(text);
            assert!(message.contains(part) && message.contains(expected), "{text}: {message}");
        }
        assert!(refusal(&format!("vfio-user:/{}", "x".repeat(107))).contains("at most 107 bytes"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}", rest in "[0-9a-f:.?=&KMGé]{0,20}") {
            let _ = text.parse::<DeviceUri>();
            for scheme in ["sim:", "sim:?card=", "sim:?storage=", "pci:", "pci:0000:3b:00.0?", "vfio-user:/"] {
                let uri = format!("{scheme}{rest}");
                if let Ok(parsed) = uri.parse::<DeviceUri>() {
                    proptest::prop_assert_eq!(parsed.to_string().parse(), Ok(parsed));
                }
            }
        }
    }
}
