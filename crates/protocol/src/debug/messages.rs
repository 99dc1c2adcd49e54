//! The registry of messages (wire §1.3–1.7): which fields each has, in declaration order. Validation, the JSON Schema and the
//! skeletons of shrinking all read this one table.

mod registry;
mod shapes;

pub(super) use self::registry::MESSAGES;
pub(super) use self::shapes::{SHARED_OBJECTS, SHARED_WORDS};

/// Who sends a message, and what for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// App to hub: something happened.
    Event,
    /// Hub to app: something is wanted.
    Control,
    /// Either way, once per link.
    Handshake,
}

/// The class of a message type; nothing for types we do not know.
pub fn class(kind: &str) -> Option<Class> {
    message(kind).map(|message| message.class)
}

/// A message type.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) kind: &'static str,
    pub(super) class: Class,
    pub(super) fields: &'static [Field],
}

/// One field of an object. Objects are loose: fields beyond the table never do harm.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) need: Need,
    pub(crate) shape: Shape,
}

/// Whether a field may be absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Required,
    Optional,
    /// Optional, and a wrong value does not make the message invalid: newer than what peers agreed on, or an open set.
    Loose,
}

/// What a value must look like.
#[derive(Debug)]
pub(crate) enum Shape {
    Any,
    Text,
    Flag,
    /// A safe integer from here on.
    Int(i64),
    /// A finite number, not negative.
    Amount,
    /// An object of any members.
    Map,
    Word(&'static Words),
    List(&'static Shape),
    Object(&'static Object),
}

/// A set of words; those with an id have a definition of their own in the schema.
#[derive(Debug)]
pub(crate) struct Words {
    pub(super) id: Option<&'static str>,
    pub(super) words: &'static [&'static str],
}

/// A shared object shape.
#[derive(Debug)]
pub(crate) struct Object {
    pub(super) id: Option<&'static str>,
    pub(crate) fields: &'static [Field],
}

pub(super) fn message(kind: &str) -> Option<&'static Message> {
    MESSAGES.iter().find(|message| message.kind == kind)
}

/// The payload fields of an event type.
pub(crate) fn event_fields(kind: &str) -> Option<&'static [Field]> {
    message(kind).filter(|message| message.class == Class::Event).map(|message| message.fields)
}

const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Required, shape }
}

const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Optional, shape }
}

const fn loose(name: &'static str, shape: Shape) -> Field {
    Field { name, need: Need::Loose, shape }
}
