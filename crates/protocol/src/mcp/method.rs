//! The methods we know by name. All others are relayed just the same.

/// Opens the handshake era.
pub const INITIALIZE: &str = "initialize";
/// Asks a stateless server what it is.
pub const DISCOVER: &str = "server/discover";
/// Calls a tool.
pub const TOOLS_CALL: &str = "tools/call";
/// Lists tools.
pub const TOOLS_LIST: &str = "tools/list";
/// Reads a resource.
pub const RESOURCES_READ: &str = "resources/read";
/// Gets a prompt.
pub const PROMPTS_GET: &str = "prompts/get";
/// Completes an argument.
pub const COMPLETE: &str = "completion/complete";
/// Asks the client's model.
pub const SAMPLING: &str = "sampling/createMessage";
/// Asks the person at the client; further methods below `elicitation/` do too.
pub const ELICITATION: &str = "elicitation/create";
/// Asks the client for its roots.
pub const ROOTS_LIST: &str = "roots/list";
/// One long request per subscription.
pub const LISTEN: &str = "subscriptions/listen";
/// Brings the state or the result of a task.
pub const TASKS_GET: &str = "tasks/get";
/// The asker gives up.
pub const CANCELLED: &str = "notifications/cancelled";
/// Something moves on.
pub const PROGRESS: &str = "notifications/progress";
/// The tools are not what they were.
pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// Whether answers to this method may ask for more input (mcp §3.4).
pub fn has_rounds(method: &str) -> bool {
    matches!(method, TOOLS_CALL | RESOURCES_READ | PROMPTS_GET)
}
