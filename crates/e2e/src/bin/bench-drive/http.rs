//! Over Streamable HTTP, for proxies that offer nothing else: one session, one call at a time.

use reqwest::{Client, RequestBuilder, Response};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::{Fallible, Plan, figures, timed};

pub(crate) fn calls(plan: &Plan, target: &[String]) -> Fallible<Value> {
    let [url] = target else { return Err("wants one address".into()) };
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let session = Session::open(&runtime, url)?;
    let times = timed(plan, |frame| {
        let answer = runtime.block_on(async { session.post(frame).send().await?.error_for_status()?.bytes().await })?;
        if answer.len() < frame.len() / 2 {
            return Err(format!("a call of {} bytes got {} bytes", frame.len(), answer.len()).into());
        }
        Ok(())
    })?;
    Ok(figures(times))
}

struct Session {
    client: Client,
    url: String,
    id: Option<String>,
}

impl Session {
    fn open(runtime: &Runtime, url: &str) -> Fallible<Self> {
        let mut session = Self { client: Client::new(), url: url.to_owned(), id: None };
        let greeting: Response = runtime.block_on(session.post(INITIALIZE).send())?.error_for_status()?;
        session.id = greeting.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        runtime.block_on(greeting.bytes())?;
        runtime.block_on(session.post(INITIALIZED).send())?.error_for_status()?;
        Ok(session)
    }

    fn post(&self, frame: &str) -> RequestBuilder {
        let request = self.client.post(&self.url).body(frame.to_owned());
        let request = request.header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        let request = request.header("mcp-protocol-version", "2025-06-18");
        match &self.id {
            Some(id) => request.header("mcp-session-id", id),
            None => request,
        }
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
