//! Decodes the inside of a checked string literal piece by piece, so that nobody has to allocate only to compare or count.

use super::scan;

/// One piece of a decoded string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Bytes that stand for themselves; whole UTF-8 characters.
    Run(&'a [u8]),
    /// One escaped character, surrogate pairs already joined.
    Char(char),
    /// An escaped surrogate without its other half.
    Lone(u16),
}

/// Iterator over the pieces of a checked string literal.
#[derive(Debug, Clone)]
pub(crate) struct Pieces<'a> {
    inside: &'a [u8],
    at: usize,
}

impl<'a> Pieces<'a> {
    /// `literal` includes its quotes.
    pub(crate) fn of(literal: &'a [u8]) -> Pieces<'a> {
        let end = literal.len().saturating_sub(1);
        Pieces { inside: literal.get(1..end).unwrap_or_default(), at: 0 }
    }

    /// The whole inside, when it holds no escape and therefore stands for itself.
    pub(crate) fn plain(&self) -> Option<&'a [u8]> {
        (!has_escape(self.inside)).then_some(self.inside)
    }

    fn escape(&mut self) -> Piece<'a> {
        let letter = self.inside.get(self.at + 1).copied().unwrap_or(b'\\');
        self.at += 2;
        let plain = match letter {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unit(),
            other => char::from(other),
        };
        Piece::Char(plain)
    }

    fn unit(&mut self) -> Piece<'a> {
        let first = hex4(self.inside, self.at);
        self.at += 4;
        if let Some(plain) = char::from_u32(u32::from(first)) {
            return Piece::Char(plain);
        }
        let escaped = self.inside.get(self.at..self.at + 2) == Some(b"\\u");
        let second = if escaped { hex4(self.inside, self.at + 2) } else { 0 };
        match join(first, second) {
            Some(joined) => {
                self.at += 6;
                Piece::Char(joined)
            }
            None => Piece::Lone(first),
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = self.inside.get(self.at..).filter(|rest| !rest.is_empty())?;
        if rest.first() == Some(&b'\\') {
            return Some(self.escape());
        }
        let mut end = self.at;
        // A run ends at an escape; quotes and controls cannot stand in a checked inside, but then they are kept.
        loop {
            end = scan::run_end(self.inside, end);
            match self.inside.get(end) {
                Some(b'\\') | None => break,
                Some(_) => end += 1,
            }
        }
        let run = self.inside.get(self.at..end).unwrap_or_default();
        self.at = end;
        Some(Piece::Run(run))
    }
}

/// The character a surrogate pair stands for; none when the two are no pair.
pub(super) fn join(high: u16, low: u16) -> Option<char> {
    char::decode_utf16([high, low]).next().and_then(Result::ok).filter(|joined| u32::from(*joined) > 0xFFFF)
}

/// Four hexadecimal digits as a UTF-16 unit; anything that is no digit counts as zero.
pub(super) fn hex4(text: &[u8], from: usize) -> u16 {
    let digits = text.get(from..from + 4).unwrap_or_default();
    digits.iter().fold(0_u16, |sum, &digit| {
        let value = char::from(digit).to_digit(16).and_then(|value| u16::try_from(value).ok());
        (sum << 4) | value.unwrap_or(0)
    })
}

fn has_escape(inside: &[u8]) -> bool {
    memchr::memchr(b'\\', inside).is_some()
}
