//! Where a call stands still until something lets it go.
#![warn(missing_docs)]
