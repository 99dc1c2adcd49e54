//! The top-level fields of a payload, repeated ones resolved as `JSON.parse` does.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::body::Body;
use crate::json::{Text, View};

/// A top-level field.
#[derive(Debug, Clone, Copy)]
pub(super) struct TopField<'a> {
    pub(super) name: View<'a>,
    pub(super) value: View<'a>,
}

/// The fields of an object in order; nothing when there are more than trimming looks at.
pub(super) fn of(body: Body<'_>) -> Option<Vec<TopField<'_>>> {
    let mut fields: Vec<TopField<'_>> = Vec::new();
    let mut places: HashMap<Text, usize> = HashMap::new();
    for (name, value) in body.pairs() {
        let next = fields.len();
        match places.entry(name.text()?) {
            Entry::Vacant(_) if next == MOST => return None,
            Entry::Vacant(free) => {
                free.insert(next);
                fields.push(TopField { name, value });
            }
            Entry::Occupied(known) => {
                if let Some(field) = fields.get_mut(*known.get()) {
                    field.value = value;
                }
            }
        }
    }
    Some(fields)
}

const MOST: usize = 4_096;
