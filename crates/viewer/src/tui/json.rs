//! JSON laid out for reading: two spaces a level, long lists cut, every string escaped. The walk is bounded in lines and
//! bytes, so a payload of megabytes costs no more than a screenful of it.

use lockgate_protocol::json::{Kind, Raw, View};

use super::words::visible;

/// The lines of a value, at most `most`; then one that says so.
pub(crate) fn lines(raw: &Raw, most: usize) -> Vec<String> {
    let mut page = Page { lines: Vec::new(), most, whole: Whole::No };
    page.value(raw.view(), "", "", 0);
    if page.lines.len() > most {
        page.lines.truncate(most);
        page.lines.push(format!("… cut: {} bytes in all", raw.len()));
    }
    page.lines
}

/// All of a value, as JSON that can be edited and read back.
pub(crate) fn pretty(raw: &Raw) -> String {
    let mut page = Page { lines: Vec::new(), most: usize::MAX, whole: Whole::Yes };
    page.value(raw.view(), "", "", 0);
    page.lines.join("\n") + "\n"
}

struct Page {
    lines: Vec<String>,
    most: usize,
    whole: Whole,
}

/// Whether every byte of the value must be there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whole {
    Yes,
    No,
}

impl Page {
    fn value(&mut self, view: View<'_>, name: &str, comma: &str, depth: usize) {
        if !self.has_room() {
            return;
        }
        let indent = "  ".repeat(depth);
        let (open, close) = match view.kind() {
            Kind::Object => ("{", "}"),
            Kind::Array => ("[", "]"),
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
                self.lines.push(format!("{indent}{name}{}{comma}", self.text(view)));
                return;
            }
        };
        let empty = view.items().next().is_none() && view.pairs().next().is_none();
        if empty || depth >= DEEPEST {
            let inside = match self.whole {
                _ if empty => format!("{open}{close}"),
                Whole::Yes => self.text(view),
                Whole::No => format!("{open}…{close}"),
            };
            self.lines.push(format!("{indent}{name}{inside}{comma}"));
            return;
        }
        self.lines.push(format!("{indent}{name}{open}"));
        let mut items = view.items().peekable();
        while let Some(item) = items.next().filter(|_| self.has_room()) {
            self.value(item, "", if items.peek().is_some() { "," } else { "" }, depth + 1);
        }
        let mut pairs = view.pairs().peekable();
        while let Some((name, value)) = pairs.next().filter(|_| self.has_room()) {
            let name = format!("{}: ", self.text(name));
            self.value(value, &name, if pairs.peek().is_some() { "," } else { "" }, depth + 1);
        }
        self.lines.push(format!("{indent}{close}{comma}"));
    }

    fn has_room(&self) -> bool {
        self.lines.len() <= self.most
    }

    /// The text as it came, made safe; inside JSON the escapes mean the same.
    fn text(&self, view: View<'_>) -> String {
        let raw = view.raw();
        if raw.len() <= LONGEST || self.whole == Whole::Yes {
            return visible(&String::from_utf8_lossy(raw)).into_owned();
        }
        let head = String::from_utf8_lossy(raw.get(..LONGEST).unwrap_or(raw)).into_owned();
        format!("{}… ({} bytes)", visible(head.trim_end_matches('\u{fffd}')), raw.len())
    }
}

/// Bytes of a scalar that are shown.
const LONGEST: usize = 4_000;

/// Levels that are shown; recursion ends here.
const DEEPEST: usize = 40;

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn shown(text: &str, most: usize) -> String {
        lines(&Raw::parse(text.to_owned()).expect("JSON"), most).join("\n")
    }

    #[test]
    fn values_are_laid_out_and_escaped() {
        assert_snapshot!(shown(&format!(r#"{{"a": [1.50, {{}}, []], "b\u001b": "x\n{}y", "c": {{"d": null}}}}"#, '\u{202e}'), 99), @r#"
        {
          "a": [
            1.50,
            {},
            []
          ],
          "b\u001b": "x\n\u202ey",
          "c": {
            "d": null
          }
        }
        "#);
        assert_snapshot!(shown("7", 99), @"7");
    }

    #[test]
    fn large_values_are_cut() {
        assert_snapshot!(shown("[1, 2, 3, 4, 5]", 3), @r"
        [
          1,
          2,
        … cut: 15 bytes in all
        ");
        let long = shown(&format!("\"{}é\"", "x".repeat(3_998)), 9);
        assert!(long.ends_with("x… (4002 bytes)"), "{long}");
        let deep = shown(&format!("{}1{}", "[".repeat(4_000), "]".repeat(4_000)), 9_999);
        assert!(deep.contains("[…]"), "{deep}");
    }

    #[test]
    fn what_is_edited_is_whole() {
        let text = format!(r#"{{"a":{}"{}"{},"b":[1,{{}}]}}"#, "[".repeat(60), '\u{202e}', "]".repeat(60));
        let raw = Raw::parse(text).expect("JSON");
        let again = Raw::parse(pretty(&raw)).expect("JSON again");
        assert_eq!(again.to_value(), raw.to_value());
        assert!(!pretty(&raw).contains('\u{202e}'));
    }
}
