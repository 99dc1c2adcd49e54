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
    /// Of open objects with many names, the innermost last.
    indices: Vec<Index>,
    hasher: Option<RandomState>,
}

/// A member name as a stretch of the text, quotes included.
#[derive(Debug, Clone, Copy)]
struct Name {
    start: u32,
    end: u32,
    /// Differs for most names that differ, unless one of them is escaped.
    tag: u64,
    escaped: bool,
}

/// Open addressing over the names of one object.
#[derive(Debug)]
struct Index {
    /// Where its names begin; no two open objects with names begin at the same place.
    first: usize,
    /// One more than the place of a name among the object's, and its hash; 0 is free. At most half full.
    slots: Vec<(u32, u32)>,
}

impl<'t> Keys<'t> {
    pub(super) fn new(text: &'t [u8]) -> Keys<'t> {
        Keys { text, names: Vec::new(), indices: Vec::new(), hasher: None }
    }

    /// Where the names of an object that opens now will begin.
    #[inline]
    pub(super) fn open(&self) -> usize {
        self.names.len()
    }

    /// Forgets the names of the innermost object, which begin at `first`.
    #[inline]
    pub(super) fn close(&mut self, first: usize) {
        self.names.truncate(first);
        self.indices.pop_if(|index| index.first == first);
    }

    /// Adds the name at `start..end` and tells whether the object whose names begin at `first` had it already. A repeated
    /// name is not added again.
    #[inline]
    pub(super) fn repeats(&mut self, first: usize, start: usize, end: usize) -> bool {
        let literal = self.text.get(start..end).unwrap_or_default();
        let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(end)) else { return false };
        let name = Name { start, end, tag: tag(literal), escaped: literal.contains(&b'\\') };
        let before = self.names.get(first..).unwrap_or_default();
        let known = if before.len() < FEW {
            // Tags first: a tight loop that hardly ever has to look at the text.
            let alike = |earlier: &&Name| earlier.tag == name.tag || earlier.escaped || name.escaped;
            before.iter().filter(alike).any(|earlier| self.same(*earlier, name))
        } else {
            self.is_indexed(first, name)
        };
        if !known {
            self.names.push(name);
        }
        known
    }

    fn same(&self, left: Name, right: Name) -> bool {
        if left.escaped || right.escaped {
            return decoded(self.spelled(left)) == decoded(self.spelled(right));
        }
        self.spelled(left) == self.spelled(right)
    }

    /// Looks a name up in the index of its object, and puts it in if it is new.
    fn is_indexed(&mut self, first: usize, name: Name) -> bool {
        let hash = self.hash(name);
        let mut index = self.indices.pop_if(|index| index.first == first).unwrap_or_else(|| self.index(first));
        let count = self.names.len() - first;
        if index.slots.len() < 2 * (count + 1) {
            index.grow();
        }
        let mut slot = index.slot_of(hash);
        let known = loop {
            match index.slots.get(slot) {
                Some((place, known)) if *place != 0 => {
                    let earlier = usize::try_from(*place).ok().and_then(|place| self.names.get(first + place - 1));
                    if *known == hash && earlier.is_some_and(|earlier| self.same(*earlier, name)) {
                        break true;
                    }
                    slot = index.after(slot);
                }
                _ => break false,
            }
        };
        if !known && let Some(free) = index.slots.get_mut(slot) {
            *free = (u32::try_from(count + 1).unwrap_or(u32::MAX), hash);
        }
        self.indices.push(index);
        known
    }

    /// An index of the names an object has so far.
    fn index(&mut self, first: usize) -> Index {
        let mut index = Index { first, slots: vec![(0, 0); 8 * FEW] };
        for (place, at) in (1..).zip(first..self.names.len()) {
            if let Some(name) = self.names.get(at).copied() {
                let hash = self.hash(name);
                index.put(place, hash);
            }
        }
        index
    }

    /// Keyed at random, so that no text can be made for which many names collide.
    fn hash(&mut self, name: Name) -> u32 {
        let spelled = self.spelled(name);
        let hasher = self.hasher.get_or_insert_with(RandomState::new);
        let [a, b, c, d, ..] = hasher.hash_one(decoded(spelled)).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    #[inline]
    fn spelled(&self, name: Name) -> &'t [u8] {
        let start = usize::try_from(name.start).unwrap_or(usize::MAX);
        let end = usize::try_from(name.end).unwrap_or(usize::MAX);
        self.text.get(start..end).unwrap_or_default()
    }
}

impl Index {
    fn put(&mut self, place: u32, hash: u32) {
        let mut slot = self.slot_of(hash);
        while self.slots.get(slot).is_some_and(|(taken, _)| *taken != 0) {
            slot = self.after(slot);
        }
        if let Some(free) = self.slots.get_mut(slot) {
            *free = (place, hash);
        }
    }

    fn grow(&mut self) {
        let room = self.slots.len() * 4;
        let old = std::mem::replace(&mut self.slots, vec![(0, 0); room]);
        for (place, hash) in old.into_iter().filter(|(place, _)| *place != 0) {
            self.put(place, hash);
        }
    }

    fn slot_of(&self, hash: u32) -> usize {
        usize::try_from(hash).unwrap_or(0) & (self.slots.len() - 1)
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }
}

/// The last bytes of a name and, where there is room, all of them.
#[inline]
fn tag(literal: &[u8]) -> u64 {
    match literal.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last).wrapping_add(u64::try_from(literal.len()).unwrap_or(0)),
        None => literal.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
    }
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

/// Up to here comparing each is faster than hashing. A power of two.
const FEW: usize = 32;
