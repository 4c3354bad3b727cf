// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::InterruptKind;
use crate::fake::Fake;

/// A configuration space with PCI Express at 0x40, of a kind of port.
pub(crate) fn port(kind: u8, capabilities_2: u32, control_2: u16) -> Vec<u8> {
    let mut space = vec![0; 256];
    (space[0x06], space[0x34]) = (0x10, 0x40);
    (space[0x40], space[0x42]) = (CAP_ID_EXP, kind << 4 | 2);
    space[0x64..0x68].copy_from_slice(&capabilities_2.to_le_bytes());
    space[0x68..0x6A].copy_from_slice(&control_2.to_le_bytes());
    space
}

#[test]
fn ports_say_what_they_do_with_atomic_operations() {
    let root = |capabilities| Port::decode(&port(4, capabilities, 0x80));
    assert_eq!(root(1 << 8), Port::Root { completes: true });
    // Those of 32 and 128 bits are of no use to the lock unit.
    assert_eq!(root(1 << 7 | 1 << 9), Port::Root { completes: false });
    for (kind, blocks) in [(5, true), (6, false)] {
        let found = Port::decode(&port(kind, 1 << 6, 1 << 7));
        assert_eq!(found, Port::Switch { routes: true, blocks });
    }
    assert_eq!(Port::decode(&port(5, 1 << 8, 0)), Port::Switch { routes: false, blocks: false });
    assert_eq!(Port::decode(&port(7, u32::MAX, 0)), Port::Other);
    let mut old = port(4, 1 << 8, 0);
    old[0x42] = 4 << 4 | 1;
    assert_eq!(Port::decode(&old), Port::Root { completes: false });
    let no_capabilities = vec![0; 256];
    assert_eq!(Port::decode(&no_capabilities), Port::Other);
    assert_eq!(Port::decode(&port(4, 1 << 8, 0)[..0x44]), Port::Root { completes: false });
}

/// A function whose Device Control 2 is 0; of the bits that are written, `writable` stay.
fn function(writable: u32, version: u32) -> std::sync::Arc<Fake> {
    let fake = Fake::new(InterruptKind::Event);
    let mut state = fake.state();
    state.configuration.extend([(0x04, 0x10_0006), (0x34, 0x40), (0x40, version << 16 | 0x10)]);
    state.configuration.insert(0x68, 0);
    state.writable_configuration.insert(0x68, writable);
    drop(state);
    fake
}

#[test]
fn opening_a_device_lets_it_request_atomic_operations_and_changes_nothing_else() {
    let fake = function(0xFFFF, 2);
    fake.state().configuration.insert(0x68, 0x0010);
    let atomics = fake.device().atomics().clone();
    assert_eq!(atomics, Atomics { requester: true, route: AtomicRoute::Direct });
    assert_eq!(atomics.doubt(), None);
    assert_eq!(fake.state().configuration[&0x68], 0x0050);
    // A second time there is nothing to be written.
    fake.state().writable_configuration.clear();
    assert!(fake.device().atomics().requester);
}

#[test]
fn a_function_that_never_requests_them_is_opened_and_named() {
    for fake in [function(0x0010, 2), function(0xFFFF, 1), Fake::new(InterruptKind::Event)] {
        let atomics = fake.device().atomics().clone();
        assert!(!atomics.requester);
        let doubt = atomics.doubt().unwrap();
        assert!(doubt.starts_with("the function requests no AtomicOps"), "{doubt}");
        assert!(doubt.contains("requests for locks end as bus errors; all else works"), "{doubt}");
    }
}

#[test]
fn a_way_that_is_broken_or_unknown_is_in_doubt() {
    let doubt = |route| Atomics { requester: true, route }.doubt();
    let root_port = "0000:00:01.0".parse().unwrap();
    assert_eq!(doubt(AtomicRoute::Complete { root_port }), None);
    let reason = "root port 0000:00:01.0 does not complete them".to_string();
    assert!(doubt(AtomicRoute::Broken { reason }).unwrap().starts_with("root port 0000:00:01.0"));
    let reason = "only root may look".to_string();
    let doubt = doubt(AtomicRoute::Unknown { reason }).unwrap();
    assert!(doubt.contains("is not known: only root may look; where AtomicOps do not"), "{doubt}");
}
