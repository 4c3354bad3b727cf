// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that the device model can reach: host memory by device addresses, and its card.

use std::collections::BTreeMap;
use std::sync::Arc;

use driver::{DeviceError, HostMemory};

use super::{Mutant, card};

const FIRST_ADDRESS: u64 = 0x1_0000_0000;

pub struct Memories {
    maps: BTreeMap<u64, Arc<HostMemory>>,
    /// Taken away, and reached all the same.
    ghosts: BTreeMap<u64, Arc<HostMemory>>,
    next: u64,
    card: Arc<HostMemory>,
    mutant: Mutant,
}

/// A place in some memory.
#[derive(Clone)]
pub struct Spot {
    pub memory: Arc<HostMemory>,
    pub offset: usize,
}

impl Memories {
    pub fn new(card_bytes: usize, mutant: Mutant) -> Self {
        let (maps, ghosts) = (BTreeMap::new(), BTreeMap::new());
        Self { maps, ghosts, next: FIRST_ADDRESS, card: card(card_bytes), mutant }
    }

    pub fn card(&self) -> &Arc<HostMemory> {
        &self.card
    }

    pub fn map(&mut self, memory: &Arc<HostMemory>) -> u64 {
        let address = self.next;
        self.next += memory.bytes() as u64 + 0x1_0000;
        self.maps.insert(address, Arc::clone(memory));
        address
    }

    pub fn unmap(&mut self, address: u64) -> Result<(), DeviceError> {
        match self.maps.remove(&address) {
            Some(memory) => {
                self.ghosts.insert(address, memory);
                Ok(())
            }
            None => Err(super::out_of_range("address", address, "one that was mapped")),
        }
    }

    fn host(&self, address: u64, bytes: u64, ghosts: bool) -> Option<Spot> {
        let within = |maps: &BTreeMap<u64, Arc<HostMemory>>| {
            let (begin, memory) = maps.range(..=address).next_back()?;
            let offset = address - begin;
            let fits = offset.checked_add(bytes)? <= memory.bytes() as u64;
            fits.then(|| Spot { memory: Arc::clone(memory), offset: offset as usize })
        };
        within(&self.maps).or_else(|| within(&self.ghosts).filter(|_| ghosts))
    }

    pub fn readable(&self, address: u64, bytes: u64) -> Option<Spot> {
        self.host(address, bytes, self.mutant == Mutant::ReadsAfterUnmap)
    }

    pub fn writable(&self, address: u64, bytes: u64) -> Option<Spot> {
        self.host(address, bytes, self.mutant == Mutant::WritesAfterUnmap)
    }

    pub fn on_card(&self, address: u64, bytes: u64) -> Option<Spot> {
        let card = self.card.bytes() as u64;
        let address = match self.mutant {
            Mutant::WrapsCardAddresses => address % (card / 2),
            Mutant::ShiftsCardAddresses => address.wrapping_add(1),
            _ => address,
        };
        let fits = address.checked_add(bytes)? <= card;
        fits.then(|| Spot { memory: Arc::clone(&self.card), offset: address as usize })
    }
}
