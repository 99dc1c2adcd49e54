//! The page a browser gets. This one lists runs, shows the tree of one and what went in and out of a node, and releases
//! held calls; a fuller viewer takes its place when the program brings one.

use bytes::Bytes;

/// A file of the page.
#[derive(Debug, Clone)]
pub struct Asset {
    /// Its media type.
    pub kind: &'static str,
    pub body: Bytes,
}

/// Finds a file by its path without the leading slash; `index.html` is the page itself.
pub type Page = fn(&str) -> Option<Asset>;

pub(crate) fn built_in(path: &str) -> Option<Asset> {
    let (kind, text) = match path {
        "" | "index.html" => ("text/html; charset=utf-8", include_str!("page/index.html")),
        "page.js" => ("text/javascript; charset=utf-8", include_str!("page/page.js")),
        "model.js" => ("text/javascript; charset=utf-8", include_str!("page/model.js")),
        "draw.js" => ("text/javascript; charset=utf-8", include_str!("page/draw.js")),
        "page.css" => ("text/css; charset=utf-8", include_str!("page/page.css")),
        _ => return None,
    };
    Some(Asset { kind, body: Bytes::from_static(text.as_bytes()) })
}
