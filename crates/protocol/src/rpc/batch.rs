//! Batches: what their elements are, and how they are put together again after some were cut or replaced. What is left stays
//! byte for byte as it came. Arrays within arrays are walked, never entered by recursion.

use std::ops::Range;

use bytes::Bytes;

use super::source::Source;
use crate::json::{Token, Tokens, View};

/// What becomes of an element of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It stays as it is.
    Keep,
    /// It is left out.
    Cut,
    /// Something else takes its place.
    Replace(Bytes),
}

/// The line with each element as its fate has it, in the order of [`super::Content::Batch`]; an element without one is
/// kept. Nothing when no element is left. Arrays that lose all their elements are left out too.
pub fn assemble(whole: &Source, fates: &[Fate]) -> Option<Bytes> {
    if fates.iter().all(|fate| *fate == Fate::Keep) {
        return Some(whole.bytes().clone());
    }
    let mut out = Out { line: whole.bytes(), bytes: Vec::with_capacity(whole.bytes().len()), at: 0, open: Vec::new() };
    let mut fates = fates.iter();
    let start = whole.place(whole.raw().view())?.start;
    for step in Steps::of(whole.raw().view()) {
        match step {
            Step::Open(at) => out.enter(start + at),
            Step::Element(place) => {
                out.element(start + place.start..start + place.end, fates.next().unwrap_or(&Fate::Keep));
            }
            Step::Close(end) => {
                let outermost = out.leave(start + end)?;
                if outermost {
                    break;
                }
            }
        }
    }
    out.copy(whole.bytes().len());
    Some(out.bytes.into())
}

/// One step through an array; places are offsets into its text.
#[derive(Debug)]
pub(super) enum Step {
    /// An array begins here.
    Open(usize),
    /// Anything that is no array.
    Element(Range<usize>),
    /// An array ended before here.
    Close(usize),
}

/// The steps through an array and the arrays in it.
pub(super) struct Steps<'a>(Tokens<'a>);

impl<'a> Steps<'a> {
    pub(super) fn of(array: View<'a>) -> Steps<'a> {
        Steps(Tokens::of(array))
    }
}

impl Iterator for Steps<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let token = self.0.next()?;
        let after = self.0.offset();
        Some(match token {
            Token::OpenArray => Step::Open(after - 1),
            Token::CloseArray | Token::CloseObject => Step::Close(after),
            Token::OpenObject => {
                self.0.leave();
                Step::Element(after - 1..self.0.offset())
            }
            Token::Scalar(view) | Token::Name(view) => {
                // White space after a string is passed over already.
                let end = self.0.end_of(view);
                Step::Element(end - view.raw().len()..end)
            }
        })
    }
}

struct Out<'a> {
    line: &'a [u8],
    bytes: Vec<u8>,
    /// So much of the line is dealt with.
    at: usize,
    open: Vec<Level>,
}

/// An array on the way.
#[derive(Default)]
struct Level {
    /// Elements that were written.
    kept: usize,
    /// Elements there were.
    seen: usize,
    /// Length of the output before this array and what stands before it.
    mark: usize,
}

impl Out<'_> {
    fn enter(&mut self, bracket: usize) {
        let mark = self.bytes.len();
        self.separate(bracket);
        self.copy(bracket + 1);
        self.open.push(Level { mark, ..Level::default() });
    }

    /// Whether it was the outermost array; nothing when that one lost everything.
    fn leave(&mut self, end: usize) -> Option<bool> {
        let level = self.open.pop()?;
        let lost_all = level.kept == 0 && level.seen > 0;
        let Some(outer) = self.open.last_mut() else {
            return if lost_all { None } else { Some(true) };
        };
        outer.seen += 1;
        if lost_all {
            self.bytes.truncate(level.mark);
            self.at = end;
        } else {
            outer.kept += 1;
            self.copy(end);
        }
        Some(false)
    }

    fn element(&mut self, place: Range<usize>, fate: &Fate) {
        match fate {
            Fate::Cut => {}
            Fate::Keep => {
                self.separate(place.start);
                self.copy(place.end);
            }
            Fate::Replace(bytes) => {
                self.separate(place.start);
                self.bytes.extend_from_slice(bytes);
            }
        }
        self.at = place.end;
        if let Some(level) = self.open.last_mut() {
            level.seen += 1;
            level.kept += usize::from(*fate != Fate::Cut);
        }
    }

    /// Writes what stands before an element: white space, and a comma unless the element comes first now.
    fn separate(&mut self, start: usize) {
        let Some(level) = self.open.last() else { return self.copy(start) };
        let gap = self.line.get(self.at..start).unwrap_or_default();
        let comes_first = level.kept == 0;
        self.bytes.extend(gap.iter().filter(|byte| **byte != b',' || !comes_first));
        self.at = start;
    }

    fn copy(&mut self, until: usize) {
        self.bytes.extend_from_slice(self.line.get(self.at..until).unwrap_or_default());
        self.at = until;
    }
}
