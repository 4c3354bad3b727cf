// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values at places that are used again.

/// Values, each at a place with a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slab<V> {
    places: Vec<Option<V>>,
    free: Vec<u32>,
}

impl<V> Default for Slab<V> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<V> Slab<V> {
    /// Gives a value a place, and says its number.
    pub fn put(&mut self, value: V) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(value);
            return place;
        }
        self.places.push(Some(value));
        (self.places.len() - 1) as u32
    }

    /// Takes the value of a place; `None` if there is none.
    pub fn take(&mut self, place: u32) -> Option<V> {
        let value = self.places.get_mut(place as usize)?.take()?;
        self.free.push(place);
        Some(value)
    }

    /// The value of a place, to be looked at.
    pub fn get(&self, place: u32) -> Option<&V> {
        self.places.get(place as usize)?.as_ref()
    }

    /// The value of a place.
    pub fn get_mut(&mut self, place: u32) -> Option<&mut V> {
        self.places.get_mut(place as usize)?.as_mut()
    }

    /// How many values there are.
    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// All values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.places.iter_mut().flatten()
    }

    /// Takes all values away.
    pub fn clear(&mut self) {
        self.places.clear();
        self.free.clear();
    }
}
