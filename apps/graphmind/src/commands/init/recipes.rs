//! What we know how to watch, and how: by an adapter inside the program, or from outside by the proxy or an import.

use super::manifest::{Language, Manifest};

/// How to watch programs built on one library.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) stack: &'static str,
    pub(super) advice: &'static str,
    pub(super) install: Option<&'static str>,
    pub(super) example: Option<Example>,
    language: Language,
    /// Any of these among the dependencies.
    libraries: &'static [&'static str],
}

/// Code to start from, and the file it would make.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) file: &'static str,
    pub(super) text: &'static str,
}

/// The recipes that fit, each with the dependency that made it fit.
pub(super) fn matching(manifests: &[Manifest]) -> Vec<(&'static Recipe, String)> {
    let fits = |recipe: &'static Recipe| {
        manifests.iter().filter(|manifest| manifest.language == recipe.language).find_map(|manifest| {
            let library = recipe.libraries.iter().find(|library| manifest.names.contains(**library))?;
            Some((recipe, format!("{library} in {}", manifest.file)))
        })
    };
    RECIPES.iter().filter_map(fits).collect()
}

const PROXY: &str = "Nothing to install: the proxy stands between the host and the server.";
const IMPORT: &str = "Put the proxy before the MCP servers it calls. Its own steps: export the OpenTelemetry trace \
                      as JSON, then `graphmind import trace.json`.";
const PYTHON: Option<&str> = Some("pip install graphmind-ai");

static RECIPES: [Recipe; 12] = [
    Recipe {
        stack: "Rust MCP server",
        advice: "The proxy needs no change to the server. To hold calls inside it, wrap the work of a tool in a span.",
        // From where the source is, as long as no registry has them.
        install: Some(concat!(
            "cargo add --git ",
            env!("CARGO_PKG_REPOSITORY"),
            " lockgate-graphmind lockgate-protocol"
        )),
        example: Some(Example { file: "src/debugger.rs", text: include_str!("examples/rmcp.rs.txt") }),
        language: Language::Rust,
        libraries: &["rmcp"],
    },
    Recipe {
        stack: "TypeScript MCP server, SDK 2",
        advice: PROXY,
        install: None,
        example: None,
        language: Language::Script,
        libraries: &["@modelcontextprotocol/server"],
    },
    Recipe {
        stack: "TypeScript MCP server, SDK 1",
        advice: PROXY,
        install: None,
        example: None,
        language: Language::Script,
        libraries: &["@modelcontextprotocol/sdk"],
    },
    Recipe {
        stack: "AI SDK agent",
        advice: IMPORT,
        install: None,
        example: None,
        language: Language::Script,
        libraries: &["ai"],
    },
    Recipe {
        stack: "Anthropic agent in TypeScript",
        advice: IMPORT,
        install: None,
        example: None,
        language: Language::Script,
        libraries: &["@anthropic-ai/sdk"],
    },
    Recipe {
        stack: "OpenAI agent in TypeScript",
        advice: IMPORT,
        install: None,
        example: None,
        language: Language::Script,
        libraries: &["openai"],
    },
    Recipe {
        stack: "LangChain or LangGraph agent in TypeScript",
        advice: IMPORT,
        install: None,
        example: None,
        language: Language::Script,
        libraries: &["@langchain/langgraph", "@langchain/core", "langchain"],
    },
    Recipe {
        stack: "Python MCP server",
        advice: PROXY,
        install: None,
        example: None,
        language: Language::Python,
        libraries: &["mcp", "fastmcp"],
    },
    Recipe {
        stack: "OpenAI agent in Python",
        advice: "Wrap the client once; each request becomes a call that can be held.",
        install: PYTHON,
        example: Some(Example { file: "graphmind_example.py", text: include_str!("examples/openai.py.txt") }),
        language: Language::Python,
        libraries: &["openai"],
    },
    Recipe {
        stack: "Anthropic agent in Python",
        advice: "Wrap the client once; each request becomes a call that can be held.",
        install: PYTHON,
        example: Some(Example { file: "graphmind_example.py", text: include_str!("examples/anthropic.py.txt") }),
        language: Language::Python,
        libraries: &["anthropic"],
    },
    Recipe {
        stack: "LangChain or LangGraph agent in Python",
        advice: "Pass the handler as a callback; chains, models and tools become nodes.",
        install: PYTHON,
        example: Some(Example { file: "graphmind_example.py", text: include_str!("examples/langchain.py.txt") }),
        language: Language::Python,
        libraries: &["langgraph", "langchain", "langchain-core"],
    },
    Recipe {
        stack: "CrewAI crew",
        advice: "Wrap the tools, and run the crew inside a run.",
        install: PYTHON,
        example: Some(Example { file: "graphmind_example.py", text: include_str!("examples/crewai.py.txt") }),
        language: Language::Python,
        libraries: &["crewai"],
    },
];
