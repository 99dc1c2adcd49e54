//! Messages: what a line says is read once more from what we make of it, and a change touches nothing but its place.

use bytes::Bytes;
use lockgate_protocol::{
    json::Limits,
    rpc::{Content, Fate, Frame, Id, Message, Request, Source, Spoken, assemble, with_id},
};

/// A line is refused, or is one message or several that can be cut, replaced and asked again.
pub fn rpc(data: &[u8]) {
    let line = Bytes::copy_from_slice(data);
    let Ok(frame) = Frame::read(&line, Limits::FRAME) else { return };
    match frame.content {
        Content::Single(spoken) => {
            assert_eq!(spoken.source.bytes(), &line, "a message alone is its line");
            if let Message::Request(request) = &spoken.message {
                asked_otherwise(request, &spoken.source);
            }
        }
        Content::Batch { whole, elements } => {
            assert_eq!(whole.bytes(), &line, "a batch is its line");
            put_together(&whole, &elements);
        }
    }
}

fn asked_otherwise(request: &Request, source: &Source) {
    let other = Id::from(7);
    let again = with_id(source.raw().view(), &other).expect("a request is an object");
    let again = read_request(&again);
    assert_eq!((&again.id, &again.method), (&other, &request.method));
    assert_eq!(again.params, request.params, "only the id is another");
    let Some(params) = &request.params else { return };
    let edited = source.replace(params.view(), EMPTY);
    assert_eq!(edited.len(), source.bytes().len() - params.len() + EMPTY.len());
    let edited = read_request(&edited);
    assert_eq!((&edited.id, &edited.method), (&request.id, &request.method));
    assert_eq!(edited.params.map(|params| params.as_bytes().to_vec()).as_deref(), Some(EMPTY));
}

fn put_together(whole: &Source, elements: &[Spoken]) {
    let keep = vec![Fate::Keep; elements.len()];
    assert_eq!(assemble(whole, &keep).as_ref(), Some(whole.bytes()));
    if elements.is_empty() {
        return;
    }
    if let Some(left) = assemble(whole, &vec![Fate::Cut; elements.len()]) {
        assert!(read_batch(&left).is_empty(), "only arrays that were empty are left");
    }
    for at in [0, elements.len() / 2, elements.len() - 1] {
        let mut fates = keep.clone();
        fates[at] = Fate::Cut;
        let rest: Vec<&Spoken> =
            elements.iter().enumerate().filter(|(place, _)| *place != at).map(|(_, spoken)| spoken).collect();
        match assemble(whole, &fates) {
            Some(cut) => same(&read_batch(&cut), &rest),
            None => assert!(rest.is_empty(), "elements are lost"),
        }
        fates[at] = Fate::Replace(Bytes::from_static(EMPTY));
        let replaced = read_batch(&assemble(whole, &fates).expect("nothing is cut"));
        assert_eq!(replaced[at].source.bytes(), EMPTY);
        assert_eq!(replaced.len(), elements.len());
    }
}

fn same(found: &[Spoken], expected: &[&Spoken]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.source.bytes(), expected.source.bytes(), "what stays is as it came");
    }
}

fn read_request(line: &Bytes) -> Request {
    match read(line) {
        Content::Single(Spoken { message: Message::Request(request), .. }) => request,
        other => panic!("a request stays one: {other:?}"),
    }
}

fn read_batch(line: &Bytes) -> Vec<Spoken> {
    match read(line) {
        Content::Batch { elements, .. } => elements,
        other @ Content::Single(_) => panic!("a batch stays one: {other:?}"),
    }
}

fn read(line: &Bytes) -> Content {
    Frame::read(line, Limits::FRAME).expect("what was taken is taken again").content
}

const EMPTY: &[u8] = b"{}";
