//! The traces shrinking leaves: the suffix of a cut string and the marker fields of an object that lost something.

use std::fmt::Write as _;

use super::body::Body;
use super::compact;
use crate::json::{Raw, View, write_str};

/// The field that marks an object as cut.
pub const TRUNCATED: &str = "__graphmindTruncated";
/// How a cut string ends; 23 UTF-16 units.
pub const SUFFIX: &str = "…[graphmind: truncated]";
/// UTF-16 units of a preview.
pub(super) const PREVIEW: usize = 2_000;

/// Fields to be merged into an object; a field the object has already is replaced in its place.
#[derive(Debug)]
pub(super) struct Marker(Vec<(&'static str, Vec<u8>)>);

impl Marker {
    /// `{__graphmindTruncated: true}`
    pub(super) fn new() -> Marker {
        Marker(vec![(TRUNCATED, b"true".to_vec())])
    }

    /// Nothing to merge.
    pub(super) fn none() -> Marker {
        Marker(Vec::new())
    }

    pub(super) fn number(mut self, name: &'static str, value: usize) -> Marker {
        self.0.push((name, value.to_string().into_bytes()));
        self
    }

    /// A preview of a value; `limit` 0 leaves it empty.
    pub(super) fn preview<'a>(mut self, of: impl Into<Body<'a>>, limit: usize) -> Marker {
        let mut text = Vec::new();
        compact::write_preview(of, limit, &mut text);
        self.0.push(("preview", text));
        self
    }

    /// The names of fields that are no longer what they were.
    pub(super) fn fields<'a>(mut self, names: impl IntoIterator<Item = View<'a>>) -> Marker {
        let mut text = vec![b'['];
        for name in names {
            if text.len() > 1 {
                text.push(b',');
            }
            compact::write(name, &mut text);
        }
        text.push(b']');
        self.0.push(("fields", text));
        self
    }

    /// Appends the object of `entries` with the marker merged in; `value` writes the value of each entry.
    pub(super) fn merge<'a, T>(
        &self,
        entries: impl IntoIterator<Item = (View<'a>, T)>,
        out: &mut Vec<u8>,
        mut value: impl FnMut(T, &mut Vec<u8>),
    ) {
        let mut written = vec![false; self.0.len()];
        let mut comma = false;
        out.push(b'{');
        for (name, entry) in entries {
            let own = self.0.iter().position(|(marker, _)| name.is(marker));
            match own.and_then(|own| Some((written.get_mut(own)?, self.0.get(own)?))) {
                // An object that repeats the name repeats nothing here.
                Some((written, _)) if *written => continue,
                Some((written, (marker, text))) => {
                    *written = true;
                    member(marker, text, &mut comma, out);
                }
                None => {
                    separate(&mut comma, out);
                    compact::write(name, out);
                    out.push(b':');
                    value(entry, out);
                }
            }
        }
        for ((marker, text), _) in self.0.iter().zip(written).filter(|(_, written)| !written) {
            member(marker, text, &mut comma, out);
        }
        out.push(b'}');
    }

    /// Appends the marker as an object of its own.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        self.merge(std::iter::empty::<(View<'_>, ())>(), out, |(), _| {});
    }
}

/// The marker that stands for a whole value; without its preview where that alone would be too long.
pub(super) fn whole(body: Body<'_>, total: usize, budget: usize) -> Raw {
    let write = |limit| {
        let mut out = Vec::new();
        Marker::new().number("bytes", total).preview(body, limit).write(&mut out);
        out
    };
    let full = write(PREVIEW);
    Raw::trusted(if full.len() <= budget { full } else { write(0) })
}

/// Appends the marker that stands for a value that was not looked at.
pub(super) fn write_stand_in(note: &str, out: &mut Vec<u8>) {
    let mut text = String::new();
    let _ = write!(text, "{{\"{TRUNCATED}\":true,\"bytes\":0,\"preview\":");
    out.extend_from_slice(text.as_bytes());
    write_str(note, out);
    out.push(b'}');
}

fn member(name: &str, text: &[u8], comma: &mut bool, out: &mut Vec<u8>) {
    separate(comma, out);
    write_str(name, out);
    out.push(b':');
    out.extend_from_slice(text);
}

fn separate(comma: &mut bool, out: &mut Vec<u8>) {
    if *comma {
        out.push(b',');
    }
    *comma = true;
}
