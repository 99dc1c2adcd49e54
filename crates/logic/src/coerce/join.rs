//! How arrays and objects read as text: elements joined by commas, `[object Object]` for an object.

use lockgate_protocol::json::{Kind, Text};

use crate::budget::Budget;
use crate::coerce;
use crate::datum::{Datum, Form, MAX_NESTING};
use crate::eval::EvalError;

/// A text that grows piece by piece and pays for its length.
pub(crate) struct Join<'b> {
    budget: &'b mut Budget,
    whole: String,
    /// Taken up at the first piece that Unicode text cannot hold; the two halves of a pair may come in two pieces.
    units: Option<Vec<u16>>,
}

impl<'b> Join<'b> {
    pub(crate) fn new(budget: &'b mut Budget) -> Self {
        Self { budget, whole: String::new(), units: None }
    }

    pub(crate) fn done(self) -> Text {
        match self.units {
            None => Text::from(self.whole),
            Some(units) => Text::from_utf16(&units),
        }
    }

    /// One member of a joined array: nothing for null and undefined, else its text.
    pub(crate) fn element(&mut self, datum: &Datum<'_>) -> Result<(), EvalError> {
        self.member(datum, 0)
    }

    /// An array or an object.
    pub(crate) fn object(&mut self, datum: &Datum<'_>) -> Result<(), EvalError> {
        self.nested(datum, 0)
    }

    fn member(&mut self, datum: &Datum<'_>, depth: usize) -> Result<(), EvalError> {
        self.budget.step()?;
        match &datum.0 {
            Form::Undefined | Form::Null => Ok(()),
            Form::Bool(_) | Form::Number(_) | Form::Text(_) => {
                let text = coerce::text(datum, self.budget)?;
                self.push(&text)
            }
            Form::View(view) if view.kind() == Kind::String => {
                let text = coerce::text(datum, self.budget)?;
                self.push(&text)
            }
            Form::View(_) | Form::List(_) | Form::Members(_) => self.nested(datum, depth),
        }
    }

    fn nested(&mut self, datum: &Datum<'_>, depth: usize) -> Result<(), EvalError> {
        if depth > MAX_NESTING {
            return Err(EvalError::Nesting);
        }
        if let Form::View(view) = &datum.0 {
            self.budget.read(view.raw().len())?;
        }
        let Some(elements) = datum.elements() else {
            if datum.has("toString") {
                return Err(EvalError::Type("an object with a member `toString` has no text"));
            }
            return self.push(&Text::from("[object Object]"));
        };
        for (at, element) in elements.enumerate() {
            if at > 0 {
                self.push(&Text::from(","))?;
            }
            self.member(&element, depth + 1)?;
        }
        Ok(())
    }

    fn push(&mut self, text: &Text) -> Result<(), EvalError> {
        self.budget.keep(bytes(text))?;
        match (&mut self.units, text.as_str()) {
            (None, Some(piece)) => self.whole.push_str(piece),
            (None, None) => {
                let mut units: Vec<u16> = self.whole.encode_utf16().collect();
                units.extend(text.utf16());
                self.units = Some(units);
            }
            (Some(units), _) => units.extend(text.utf16()),
        }
        Ok(())
    }
}

/// About the bytes a text takes.
pub(crate) fn bytes(text: &Text) -> usize {
    match text.as_str() {
        Some(whole) => whole.len(),
        None => text.utf16().count().saturating_mul(2),
    }
}
