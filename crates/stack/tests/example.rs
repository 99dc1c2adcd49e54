//! The code that `graphmind init` shows to authors of Rust servers is code, and does what it says.

#[expect(unreachable_pub, reason = "written for other people's crates")]
mod debugger {
    include!("../../../apps/graphmind/src/commands/init/examples/rmcp.rs.txt");
}

use lockgate_protocol::json::Raw;

#[tokio::test]
async fn without_a_hub_a_wrapped_tool_is_the_tool() {
    let session = debugger::debugger();
    let found = debugger::search(&session, Raw::null()).await.expect("found");
    assert_eq!(found.as_bytes(), br#"["TP1273","LX1574"]"#);
    session.dispose();
}
