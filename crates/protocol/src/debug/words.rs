//! The closed sets of words on the debug wire (wire §1.4).

/// An enum whose members are spelled as fixed words.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$each:meta])* $member:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$each])* $member,)+
        }

        impl $name {
            /// Every member, in wire order.
            pub const ALL: &'static [$name] = &[$($name::$member,)+];
            /// Every spelling, in wire order.
            pub const WORDS: &'static [&'static str] = &[$($word,)+];

            /// The spelling on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($name::$member => $word,)+
                }
            }

            /// The member spelled exactly so.
            pub fn parse(word: &str) -> Option<$name> {
                match word {
                    $($word => Some($name::$member),)+
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// What a node of a run is.
    NodeKind {
        /// An agent, usually the root of a run.
        Agent = "agent",
        /// A model call.
        Llm = "llm",
        /// A tool call.
        Tool = "tool",
        /// A chain of steps.
        Chain = "chain",
        /// A retrieval.
        Retriever = "retriever",
        /// An MCP server handling one request.
        Server = "server",
        /// An MCP resource read.
        Resource = "resource",
        /// An MCP prompt.
        Prompt = "prompt",
        /// Anything else.
        Custom = "custom",
    }
}

words! {
    /// How a run or a node ended.
    RunStatus {
        /// With a result.
        Ok = "ok",
        /// With an error.
        Error = "error",
        /// Ended by the debugger or by its asker.
        Aborted = "aborted",
    }
}

words! {
    /// Where a call stands when it is held.
    PausePoint {
        /// Before it runs.
        Before = "before",
        /// After it ran, with a result.
        After = "after",
        /// After it failed.
        Error = "error",
    }
}

words! {
    /// How a hold ends.
    ResumeAction {
        /// Goes on as it would have.
        Continue = "continue",
        /// Runs again.
        Retry = "retry",
        /// Is answered with a given value.
        Inject = "inject",
        /// Ends, and its run with it.
        Abort = "abort",
    }
}

words! {
    /// Whether calls stop by themselves.
    RunMode {
        /// Only at breakpoints.
        Run = "run",
        /// At every call.
        Step = "step",
    }
}

words! {
    /// Why a call is held. Closed in 0.5 hubs, which drop a frame with any other word; ours are told apart by side objects.
    PauseReason {
        /// A matcher matched, or a smart or guard hold.
        Breakpoint = "breakpoint",
        /// The call failed.
        Error = "error",
        /// Step mode.
        Step = "step",
        /// The loop guard.
        Loop = "loop",
    }
}

words! {
    /// Which stream of a model's output a delta belongs to.
    TokenChannel {
        /// The answer.
        Text = "text",
        /// The reasoning before it.
        Reasoning = "reasoning",
        /// Arguments of a tool call.
        ToolArgs = "tool-args",
    }
}

words! {
    /// Why a resume was refused and the call is still held.
    RefusalCode {
        /// The edited value does not satisfy the schema.
        Schema = "schema",
        /// The resume has the wrong form.
        Shape = "shape",
        /// It contains a redaction placeholder.
        Placeholder = "placeholder",
        /// It contains a truncation marker.
        Truncated = "truncated",
        /// Editing is switched off.
        Disabled = "disabled",
        /// This hold cannot be ended so.
        Unsupported = "unsupported",
    }
}

words! {
    /// What a smart hold noticed.
    SmartRule {
        /// A result that reports an error.
        ErrorResult = "error-result",
        /// A model output cut off amid its tool calls.
        TruncatedToolCall = "truncated-tool-call",
    }
}

words! {
    /// Which pattern the loop guard noticed; senders leave out `Repeat`.
    LoopKind {
        /// The same call, back to back.
        Repeat = "repeat",
        /// A lap of calls, again and again.
        Cycle = "cycle",
        /// The same failure, again and again.
        ErrorRepeat = "error-repeat",
    }
}

words! {
    /// Who released a hold; stamped by the hub only.
    Principal {
        /// Somebody at a viewer.
        Viewer = "viewer",
        /// A program with an agent's token.
        Agent = "agent",
        /// Nobody known.
        Anonymous = "anonymous",
    }
}

words! {
    /// Which clock ends a hold by itself (wire §10.5).
    Why {
        /// Nobody was watching.
        Patience = "patience",
        /// The pause timeout.
        Timeout = "timeout",
        /// The time a review may take.
        Review = "review",
        /// The asker's own timeout.
        HostLimit = "host-limit",
    }
}
