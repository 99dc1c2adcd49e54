//! Turns checked text into a tree, in one walk.

use super::error::{JsonError, JsonErrorKind};
use super::text::Text;
use super::token::{Token, Tokens};
use super::value::Value;
use super::view::{Kind, View};

pub(super) fn value(view: View<'_>) -> Result<Value, JsonError> {
    let mut tokens = Tokens::of(view);
    let mut open: Vec<Open> = Vec::new();
    loop {
        let offset = tokens.offset();
        let Some(token) = tokens.next() else { return Ok(Value::Null) };
        let mut done = match token {
            Token::OpenArray | Token::OpenObject if open.len() >= DEEPEST => {
                return Err(JsonError { kind: JsonErrorKind::Depth, offset });
            }
            Token::OpenArray => {
                open.push(Open::Array(Vec::new()));
                continue;
            }
            Token::OpenObject => {
                open.push(Open::Object { members: Vec::new(), name: None });
                continue;
            }
            Token::Name(view) => {
                if let Some(Open::Object { name, .. }) = open.last_mut() {
                    *name = view.text();
                }
                continue;
            }
            Token::Scalar(view) => scalar(view),
            Token::CloseArray | Token::CloseObject => open.pop().map_or(Value::Null, Open::close),
        };
        match open.last_mut() {
            None => return Ok(done),
            Some(Open::Array(items)) => items.push(done),
            Some(Open::Object { members, name }) => {
                if let Some(name) = name.take() {
                    members.push((name, std::mem::take(&mut done)));
                }
            }
        }
    }
}

enum Open {
    Array(Vec<Value>),
    Object { members: Vec<(Text, Value)>, name: Option<Text> },
}

impl Open {
    fn close(self) -> Value {
        match self {
            Open::Array(items) => Value::Array(items),
            Open::Object { members, .. } => Value::Object(members.into_iter().collect()),
        }
    }
}

fn scalar(view: View<'_>) -> Value {
    let value = match view.kind() {
        Kind::Bool => view.bool().map(Value::Bool),
        Kind::Number => view.number().map(Value::Number),
        Kind::String => view.text().map(Value::String),
        Kind::Null | Kind::Array | Kind::Object => None,
    };
    value.unwrap_or_default()
}

/// Deeper trees would make dropping one a question of stack size.
const DEEPEST: usize = 512;
