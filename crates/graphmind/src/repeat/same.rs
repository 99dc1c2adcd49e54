//! Whether two JSON values are the same to a loop guard: what their canonical texts would say, without writing any
//! (wire §5.4). Stops at the first difference.

use std::collections::{HashMap, HashSet};

use lockgate_protocol::json::{Kind, Text, View};

/// Members named in `ignored` make no difference, at any depth.
pub(super) fn same(one: View<'_>, two: View<'_>, ignored: &[&str]) -> bool {
    below(one, two, (ignored, 0))
}

fn below(one: View<'_>, two: View<'_>, (ignored, depth): (&[&str], usize)) -> bool {
    if one.raw() == two.raw() {
        return true;
    }
    match (one.kind(), two.kind()) {
        (Kind::Array | Kind::Object, Kind::Array | Kind::Object) if depth > DEEPEST => true,
        (Kind::Number, Kind::Number) => one.f64() == two.f64(),
        (Kind::String, Kind::String) => strings(one, two),
        (Kind::Array, Kind::Array) => {
            let (mut ones, mut twos) = (one.items(), two.items());
            loop {
                match (ones.next(), twos.next()) {
                    (None, None) => return true,
                    (Some(one), Some(two)) if below(one, two, (ignored, depth + 1)) => {}
                    _ => return false,
                }
            }
        }
        (Kind::Object, Kind::Object) => objects(one, two, (ignored, depth + 1)),
        _ => false,
    }
}

/// Long texts are decoded only if their first difference may be one of spelling.
fn strings(one: View<'_>, two: View<'_>) -> bool {
    let (ones, twos) = (one.raw(), two.raw());
    let alike = ones.iter().zip(twos).take_while(|(one, two)| one == two).count();
    let escaped =
        |text: &[u8]| text.iter().take(alike + 1).skip(alike.saturating_sub(ESCAPE)).any(|byte| *byte == b'\\');
    (escaped(ones) || escaped(twos)) && one.text() == two.text()
}

fn objects(one: View<'_>, two: View<'_>, (ignored, depth): (&[&str], usize)) -> bool {
    let counts = |(name, _): &(View<'_>, View<'_>)| !ignored.iter().any(|ignored| name.is(ignored));
    let (ones, twos) = (one.pairs().filter(counts), two.pairs().filter(counts));
    // One program writes the members of its objects in one order. The names alone say whether these two do: looking at the
    // values twice would double the work at each level.
    if ones.clone().map(|(name, _)| name.raw()).eq(twos.clone().map(|(name, _)| name.raw())) {
        return in_order(ones.zip(twos), (ignored, depth));
    }
    let (ones, twos) = (sorted(one.members(), ignored), sorted(two.members(), ignored));
    let same = |((name, one), (other, two)): (&(Text, View<'_>), &(Text, View<'_>))| {
        name == other && below(*one, *two, (ignored, depth))
    };
    ones.len() == twos.len() && ones.iter().zip(&twos).all(same)
}

/// For members with the same names in the same order. Of a repeated name only the last value counts, in both.
fn in_order<'a>(
    mut pairs: impl Iterator<Item = ((View<'a>, View<'a>), (View<'a>, View<'a>))> + Clone,
    (ignored, depth): (&[&str], usize),
) -> bool {
    let mut overruled: Option<HashSet<*const u8>> = None;
    while let Some(((name, one), (_, two))) = pairs.next() {
        if below(one, two, (ignored, depth)) {
            continue;
        }
        if overruled.is_none() && !pairs.clone().any(|((later, _), _)| may_be(later, name)) {
            return false;
        }
        let later = pairs.clone().map(|((name, _), _)| name);
        if !overruled.get_or_insert_with(|| repeated(name, later)).contains(&name.raw().as_ptr()) {
            return false;
        }
    }
    true
}

/// Where those of the names stand that come once more.
fn repeated<'a>(first: View<'a>, later: impl Iterator<Item = View<'a>>) -> HashSet<*const u8> {
    let mut newest = HashMap::new();
    let names = std::iter::once(first).chain(later);
    names.filter_map(|name| newest.insert(name.text(), name.raw().as_ptr())).collect()
}

/// Whether two names may be the same; who looks closely has to decode them.
fn may_be(one: View<'_>, two: View<'_>) -> bool {
    one.raw() == two.raw() || one.raw().contains(&b'\\') || two.raw().contains(&b'\\')
}

/// By name; of repeated names the last counts.
fn sorted<'a>(members: impl Iterator<Item = (Text, View<'a>)>, ignored: &[&str]) -> Vec<(Text, View<'a>)> {
    let mut members: Vec<_> = members.filter(|(name, _)| !ignored.iter().any(|ignored| *name == *ignored)).collect();
    members.reverse();
    members.sort_by(|one, two| one.0.cmp(&two.0));
    members.dedup_by(|later, kept| later.0 == kept.0);
    members
}

/// Bytes of the longest escape, two surrogates, but for its last.
const ESCAPE: usize = 11;

/// What is in containers that lie deeper makes no difference.
pub(super) const DEEPEST: usize = 64;

#[cfg(test)]
mod tests {
    use lockgate_protocol::json::{Raw, canonical};
    use proptest::prelude::*;

    use super::super::sketch::Sketch;
    use super::same;

    const IGNORED: [&str; 1] = ["_meta"];

    fn agrees(one: &str, two: &str) -> bool {
        let (one, two) = (Raw::parse(one.to_owned()).unwrap(), Raw::parse(two.to_owned()).unwrap());
        let found = same(one.view(), two.view(), &IGNORED);
        assert_eq!(found, canonical(one.view(), &IGNORED) == canonical(two.view(), &IGNORED), "{one:?} and {two:?}");
        let [ones, twos] = [&one, &two].map(|raw| Sketch::of(raw.view(), &IGNORED));
        assert!(!found || !ones.differs(twos), "{one:?} and {two:?}");
        found
    }

    #[test]
    fn l02_key_order_spacing_and_spelling_make_no_difference() {
        for (one, two, expected) in [
            (r#"{"a":1,"b":[1,2]}"#, r#"{ "b":[1.0,2], "a":1e0 }"#, true),
            (r#"{"a":1}"#, r#"{"a":2}"#, false),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#, false),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, false),
            ("[1,2]", "[1,2,3]", false),
            ("[1,2,3]", "[1,2]", false),
            (r#""é""#, r#""\u00e9""#, true),
            (r#""\ud800""#, r#""\uD800""#, true),
            (r#""x\ud83d\ude00""#, r#""x\ud83d\uDE00""#, true),
            (r#""x\ud83d\ude00""#, r#""x😀""#, true),
            (r#""x\ud83d\ude00y""#, r#""x\ud83d\ude00z""#, false),
            (r#""\/a""#, r#""/a""#, true),
            (r#""a""#, r#""ab""#, false),
            (r#""a\n""#, r#""a\u000a""#, true),
            (r#""\ud800""#, r#""\udc00""#, false),
            (r#"{"\u0061":1}"#, r#"{"a":1}"#, true),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, true),
            (r#"{"a":1,"a":2}"#, r#"{"a":1}"#, false),
            (r#"{"a":1,"b":1,"a":2}"#, r#"{"b":1,"a":2}"#, true),
            (r#"{"a":1,"b":1,"a":2}"#, r#"{"a":2,"b":1}"#, true),
            (r#"{"a":2,"b":1}"#, r#"{"a":1,"b":1,"\u0061":2}"#, true),
            (r#"{"a":1,"b":1,"b":2}"#, r#"{"a":2,"b":2}"#, false),
            (r#"{"a":1,"b":1,"a":2,"c":1}"#, r#"{"a":3,"b":1,"a":2,"c":1}"#, true),
            (r#"{"a":1,"b":1,"a":2,"c":1}"#, r#"{"a":3,"b":1,"a":2,"c":2}"#, false),
            (r#"{"a":1,"b":1,"\u0061":2,"b":1}"#, r#"{"a":3,"b":2,"\u0061":2,"b":1}"#, true),
            (r#"{"a":1,"b":1,"\u0061":2,"b":1}"#, r#"{"a":3,"b":2,"\u0061":2,"b":2}"#, false),
            (r#"{"a":1,"\u0062":1}"#, r#"{"a":2,"\u0062":1}"#, false),
            (r#"{"a":1}"#, "[1]", false),
            ("-0", "0", true),
            ("10000000000000001", "10000000000000000", true),
            ("null", "false", false),
        ] {
            assert_eq!(agrees(one, two), expected, "{one} and {two}");
        }
    }

    #[test]
    fn l03_only_the_ignored_members_are_left_out() {
        assert!(agrees(r#"{"a":{"_meta":{"progressToken":1}}}"#, r#"{"a":{"_meta":2}}"#));
        assert!(agrees(r#"{"_meta":1,"a":1}"#, r#"{"a":1}"#));
        assert!(!agrees(r#"{"cursor":"1"}"#, r#"{"cursor":"2"}"#));
    }

    #[test]
    fn l15_what_is_in_containers_below_level_64_makes_no_difference() {
        let deep = |levels: usize, core: &str| format!("{}{core}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!agrees(&deep(65, "1"), &deep(65, "2")));
        assert!(!agrees(&deep(65, "1"), &deep(65, "{}")));
        assert!(agrees(&deep(66, "1"), &deep(66, "2")));
        assert!(agrees(&deep(65, "{}"), &deep(65, "[1]")));
        assert!(agrees(&deep(66, "1"), &deep(4000, "2")));
    }

    #[test]
    fn names_that_have_to_be_decoded_do_not_double_the_work_at_each_level() {
        for sibling in [r#""\u0062":1"#, r#""a":1,"a":2"#] {
            let nested = |core: &str| {
                let levels = 60;
                format!("{}{core}{}", r#"{"a":"#.repeat(levels), format!(",{sibling}}}").repeat(levels))
            };
            agrees(&nested("1"), &nested("2"));
            agrees(&nested(r#"{"x":1,"y":2}"#), &nested(r#"{"y":2,"x":1}"#));
        }
        let turned = |core: &str| format!("{}{core}{}", r#"{"a":"#.repeat(60), r#","c":2,"b":1}"#.repeat(60));
        let nested = |core: &str| format!("{}{core}{}", r#"{"a":"#.repeat(60), r#","b":1,"c":2}"#.repeat(60));
        assert!(agrees(&nested("1"), &turned("1")));
        assert!(!agrees(&nested("1"), &turned("2")));
    }

    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            (0..3_i32).prop_map(|number| number.to_string()),
            (0..3_i32).prop_map(|number| format!("{number}.0")),
            "[ab]{0,2}".prop_map(|text| format!("\"{text}\"")),
            prop::collection::vec(
                prop_oneof![Just("a"), Just("\\u0061"), Just("\\ud83d"), Just("\\uDE00"), Just("\\ude00")],
                0..4
            )
            .prop_map(|pieces| format!("\"{}\"", pieces.concat())),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            let name = prop_oneof![Just("a"), Just("b"), Just("\\u0061"), Just("_meta")];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" ,"))),
                prop::collection::vec((name, inner), 0..4).prop_map(|members| {
                    let members: Vec<String> =
                        members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_canonical_text(one in json(), two in json()) {
            agrees(&one, &two);
            prop_assert!(agrees(&one, &one));
        }
    }
}
