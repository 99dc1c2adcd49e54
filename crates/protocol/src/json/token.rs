//! Walks checked text once, token by token, for whoever would otherwise have to recurse.

use super::scan;
use super::view::View;

/// One token of checked text; commas, colons and white space are passed over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Token<'a> {
    /// `[`
    OpenArray,
    /// `{`
    OpenObject,
    /// `]`
    CloseArray,
    /// `}`
    CloseObject,
    /// A member name, as a string.
    Name(View<'a>),
    /// A string, number, `true`, `false` or `null`.
    Scalar(View<'a>),
}

/// The tokens of one value, in order.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of(view: View<'a>) -> Tokens<'a> {
        Tokens { text: view.raw(), at: 0 }
    }

    /// Byte offset of what comes next.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    /// Byte offset after a token that came from here.
    pub(crate) fn end_of(&self, token: View<'a>) -> usize {
        let start = token.raw().as_ptr() as usize - self.text.as_ptr() as usize;
        start + token.raw().len()
    }

    /// Passes over the rest of the container that was opened last.
    pub(crate) fn leave(&mut self) {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.next() {
                Some(Token::OpenArray | Token::OpenObject) => depth += 1,
                Some(Token::CloseArray | Token::CloseObject) => depth -= 1,
                Some(Token::Name(_) | Token::Scalar(_)) => {}
                None => return,
            }
        }
    }

    fn string(&mut self) -> Token<'a> {
        let end = scan::string_end(self.text, self.at);
        let literal = View::of_checked(self.text.get(self.at..end).unwrap_or_default());
        self.at = scan::space_end(self.text, end);
        if self.text.get(self.at) == Some(&b':') {
            self.at += 1;
            return Token::Name(literal);
        }
        Token::Scalar(literal)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t' | b',') = self.text.get(self.at) {
            self.at += 1;
        }
        let bracket = match self.text.get(self.at)? {
            b'[' => Token::OpenArray,
            b'{' => Token::OpenObject,
            b']' => Token::CloseArray,
            b'}' => Token::CloseObject,
            b'"' => return Some(self.string()),
            _ => {
                let end = scan::scalar_end(self.text, self.at);
                let scalar = self.text.get(self.at..end).unwrap_or_default();
                self.at = end;
                return Some(Token::Scalar(View::of_checked(scalar)));
            }
        };
        self.at += 1;
        Some(bracket)
    }
}
