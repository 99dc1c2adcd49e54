//! A number made of a JSON value: the same for values that are the same to a loop guard (wire §5.4), and nearly always
//! another for others, so that most of what differs needs no closer look.

use foldhash::fast::FixedState;
use lockgate_protocol::json::{Kind, View};
use std::hash::BuildHasher;

/// What is known of a value without looking at it again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sketch {
    Known(u64),
    /// Only a close look can tell.
    Unknown,
}

impl Sketch {
    /// Members named in `ignored` make no difference, at any depth.
    pub(super) fn of(view: View<'_>, ignored: &[&str]) -> Sketch {
        value(view, (ignored, 0)).map_or(Sketch::Unknown, Sketch::Known)
    }

    /// Whether the two values are different for certain.
    pub(super) fn differs(self, other: Sketch) -> bool {
        match (self, other) {
            (Sketch::Known(one), Sketch::Known(two)) => one != two,
            (Sketch::Unknown, _) | (_, Sketch::Unknown) => false,
        }
    }
}

fn value(view: View<'_>, (ignored, depth): (&[&str], usize)) -> Option<u64> {
    match view.kind() {
        Kind::Array | Kind::Object if depth > super::same::DEEPEST => Some(0),
        Kind::Null => Some(mixed(("null", 0))),
        Kind::Bool => Some(mixed(("bool", u64::from(view.bool() == Some(true))))),
        // The two zeros are one.
        Kind::Number => view.f64().map(|number| mixed(("number", (number + 0.0).to_bits()))),
        Kind::String => Some(text(view)),
        Kind::Array => {
            let mut items = view.items();
            items.try_fold(mixed(("array", 0)), |sum, item| Some(mixed((sum, value(item, (ignored, depth + 1))?))))
        }
        Kind::Object => object(view, (ignored, depth + 1)),
    }
}

/// The order of members makes no difference. Of repeated names the last would count: those are left to the close look.
fn object(view: View<'_>, (ignored, depth): (&[&str], usize)) -> Option<u64> {
    let (mut names, mut count) = ([0_u64; FEW], 0_usize);
    let mut sum = mixed(("object", 0));
    for (name, member) in view.pairs() {
        if ignored.iter().any(|ignored| name.is(ignored)) {
            continue;
        }
        let name = text(name);
        if names.iter().take(count).any(|known| *known == name) {
            return None;
        }
        *names.get_mut(count)? = name;
        count += 1;
        sum = sum.wrapping_add(mixed((name, value(member, (ignored, depth))?)));
    }
    Some(sum)
}

/// However it is spelled. Texts with lone surrogates are all alike here.
fn text(view: View<'_>) -> u64 {
    view.str().map_or(1, |text| mixed(&*text))
}

fn mixed(what: impl std::hash::Hash) -> u64 {
    FixedState::default().hash_one(what)
}

/// Members an object may have before telling repeated names apart is too much for a first look.
const FEW: usize = 32;

#[cfg(test)]
mod tests {
    use lockgate_protocol::json::Raw;

    use super::Sketch;

    fn differ(one: &str, two: &str) -> bool {
        let [one, two] = [one, two].map(|text| Sketch::of(Raw::parse(text.to_owned()).unwrap().view(), &["_meta"]));
        one.differs(two)
    }

    #[test]
    fn what_differs_is_nearly_always_told_apart() {
        for (one, two) in [
            (r#"{"a":1}"#, r#"{"a":2}"#),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            (r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#),
            (r#"{"a":{"b":1}}"#, r#"{"a":{"b":2}}"#),
            ("[1,2]", "[2,1]"),
            ("[[1],2]", "[1,[2]]"),
            (r#""1""#, "1"),
            ("null", "false"),
            ("[]", "{}"),
            ("[]", "[null]"),
        ] {
            assert!(differ(one, two), "{one} and {two}");
        }
    }

    #[test]
    fn what_it_cannot_tell_is_left_to_a_close_look() {
        let many = |last: u32| {
            let members: Vec<String> = (0..33).map(|number| format!(r#""{number}":{}"#, number + last)).collect();
            format!("{{{}}}", members.join(","))
        };
        assert!(!differ(&many(0), &many(1)));
        assert!(!differ(r#"{"a":1,"a":2}"#, r#"{"a":3}"#));
        assert!(!differ(r#"{"a":1,"\u0061":2}"#, r#"{"a":2}"#));
        assert!(!differ(r#""\ud800""#, r#""\udc00""#));
    }
}
