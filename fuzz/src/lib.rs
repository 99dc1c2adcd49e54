//! What must hold for any bytes: one property a function, called by a fuzz target of the same name and by tests over
//! hostile seeds.

mod debug_parse;
mod framing;
mod json_check;
mod logic;
mod rpc;
mod shrink;
#[cfg(test)]
mod tests;

pub use debug_parse::debug_parse;
pub use framing::framing;
pub use json_check::json_check;
pub use logic::logic;
pub use rpc::rpc;
pub use shrink::shrink;
