//! The merge rule for arguments: proposed top-level members replace live ones whole (wire §3.4).

use std::collections::{HashMap, HashSet};

use super::Refusal;
use crate::debug::RefusalCode;
use crate::json::{Kind, Raw, Text, View};

/// Whether the person could see the live input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// It was recorded as it is.
    No,
    /// A switch kept it back: it contributes nothing, or refusing and running would tell what it holds.
    Yes,
}

/// The live object's members overlaid by the proposed ones. Texts of values stay as they were spelled.
///
/// # Errors
/// `shape` unless the proposal is an object.
pub fn merge(live: Option<View<'_>>, proposed: View<'_>, hidden: Hidden) -> Result<Raw, Refusal> {
    if proposed.kind() != Kind::Object {
        return Err(Refusal::new(RefusalCode::Shape, "the edited input must be a JSON object"));
    }
    // Of repeated names the last value counts, at the first one's place.
    let replaced: HashMap<Text, View<'_>> = proposed.members().collect();
    let kept = if hidden == Hidden::No { live } else { None };
    let mut written = HashSet::new();
    let mut merged = vec![b'{'];
    let live_values: HashMap<Text, View<'_>> = kept.into_iter().flat_map(View::members).collect();
    let names = kept.into_iter().chain([proposed]).flat_map(View::pairs);
    for (literal, value) in names {
        let Some(name) = literal.text() else { continue };
        let value = replaced.get(&name).or_else(|| live_values.get(&name)).copied().unwrap_or(value);
        if !written.insert(name) {
            continue;
        }
        if merged.len() > 1 {
            merged.push(b',');
        }
        merged.extend_from_slice(literal.raw());
        merged.push(b':');
        merged.extend_from_slice(value.raw());
    }
    merged.push(b'}');
    Ok(Raw::trusted(merged))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(live: &str, proposed: &str, hidden: Hidden, expected: Result<&str, RefusalCode>) {
        let raw = |text: &str| Raw::parse(text.to_owned()).expect("a JSON text");
        let live = (!live.is_empty()).then(|| raw(live));
        let merged = merge(live.as_ref().map(Raw::view), raw(proposed).view(), hidden);
        let shown = merged.map(|merged| format!("{merged:?}")).map_err(|refusal| refusal.code);
        assert_eq!(shown.as_deref(), expected.as_ref().map(|text| &**text));
    }

    #[test]
    fn proposed_members_replace_live_ones_whole() {
        check(r#"{"a":1.50,"b":{"c":1}}"#, r#"{"b":{},"d":1e400}"#, Hidden::No, Ok(r#"{"a":1.50,"b":{},"d":1e400}"#));
        check(r#"{"a":1}"#, "{}", Hidden::No, Ok(r#"{"a":1}"#));
        check("", r#"{"a":1}"#, Hidden::No, Ok(r#"{"a":1}"#));
        check("[1]", r#"{"a":1}"#, Hidden::No, Ok(r#"{"a":1}"#));
        check(r#"{"\u0061":1}"#, r#"{"a":2}"#, Hidden::No, Ok(r#"{"\u0061":2}"#));
        check(r#"{"a":1,"a":2}"#, r#"{"b":3,"b":4}"#, Hidden::No, Ok(r#"{"a":2,"b":4}"#));
    }

    #[test]
    fn hidden_values_contribute_nothing() {
        check(r#"{"secret":1,"a":1}"#, r#"{"a":2}"#, Hidden::Yes, Ok(r#"{"a":2}"#));
    }

    #[test]
    fn only_objects_can_be_proposed() {
        for proposed in ["null", "[]", "\"x\"", "1"] {
            check("{}", proposed, Hidden::No, Err(RefusalCode::Shape));
        }
    }
}
