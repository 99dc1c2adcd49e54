//! Arrays of messages: each element stands at the gate alone, and the answers we give in place of the server join the
//! server's own (hub §12.5).

use std::collections::BTreeMap;
use std::vec::IntoIter;

use bytes::Bytes;
use lockgate_protocol::rpc::{Fate, Source, Spoken, assemble};

use super::action::Passage;
use super::{Back, Exchange, Settled};
use crate::side::Side;

/// An array on its way through the gate.
#[derive(Debug)]
pub(super) struct Batch {
    whole: Source,
    pub(super) rest: IntoIter<Spoken>,
    fates: Vec<Fate>,
    /// What we answered in place of the other side.
    answers: Vec<Bytes>,
    pub(super) group: u64,
}

impl Batch {
    pub(super) fn new(whole: Source, elements: Vec<Spoken>, group: u64) -> Batch {
        let fates = Vec::with_capacity(elements.len());
        Batch { whole, rest: elements.into_iter(), fates, answers: Vec::new(), group }
    }

    /// One element is dealt with. What has to go back to its sender alone is handed back.
    pub(super) fn settle(&mut self, settled: Settled) -> Option<Bytes> {
        self.fates.push(settled.fate);
        match settled.back? {
            Back::Answer(answer) => {
                self.answers.push(answer);
                None
            }
            Back::Again(request) => Some(request),
        }
    }
}

/// Which requests came in one array, and which answers of ours wait for theirs.
#[derive(Debug, Default)]
pub(super) struct Groups {
    last: u64,
    open: BTreeMap<u64, Group>,
    current: Option<u64>,
    /// Groups that an answer of this frame belongs to.
    touched: Vec<u64>,
}

#[derive(Debug, Default)]
struct Group {
    /// Requests that reached the other side and have no answer yet.
    outstanding: usize,
    /// Our answers, and whose they are.
    waiting: Vec<(Side, Bytes)>,
}

impl Groups {
    pub(super) fn open(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn enter(&mut self, group: u64) {
        self.current = Some(group);
    }

    pub(super) fn leave(&mut self) {
        self.current = None;
    }

    /// Whether answers of ours wait to go with others.
    pub(super) fn wait_for_any(&self) -> bool {
        self.open.values().any(|group| !group.waiting.is_empty())
    }

    /// The group of the message that is being looked at.
    pub(super) fn current(&self) -> Option<u64> {
        self.current
    }

    /// A request of the group goes to the other side.
    pub(super) fn forwarded(&mut self, group: Option<u64>) {
        if let Some(group) = group {
            self.open.entry(group).or_default().outstanding += 1;
        }
    }

    /// A request of the group needs no answer any more.
    pub(super) fn closed(&mut self, group: Option<u64>) {
        let Some(group) = group else { return };
        let Some(found) = self.open.get_mut(&group) else { return };
        found.outstanding = found.outstanding.saturating_sub(1);
        if found.outstanding == 0 && found.waiting.is_empty() {
            self.open.remove(&group);
        } else if !found.waiting.is_empty() {
            self.touched.push(group);
        }
    }

    /// Keeps answers until the other side answers its part; hands them back if it was asked nothing.
    fn wait(&mut self, group: u64, asker: Side, answers: Vec<Bytes>) -> Vec<Bytes> {
        match self.open.get_mut(&group) {
            Some(found) => {
                found.waiting = answers.into_iter().map(|answer| (asker, answer)).collect();
                Vec::new()
            }
            None => answers,
        }
    }

    /// The answers whose time has come, and whose they are.
    pub(super) fn due(&mut self) -> Vec<(Side, Bytes)> {
        let mut due = Vec::new();
        for group in std::mem::take(&mut self.touched) {
            let Some(found) = self.open.get_mut(&group) else { continue };
            due.append(&mut found.waiting);
            if found.outstanding == 0 {
                self.open.remove(&group);
            }
        }
        due
    }
}

impl Exchange {
    /// All elements have their outcome.
    pub(super) fn assemble(&mut self, from: Side, batch: Batch) {
        let Batch { whole, fates, answers, group, .. } = batch;
        let (joining, others): (Vec<_>, Vec<_>) = self.groups.due().into_iter().partition(|(to, _)| *to != from);
        let joining: Vec<Bytes> = joining.into_iter().map(|(_, answer)| answer).collect();
        match (assemble(&whole, &fates), joining.is_empty()) {
            (Some(bytes), true) if bytes == *whole.bytes() => self.relay(from, bytes),
            (Some(_), false) if self.passage != Passage::Waits => self.send(from.other(), array(&joining)),
            (Some(bytes), _) => self.send(from.other(), joined(&bytes, &joining)),
            (None, true) => {}
            (None, false) => self.send(from.other(), array(&joining)),
        }
        let answers = self.groups.wait(group, from, answers);
        if !answers.is_empty() {
            self.send(from, array(&answers));
        }
        for (to, answer) in others {
            self.send(to, answer);
        }
    }
}

fn array(messages: &[Bytes]) -> Bytes {
    let inside = messages.join(&b","[..]);
    Bytes::from([b"[", &inside[..], b"]"].concat())
}

/// An array with more messages at its end; what follows it stays.
fn joined(line: &Bytes, more: &[Bytes]) -> Bytes {
    let Some(bracket) = line.iter().rposition(|byte| *byte == b']').filter(|_| !more.is_empty()) else {
        return line.clone();
    };
    let (array, rest) = line.split_at(bracket);
    let empty = array.trim_ascii_end().ends_with(b"[");
    let comma: &[u8] = if empty { b"" } else { b"," };
    Bytes::from([array, comma, &more.join(&b","[..]), rest].concat())
}
