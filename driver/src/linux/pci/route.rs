// SPDX-License-Identifier: MIT OR Apache-2.0
//! The path from a function up to its root port, with respect to atomic operations.

use std::fs;

use crate::atomics::Port;
use crate::linux::Roots;
use crate::{AtomicRoute, PciAddress};

/// What the ports above a function say of AtomicOps to host memory.
pub fn atomic_route(roots: &Roots, address: PciAddress) -> AtomicRoute {
    let mut last = None;
    for port in ports_above(roots, address) {
        let configuration = match fs::read(roots.function(port).join("config")) {
            Ok(configuration) => configuration,
            Err(error) => {
                return AtomicRoute::Unknown { reason: format!("port {port}: {error}") };
            }
        };
        // All that the kernel shows to those who are not root.
        if configuration.len() <= 64 {
            let reason = format!("only root may read what port {port} above {address} can do");
            return AtomicRoute::Unknown { reason };
        }
        let port_kind = Port::decode(&configuration);
        if let Some(problem) = problem(port, port_kind) {
            return AtomicRoute::Broken { reason: problem };
        }
        last = Some((port, port_kind));
    }
    match last {
        Some((root_port, Port::Root { .. })) => AtomicRoute::Complete { root_port },
        Some((port, _)) => {
            AtomicRoute::Unknown { reason: format!("above port {port} is no root port") }
        }
        None => AtomicRoute::Unknown { reason: format!("{address} is behind no root port") },
    }
}

/// What keeps AtomicOps from passing a port.
fn problem(port: PciAddress, kind: Port) -> Option<String> {
    match kind {
        Port::Root { completes: true } | Port::Switch { routes: true, blocks: false } => None,
        Port::Root { completes: false } => Some(format!(
            "root port {port} does not complete AtomicOps of 64 bits (bit 8 of its Device \
             Capabilities 2 is 0)"
        )),
        Port::Switch { routes: false, .. } => Some(format!(
            "switch port {port} does not route AtomicOps (bit 6 of its Device Capabilities 2 is 0)"
        )),
        Port::Switch { blocks: true, .. } => Some(format!(
            "switch port {port} blocks AtomicOps (bit 7 of its Device Control 2 is 1; as root: \
             setpci -s {port} CAP_EXP+28.w=0:80)"
        )),
        Port::Other => Some(format!(
            "bridge {port} is neither root port nor port of a switch, and passes no AtomicOps on"
        )),
    }
}

/// The ports on the way from a function to the root, nearest first: the folder of each is in that of
/// the next.
fn ports_above(roots: &Roots, address: PciAddress) -> Vec<PciAddress> {
    let Ok(folder) = fs::canonicalize(roots.function(address)) else { return Vec::new() };
    let names = folder.ancestors().skip(1).map(|folder| folder.file_name()?.to_str()?.parse().ok());
    names.map_while(|address| address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomics::tests::port;
    use crate::linux::pci::tests::{OURS, Tree};

    const ROOT_PORT: &str = "0000:00:01.0";
    const UPSTREAM: &str = "0000:01:00.0";
    const DOWNSTREAM: &str = "0000:02:00.0";

    fn route(ports: &[(&str, Vec<u8>)]) -> AtomicRoute {
        let tree = Tree::new();
        tree.behind(ports);
        let address = tree.ours();
        atomic_route(&tree.roots(), address)
    }

    /// Kinds of ports, as the capability names them.
    fn root(capabilities_2: u32) -> Vec<u8> {
        port(4, capabilities_2, 0)
    }

    #[test]
    fn a_root_port_that_completes_them_is_the_end_of_the_way() {
        let root_port = ROOT_PORT.parse().unwrap();
        assert_eq!(route(&[(ROOT_PORT, root(1 << 8))]), AtomicRoute::Complete { root_port });
        let ports = [
            (ROOT_PORT, root(1 << 6 | 1 << 7 | 1 << 8)),
            (UPSTREAM, port(5, 1 << 6, 0)),
            // Its egress is towards us.
            (DOWNSTREAM, port(6, 1 << 6, 1 << 7)),
        ];
        assert_eq!(route(&ports), AtomicRoute::Complete { root_port });
    }

    #[test]
    fn the_first_port_that_stops_them_is_named() {
        let broken = |ports: &[(&str, Vec<u8>)]| match route(ports) {
            AtomicRoute::Broken { reason } => reason,
            other => panic!("{other:?}"),
        };
        let text = broken(&[(ROOT_PORT, root(1 << 7))]);
        assert!(
            text.contains("root port 0000:00:01.0 does not complete AtomicOps of 64"),
            "{text}"
        );
        let ports = [
            (ROOT_PORT, root(1 << 8)),
            (UPSTREAM, port(5, 1 << 6, 1 << 7)),
            (DOWNSTREAM, port(6, 1 << 6, 0)),
        ];
        let text = broken(&ports);
        assert!(text.contains("setpci -s 0000:01:00.0 CAP_EXP+28.w=0:80"), "{text}");
        let [_, up, _] = ports;
        let text = broken(&[(ROOT_PORT, root(1 << 8)), up, (DOWNSTREAM, port(6, 0, 0))]);
        assert!(text.contains("switch port 0000:02:00.0 does not route AtomicOps"), "{text}");
        let text = broken(&[(ROOT_PORT, port(7, u32::MAX, 0))]);
        assert!(text.contains("bridge 0000:00:01.0 is neither"), "{text}");
    }

    #[test]
    fn what_cannot_be_found_out_is_not_made_up() {
        let unknown = |ports: &[(&str, Vec<u8>)]| match route(ports) {
            AtomicRoute::Unknown { reason } => reason,
            other => panic!("{other:?}"),
        };
        let text = unknown(&[(ROOT_PORT, root(1 << 8)[..64].to_vec())]);
        assert!(text.contains("only root may read what port 0000:00:01.0 above 0000:3b"), "{text}");
        assert_eq!(unknown(&[]), format!("{OURS} is behind no root port"));
        let text = unknown(&[(UPSTREAM, port(5, 1 << 6, 0))]);
        assert_eq!(text, "above port 0000:01:00.0 is no root port");
    }
}
