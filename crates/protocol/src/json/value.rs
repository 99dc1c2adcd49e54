//! JSON as an owned tree, for values we build and edit. Whoever builds one keeps it shallow: reading stops at 512 levels.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::number::Number;
use super::text::Text;

/// Any JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub enum Value {
    /// `null`
    #[default]
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as spelled.
    Number(Number),
    /// A string.
    String(Text),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::String(Text::from(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::String(Text::from(text))
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Value {
        Value::Number(Number::from(value))
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Number(Number::from(value))
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::Array(items)
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Value {
        Value::Object(object)
    }
}

/// Members in the order in which they were first set; names are unique.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Object(Vec<(Text, Value)>);

impl Object {
    /// Without members.
    pub fn new() -> Object {
        Object::default()
    }

    /// The member's value. Compares name by name.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The member's value, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Sets a member; one that exists keeps its place and gives its former value back.
    pub fn insert(&mut self, key: impl Into<Text>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        if let Some((_, place)) = self.0.iter_mut().find(|(name, _)| *name == key) {
            return Some(std::mem::replace(place, value));
        }
        self.0.push((key, value));
        None
    }

    /// Takes a member out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let place = self.0.iter().position(|(name, _)| *name == key)?;
        Some(self.0.remove(place).1)
    }

    /// The members in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Text, Value)> {
        self.0.iter()
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True without members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Text, Value)> for Object {
    /// Of repeated names the first gives the place and the last the value, as `JSON.parse` has it.
    fn from_iter<I: IntoIterator<Item = (Text, Value)>>(members: I) -> Object {
        let mut object = Object::new();
        // Looked up by hash, so that an object of a million members does not take a million million steps.
        let mut places: HashMap<Text, usize> = HashMap::new();
        for (name, value) in members {
            if object.len() < FEW {
                object.insert(name, value);
                continue;
            }
            if places.is_empty() {
                places.extend(object.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)));
            }
            match places.entry(name) {
                Entry::Occupied(known) => {
                    if let Some((_, place)) = object.0.get_mut(*known.get()) {
                        *place = value;
                    }
                }
                Entry::Vacant(free) => {
                    let name = free.key().clone();
                    free.insert(object.len());
                    object.0.push((name, value));
                }
            }
        }
        object
    }
}

impl IntoIterator for Object {
    type Item = (Text, Value);
    type IntoIter = std::vec::IntoIter<(Text, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Object {
    type Item = &'a (Text, Value);
    type IntoIter = std::slice::Iter<'a, (Text, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

const FEW: usize = 16;
