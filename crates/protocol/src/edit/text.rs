//! Texts of refusals: one line, no control or direction characters, at most 200 UTF-16 units (wire §3.5).

/// Makes a text fit to be shown in a refusal; nothing when nothing is left of it.
pub fn clean(text: &str) -> Option<String> {
    let mut cleaned = String::with_capacity(text.len().min(LONGEST * 3));
    for word in text.split(|one: char| one.is_whitespace() || unfit(one)).filter(|word| !word.is_empty()) {
        if !cleaned.is_empty() {
            cleaned.push(' ');
        }
        cleaned.push_str(word);
        if cleaned.len() > LONGEST * 4 {
            break;
        }
    }
    if cleaned.encode_utf16().count() > LONGEST {
        let mut room = LONGEST - 1;
        cleaned = cleaned
            .chars()
            .take_while(|one| {
                let fits = one.len_utf16() <= room;
                room = room.saturating_sub(one.len_utf16());
                fits
            })
            .collect();
        cleaned.push('…');
    }
    (!cleaned.is_empty()).then_some(cleaned)
}

fn unfit(one: char) -> bool {
    one.is_control() || matches!(one, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(clean(text).as_deref(), expected);
    }

    #[test]
    fn texts_are_one_plain_line() {
        check("  a\n\tb\u{7}c\u{85}d  ", Some("a b c d"));
        check("x\u{202E}y\u{2066}z\u{200F}", Some("x y z"));
        check("\u{0}\r\n ", None);
        check("", None);
    }

    #[test]
    fn long_texts_end_in_an_ellipsis_and_never_split_a_pair() {
        let exact = "x".repeat(200);
        check(&exact, Some(&exact));
        check(&"x".repeat(201), Some(&format!("{}…", "x".repeat(199))));
        let pairs = format!("{}😀😀", "x".repeat(198));
        check(&pairs, Some(&format!("{}…", "x".repeat(198))));
        check(&"é".repeat(5_000), Some(&format!("{}…", "é".repeat(199))));
        check(&"a ".repeat(5_000), Some(&format!("{}a…", "a ".repeat(99))));
    }
}
