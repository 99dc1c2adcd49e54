//! What a rule computes with: a JavaScript value. What comes from JSON text stays text until somebody looks.

use std::sync::Arc;

use lockgate_protocol::json::{Kind, Text, Value, View};

use crate::budget::{Budget, Limits};
use crate::eval::{EvalError, answer};

/// One value. Cheap to clone; arrays and objects have an identity, as they do in JavaScript.
#[derive(Debug, Clone)]
pub struct Datum<'d>(pub(crate) Form<'d>);

#[derive(Debug, Clone)]
pub(crate) enum Form<'d> {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Arc<Text>),
    /// A string, an array or an object inside checked JSON text.
    View(View<'d>),
    List(Arc<List<'d>>),
    Members(Arc<Members<'d>>),
}

/// An array that was built here.
#[derive(Debug)]
pub(crate) struct List<'d> {
    pub(crate) items: Vec<Datum<'d>>,
    depth: usize,
}

/// An object that was built here.
#[derive(Debug)]
pub(crate) struct Members<'d> {
    pub(crate) members: Vec<(Text, Datum<'d>)>,
    depth: usize,
}

impl<'d> Datum<'d> {
    /// The value of checked JSON text, read when it is needed.
    pub fn view(view: View<'d>) -> Self {
        Self(match view.kind() {
            Kind::Null => Form::Null,
            Kind::Bool => Form::Bool(view.bool().unwrap_or_default()),
            Kind::Number => Form::Number(view.f64().unwrap_or(f64::NAN)),
            Kind::String | Kind::Array | Kind::Object => Form::View(view),
        })
    }

    /// JSON's `null`.
    pub fn null() -> Self {
        Self(Form::Null)
    }

    /// A string.
    pub fn text(text: &str) -> Self {
        Self::of_text(Text::from(text))
    }

    /// An object of the given members, in this order.
    ///
    /// # Errors
    /// [`EvalError::Nesting`] when more than 512 levels of built values would stand inside each other.
    pub fn object<'k>(members: impl IntoIterator<Item = (&'k str, Datum<'d>)>) -> Result<Self, EvalError> {
        let members = members.into_iter().map(|(key, value)| (Text::from(key), value));
        Self::of_members(members.collect())
    }

    /// A value somebody built, for example the answer of another expression language.
    ///
    /// # Errors
    /// [`EvalError::Nesting`] when it is nested more than 512 levels deep.
    pub fn value(value: Value) -> Result<Datum<'static>, EvalError> {
        convert(value, 0)
    }

    /// The value as JSON, for example to hand it to another expression language. A member that is undefined is left out;
    /// undefined elsewhere and the numbers JSON lacks are null.
    ///
    /// # Errors
    /// [`EvalError::Nesting`] when it is nested more than 512 levels deep, [`EvalError::Steps`] when shared parts would
    /// make it enormous.
    pub fn to_value(&self) -> Result<Value, EvalError> {
        answer::value(self, &mut Budget::new(Limits { steps: MAX_COPIED, depth: 0 }))
    }

    pub(crate) const fn undefined() -> Self {
        Self(Form::Undefined)
    }

    pub(crate) fn bool(value: bool) -> Self {
        Self(Form::Bool(value))
    }

    pub(crate) fn number(value: f64) -> Self {
        Self(Form::Number(value))
    }

    pub(crate) fn of_text(text: Text) -> Self {
        Self(Form::Text(Arc::new(text)))
    }

    pub(crate) fn list(items: Vec<Datum<'d>>) -> Result<Self, EvalError> {
        let depth = above(items.iter())?;
        Ok(Self(Form::List(Arc::new(List { items, depth }))))
    }

    fn of_members(members: Vec<(Text, Datum<'d>)>) -> Result<Self, EvalError> {
        let depth = above(members.iter().map(|(_, value)| value))?;
        Ok(Self(Form::Members(Arc::new(Members { members, depth }))))
    }

    pub(crate) fn is_undefined(&self) -> bool {
        matches!(self.0, Form::Undefined)
    }

    pub(crate) fn is_text(&self) -> bool {
        match &self.0 {
            Form::Text(_) => true,
            Form::View(view) => view.kind() == Kind::String,
            Form::Undefined | Form::Null | Form::Bool(_) | Form::Number(_) | Form::List(_) | Form::Members(_) => false,
        }
    }

    /// Arrays and objects: what JavaScript compares by identity.
    pub(crate) fn is_object(&self) -> bool {
        match &self.0 {
            Form::List(_) | Form::Members(_) => true,
            Form::View(view) => view.kind() != Kind::String,
            Form::Undefined | Form::Null | Form::Bool(_) | Form::Number(_) | Form::Text(_) => false,
        }
    }

    /// The elements of an array; `None` for everything else.
    pub(crate) fn elements(&self) -> Option<Elements<'d>> {
        match &self.0 {
            Form::List(list) => {
                let list = Arc::clone(list);
                Some(Box::new((0..list.items.len()).map_while(move |at| list.items.get(at).cloned())))
            }
            Form::View(view) if view.kind() == Kind::Array => Some(Box::new(view.items().map(Datum::view))),
            Form::View(_)
            | Form::Undefined
            | Form::Null
            | Form::Bool(_)
            | Form::Number(_)
            | Form::Text(_)
            | Form::Members(_) => None,
        }
    }

    /// Bytes of text that a walk over it reads.
    pub(crate) fn stretch(&self) -> usize {
        match &self.0 {
            Form::View(view) => view.raw().len(),
            Form::Undefined
            | Form::Null
            | Form::Bool(_)
            | Form::Number(_)
            | Form::Text(_)
            | Form::List(_)
            | Form::Members(_) => 0,
        }
    }

    /// Whether an object has this member itself.
    pub(crate) fn has(&self, key: &str) -> bool {
        match &self.0 {
            Form::Members(members) => members.members.iter().any(|(name, _)| name.as_str() == Some(key)),
            Form::View(view) => view.get(key).is_some(),
            Form::Undefined | Form::Null | Form::Bool(_) | Form::Number(_) | Form::Text(_) | Form::List(_) => false,
        }
    }

    /// Levels that were built here; text inside counts none, its readers bound themselves.
    fn depth(&self) -> usize {
        match &self.0 {
            Form::List(list) => list.depth,
            Form::Members(members) => members.depth,
            Form::Undefined | Form::Null | Form::Bool(_) | Form::Number(_) | Form::Text(_) | Form::View(_) => 0,
        }
    }
}

/// Walks an array without copying it.
pub(crate) type Elements<'d> = Box<dyn Iterator<Item = Datum<'d>> + 'd>;

/// The depth of what holds these.
fn above<'x, 'd: 'x>(parts: impl Iterator<Item = &'x Datum<'d>>) -> Result<usize, EvalError> {
    let depth = 1 + parts.map(Datum::depth).max().unwrap_or(0);
    if depth > MAX_NESTING {
        return Err(EvalError::Nesting);
    }
    Ok(depth)
}

fn convert(value: Value, depth: usize) -> Result<Datum<'static>, EvalError> {
    if depth > MAX_NESTING {
        return Err(EvalError::Nesting);
    }
    Ok(match value {
        Value::Null => Datum::null(),
        Value::Bool(value) => Datum::bool(value),
        Value::Number(number) => Datum::number(number.as_f64()),
        Value::String(text) => Datum::of_text(text),
        Value::Array(items) => {
            let items: Result<Vec<_>, _> = items.into_iter().map(|item| convert(item, depth + 1)).collect();
            Datum::list(items?)?
        }
        Value::Object(object) => {
            let members: Result<Vec<_>, EvalError> =
                object.into_iter().map(|(key, value)| Ok((key, convert(value, depth + 1)?))).collect();
            Datum::of_members(members?)?
        }
    })
}

/// Deeper values are not built: dropping and printing them recurses.
pub(crate) const MAX_NESTING: usize = 512;

/// Elements and KiB of text that a value may give as JSON: more than any payload holds.
const MAX_COPIED: u64 = 1 << 25;
