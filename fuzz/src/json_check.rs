//! The reader: what it takes can be walked, kept, written and read again; what another strict reader takes, it takes.

use bytes::Bytes;
use lockgate_protocol::json::{Kind, Limits, Raw, View, canonical, write};

/// Any bytes are refused, or are one value in every respect.
pub fn json_check(data: &[u8]) {
    let checked = Raw::check(Bytes::copy_from_slice(data), Limits::FRAME);
    let other = serde_json::from_slice::<serde_json::Value>(data);
    let Ok(checked) = checked else {
        assert!(other.is_err(), "another reader takes what this one refuses");
        return;
    };
    let raw = checked.raw;
    walk(raw.view());
    let again = Raw::check(raw.bytes().clone(), Limits::FRAME).expect("what was taken is taken again");
    assert_eq!(again.raw, raw);
    assert_eq!(again.duplicates.len(), checked.duplicates.len());
    canonical(raw.view(), &[]);
    let Ok(value) = raw.to_value() else {
        assert!(checked.depth > VALUE_DEPTH, "a shallow text is a value");
        return;
    };
    let mut written = Vec::new();
    write(&value, &mut written);
    let written = Raw::parse(written).expect("what we write, we read");
    assert_eq!(written.to_value().ok(), Some(value));
}

/// Every part is asked for everything; parts of parts wait on a list, not on the stack.
fn walk(whole: View<'_>) {
    let mut waiting = vec![whole];
    while let Some(view) = waiting.pop() {
        assert!(!view.raw().is_empty());
        let _ = (view.str(), view.text(), view.number(), view.bool());
        match view.kind() {
            Kind::Array => waiting.extend(view.items()),
            Kind::Object => {
                for (name, value) in view.members() {
                    if let Some(name) = name.as_str() {
                        assert!(view.get(name).is_some(), "a member can be asked for by its name");
                    }
                    waiting.push(value);
                }
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => {}
        }
    }
}

/// deeper texts have views, but no values
const VALUE_DEPTH: usize = 512;
