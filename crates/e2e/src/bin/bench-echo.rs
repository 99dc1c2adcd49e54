//! The server of the bench: answers a tool call with the text it was given, as fast as bytes can be copied.
//! Speaks just enough of the handshake for proxies that are clients themselves.

use std::io::{self, BufRead as _, BufReader, Write as _};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let mut input = BufReader::with_capacity(1 << 20, io::stdin().lock());
    let mut output = io::stdout().lock();
    let mut line = Vec::new();
    let mut answer = Vec::new();
    loop {
        line.clear();
        answer.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if !call(&line, &mut answer) {
            other(&line, &mut answer);
        }
        if !answer.is_empty() {
            answer.push(b'\n');
            output.write_all(&answer)?;
            output.flush()?;
        }
    }
}

/// The hot path, without a parser: the bench's calls hold one `text` without escapes and one `id`.
fn call(line: &[u8], answer: &mut Vec<u8>) -> bool {
    let (Some(text), Some(id)) = (between(line, b"\"text\":", b"\""), number(line)) else { return false };
    answer.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    answer.extend_from_slice(id);
    answer.extend_from_slice(b",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"");
    answer.extend_from_slice(text);
    answer.extend_from_slice(b"\"}]}}");
    true
}

fn other(line: &[u8], answer: &mut Vec<u8>) {
    let Ok(asked) = serde_json::from_slice::<Value>(line) else { return };
    let Some(id) = asked.get("id") else { return };
    let result = match asked.get("method").and_then(Value::as_str) {
        Some("initialize") => json!({
            "protocolVersion": asked.pointer("/params/protocolVersion"),
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "bench-echo", "version": "1.0.0" },
        }),
        Some("tools/list") => json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] }),
        Some("ping") => json!({}),
        _ => {
            let error = json!({ "code": -32601, "message": "method not found" });
            answer.extend_from_slice(json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().as_bytes());
            return;
        }
    };
    answer.extend_from_slice(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string().as_bytes());
}

/// What stands between the quotes behind a key.
fn between<'a>(line: &'a [u8], key: &[u8], quote: &[u8]) -> Option<&'a [u8]> {
    let at = find(line, key)? + key.len();
    let rest = line.get(at..)?;
    let open = find(rest, quote)? + 1;
    let rest = rest.get(open..)?;
    rest.get(..rest.iter().position(|byte| *byte == b'"')?)
}

fn number(line: &[u8]) -> Option<&[u8]> {
    let at = find(line, b"\"id\":")? + 5;
    let rest = line.get(at..)?;
    let start = rest.iter().position(|byte| *byte != b' ')?;
    let rest = rest.get(start..)?;
    Some(rest.split(|byte| *byte == b',' || *byte == b'}').next().unwrap_or_default())
}

fn find(line: &[u8], what: &[u8]) -> Option<usize> {
    // the keys stand in the first few hundred bytes or behind the text; never inside it, which is all one letter
    line.windows(what.len()).position(|window| window == what)
}
