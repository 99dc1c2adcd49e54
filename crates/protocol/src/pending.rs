//! Questions that have not been answered yet, one table per side that asks, and the rounds that make several questions one
//! exchange. Bounded; what has to go is handed back, never forgotten silently.

mod rounds;

use std::collections::{BTreeMap, HashMap, VecDeque};

use crate::rpc::Id;

pub use self::rounds::{Asked, Rounds};

/// Open questions by id, in the order in which they were asked.
///
/// An id that is used again while it is open is two questions: the first answer closes the older one.
#[derive(Debug)]
pub struct Pending<T> {
    by_id: HashMap<Id, VecDeque<u64>>,
    in_order: BTreeMap<u64, (Id, T)>,
    next: u64,
    cap: usize,
}

impl<T> Pending<T> {
    /// At most `cap` questions.
    pub fn new(cap: usize) -> Pending<T> {
        Pending { by_id: HashMap::new(), in_order: BTreeMap::new(), next: 0, cap }
    }

    /// Adds a question. When the table is full, the oldest one is handed back to make room.
    pub fn ask(&mut self, id: Id, question: T) -> Option<(Id, T)> {
        let evicted = if self.is_full() { self.oldest() } else { None };
        self.by_id.entry(id.clone()).or_default().push_back(self.next);
        self.in_order.insert(self.next, (id, question));
        self.next += 1;
        evicted
    }

    /// Closes the oldest question with this id.
    pub fn answer(&mut self, id: &Id) -> Option<T> {
        let places = self.by_id.get_mut(id)?;
        let place = places.pop_front()?;
        if places.is_empty() {
            self.by_id.remove(id);
        }
        self.in_order.remove(&place).map(|(_, question)| question)
    }

    /// The oldest question with this id.
    pub fn get_mut(&mut self, id: &Id) -> Option<&mut T> {
        let place = self.by_id.get(id)?.front()?;
        self.in_order.get_mut(place).map(|(_, question)| question)
    }

    /// All open questions, oldest first.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Id, &mut T)> {
        self.in_order.values_mut().map(|(id, question)| (&*id, question))
    }

    /// Closes every question, oldest first.
    pub fn drain(&mut self) -> Vec<(Id, T)> {
        self.by_id.clear();
        std::mem::take(&mut self.in_order).into_values().collect()
    }

    /// How many questions are open.
    pub fn len(&self) -> usize {
        self.in_order.len()
    }

    /// True when nothing is open.
    pub fn is_empty(&self) -> bool {
        self.in_order.is_empty()
    }

    /// True when one more question would push the oldest one out.
    pub fn is_full(&self) -> bool {
        self.in_order.len() >= self.cap
    }

    fn oldest(&mut self) -> Option<(Id, T)> {
        let (place, (id, question)) = self.in_order.pop_first()?;
        if let Some(places) = self.by_id.get_mut(&id) {
            places.retain(|other| *other != place);
            if places.is_empty() {
                self.by_id.remove(&id);
            }
        }
        Some((id, question))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_find_their_questions_in_any_order() {
        let mut pending = Pending::new(9);
        for number in 0..4_u64 {
            assert_eq!(pending.ask(Id::from(number), number), None);
        }
        assert_eq!(pending.answer(&Id::from(2)), Some(2));
        assert_eq!(pending.answer(&Id::from(2)), None);
        assert_eq!(pending.answer(&Id::from(7)), None);
        assert_eq!(pending.drain(), [(Id::from(0), 0), (Id::from(1), 1), (Id::from(3), 3)]);
        assert!(pending.is_empty() && pending.answer(&Id::from(0)).is_none());
    }

    #[test]
    fn one_id_used_twice_is_two_questions() {
        let mut pending = Pending::new(9);
        pending.ask(Id::from(1), "first");
        pending.ask(Id::from(1), "second");
        assert_eq!(pending.answer(&Id::from(1)), Some("first"));
        assert_eq!(pending.answer(&Id::from(1)), Some("second"));
    }

    #[test]
    fn a_full_table_hands_back_the_oldest() {
        let mut pending = Pending::new(2);
        pending.ask(Id::from(1), "a");
        pending.ask(Id::from(1), "b");
        assert_eq!(pending.ask(Id::from(2), "c"), Some((Id::from(1), "a")));
        assert_eq!(pending.len(), 2);
        assert_eq!(pending.answer(&Id::from(1)), Some("b"));
    }
}
