//! The input schemas of the tools a server listed last, for a first look at edited arguments (hub §12.7, N14).

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use lockgate_protocol::json::Raw;
use lockgate_protocol::mcp::Listing;

/// Schemas by tool. Pages add up; a first page or a change notification begins anew.
#[derive(Debug, Default)]
pub(crate) struct Schemas {
    known: HashMap<String, Known>,
    /// In the order in which they came.
    order: VecDeque<String>,
}

#[derive(Debug)]
struct Known {
    schema: Raw,
    /// Not trusted any more from then on.
    until: Option<Duration>,
}

/// Which page of a listing it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    First,
    Later,
}

impl Schemas {
    pub(crate) fn listed(&mut self, listing: Listing, page: Page, at: Duration) {
        if page == Page::First {
            self.forget();
        }
        let until = listing.ttl_ms.map(|ttl| at.saturating_add(Duration::from_millis(ttl)));
        for (name, schema) in listing.schemas {
            if self.known.insert(name.clone(), Known { schema, until }).is_none() {
                self.order.push_back(name);
            }
            if self.order.len() > MOST
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
    }

    pub(crate) fn forget(&mut self) {
        self.known.clear();
        self.order.clear();
    }

    pub(crate) fn of(&self, tool: &str, at: Duration) -> Option<&Raw> {
        self.known.get(tool).filter(|known| known.until.is_none_or(|until| at < until)).map(|known| &known.schema)
    }
}

const MOST: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn page(names: std::ops::Range<u32>, ttl_ms: Option<u64>) -> Listing {
        let schemas = names.map(|name| (name.to_string(), Raw::string(&name.to_string()))).collect();
        Listing { schemas, ttl_ms }
    }

    #[test]
    fn n14_pages_add_up_until_a_first_one_comes() {
        let mut schemas = Schemas::default();
        let at = Duration::ZERO;
        schemas.listed(page(0..2, None), Page::First, at);
        schemas.listed(page(2..3, None), Page::Later, at);
        assert!(schemas.of("0", at).is_some() && schemas.of("2", at).is_some());
        schemas.listed(page(3..4, None), Page::First, at);
        assert!(schemas.of("0", at).is_none() && schemas.of("3", at).is_some());
        schemas.forget();
        assert!(schemas.of("3", at).is_none());
    }

    #[test]
    fn n14_schemas_expire_and_are_bounded() {
        let mut schemas = Schemas::default();
        schemas.listed(page(0..1, Some(50)), Page::First, Duration::from_millis(10));
        assert!(schemas.of("0", Duration::from_millis(59)).is_some());
        assert!(schemas.of("0", Duration::from_millis(60)).is_none());
        schemas.listed(page(0..1_500, None), Page::First, Duration::ZERO);
        assert_eq!((schemas.known.len(), schemas.order.len()), (MOST, MOST));
        assert!(schemas.of("499", Duration::ZERO).is_none() && schemas.of("500", Duration::ZERO).is_some());
    }
}
