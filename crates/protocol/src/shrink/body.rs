//! What is to be cut: one text, or an object of which one value stands elsewhere.

use crate::json::{Kind, View};

/// A value, of which the one of a top-level field may stand elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body<'a> {
    view: View<'a>,
    apart: Option<(&'a str, View<'a>)>,
}

impl<'a> From<View<'a>> for Body<'a> {
    fn from(view: View<'a>) -> Body<'a> {
        Body { view, apart: None }
    }
}

impl<'a> Body<'a> {
    pub(super) fn apart(view: View<'a>, name: &'a str, value: View<'a>) -> Body<'a> {
        Body { view, apart: Some((name, value)) }
    }

    pub(super) fn kind(self) -> Kind {
        self.view.kind()
    }

    /// Its text, if all of it stands in one place.
    pub(super) fn whole(self) -> Option<View<'a>> {
        self.apart.is_none().then_some(self.view)
    }

    /// Names and values, of an object.
    pub(super) fn pairs(self) -> impl Iterator<Item = (View<'a>, View<'a>)> + Clone {
        self.view.pairs().map(move |(name, value)| match self.apart {
            Some((own, elsewhere)) if name.is(own) => (name, elsewhere),
            _ => (name, value),
        })
    }
}
