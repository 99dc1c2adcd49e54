//! Remembers the member names of the objects that are open while a text is checked, and says which came before.
//! Few names are compared one by one; many are looked up by hash, so that neither costs more than the text itself.

use std::borrow::Cow;
use std::hash::{BuildHasher, RandomState};

use super::pieces::{Piece, Pieces};

/// The names of all open objects; those of one object stand together, the innermost last.
#[derive(Debug)]
pub(super) struct Keys<'t> {
    text: &'t [u8],
    names: Vec<Name>,
    hasher: Option<RandomState>,
}

/// Where the names of one open object begin, and its index once it has many.
#[derive(Debug)]
pub(super) struct Opened {
    first: usize,
    index: Option<Vec<u32>>,
}

/// A member name as a stretch of the text, quotes included.
#[derive(Debug, Clone, Copy)]
struct Name {
    start: u32,
    end: u32,
    hash: u32,
    escaped: bool,
}

impl<'t> Keys<'t> {
    pub(super) fn new(text: &'t [u8]) -> Keys<'t> {
        Keys { text, names: Vec::new(), hasher: None }
    }

    pub(super) fn open(&self) -> Opened {
        Opened { first: self.names.len(), index: None }
    }

    pub(super) fn close(&mut self, opened: &Opened) {
        self.names.truncate(opened.first);
    }

    /// Adds the name at `start..end` and tells whether the object had it already. A repeated name is not added again.
    pub(super) fn repeats(&mut self, opened: &mut Opened, start: u32, end: u32) -> bool {
        let mut name = Name { start, end, hash: 0, escaped: false };
        name.escaped = self.spelled(name).contains(&b'\\');
        let count = self.names.len() - opened.first;
        if count < FEW {
            let before = self.names.get(opened.first..).unwrap_or_default();
            let known = before.iter().any(|earlier| self.same(*earlier, name));
            if !known {
                self.names.push(name);
            }
            return known;
        }
        if opened.index.is_none() {
            self.hash_all(opened.first);
        }
        name.hash = self.hash(name);
        // At most half full, so that a free slot always ends the search.
        if opened.index.as_ref().is_none_or(|index| index.len() < 2 * (count + 1)) {
            opened.index = Some(self.index(opened.first, 4 * (count + 1)));
        }
        let Some(index) = opened.index.as_mut() else { return false };
        let slot = match self.find(index, opened.first, name) {
            Found::Known => return true,
            Found::Free(slot) => slot,
        };
        if let Some(free) = index.get_mut(slot) {
            *free = u32::try_from(count + 1).unwrap_or(u32::MAX);
        }
        self.names.push(name);
        false
    }

    fn hash_all(&mut self, first: usize) {
        for place in first..self.names.len() {
            let Some(name) = self.names.get(place).copied() else { continue };
            let hash = self.hash(name);
            if let Some(name) = self.names.get_mut(place) {
                name.hash = hash;
            }
        }
    }

    fn hash(&mut self, name: Name) -> u32 {
        let spelled = self.spelled(name);
        let hasher = self.hasher.get_or_insert_with(RandomState::new);
        let [a, b, c, d, ..] = hasher.hash_one(decoded(spelled)).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    /// Open addressing over the object's names; a slot holds one more than the place of a name, zero is free.
    fn index(&self, first: usize, room: usize) -> Vec<u32> {
        let mut index = vec![0; room.next_power_of_two()];
        let names = self.names.get(first..).unwrap_or_default();
        for (place, name) in (1..).zip(names) {
            let mut slot = slot_of(*name, index.len());
            while index.get(slot).is_some_and(|taken| *taken != 0) {
                slot = (slot + 1) & (index.len() - 1);
            }
            if let Some(free) = index.get_mut(slot) {
                *free = place;
            }
        }
        index
    }

    fn find(&self, index: &[u32], first: usize, name: Name) -> Found {
        let mut slot = slot_of(name, index.len());
        while let Some(place) = index.get(slot).copied().filter(|place| *place != 0) {
            let offset = usize::try_from(place - 1).unwrap_or(usize::MAX);
            let earlier = self.names.get(first.saturating_add(offset)).copied();
            if earlier.is_some_and(|earlier| earlier.hash == name.hash && self.same(earlier, name)) {
                return Found::Known;
            }
            slot = (slot + 1) & (index.len() - 1);
        }
        Found::Free(slot)
    }

    fn same(&self, left: Name, right: Name) -> bool {
        let (first, second) = (self.spelled(left), self.spelled(right));
        // Without an escape on either side the spellings decide.
        first == second || (left.escaped || right.escaped) && decoded(first) == decoded(second)
    }

    fn spelled(&self, name: Name) -> &'t [u8] {
        let start = usize::try_from(name.start).unwrap_or(usize::MAX);
        let end = usize::try_from(name.end).unwrap_or(usize::MAX);
        self.text.get(start..end).unwrap_or_default()
    }
}

enum Found {
    Known,
    Free(usize),
}

fn slot_of(name: Name, room: usize) -> usize {
    usize::try_from(name.hash).unwrap_or(0) & (room - 1)
}

/// The decoded name as bytes; a lone surrogate becomes the three bytes UTF-8 would give it, were it allowed to.
fn decoded(literal: &[u8]) -> Cow<'_, [u8]> {
    let pieces = Pieces::of(literal);
    if let Some(plain) = pieces.plain() {
        return Cow::Borrowed(plain);
    }
    let mut bytes = Vec::with_capacity(literal.len());
    for piece in pieces {
        match piece {
            Piece::Run(run) => bytes.extend_from_slice(run),
            Piece::Char(one) => bytes.extend_from_slice(one.encode_utf8(&mut [0; 4]).as_bytes()),
            Piece::Lone(unit) => {
                let [high, low] = unit.to_be_bytes();
                bytes.extend_from_slice(&[0xED, 0x80 | ((high & 0x0F) << 2) | (low >> 6), 0x80 | (low & 0x3F)]);
            }
        }
    }
    Cow::Owned(bytes)
}

/// Up to here comparing each is faster than hashing.
const FEW: usize = 16;
