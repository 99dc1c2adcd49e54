//! Writes stored runs out: one envelope a line, secrets removed unless the asker wants them in (hub §14.5).

mod secrets;
pub use self::secrets::Removed;

use std::io::{self, Write};

use lockgate_protocol::json::{Limits, Raw};
use thiserror::Error;

use lockgate_runs::store::error::StoreError;
use lockgate_runs::store::sqlite::Store;
use lockgate_runs::store::{OrdRange, PageSize, Run};

/// What happens to values whose names say that they are secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Secrets {
    Remove,
    Keep,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    pub events: u64,
    pub removed: Removed,
}

#[derive(Debug, Error)]
pub enum ExportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("write: {0}")]
    Write(#[from] io::Error),
}

/// Writes a run as NDJSON, in the order its events arrived; `each` hears how many were written so far.
///
/// # Errors
/// When the store cannot be read or `out` not be written. What was written until then stays written.
pub async fn export(
    store: &Store,
    run: &Run,
    secrets: Secrets,
    (out, each): (&mut (dyn Write + Send), &(dyn Fn(u64) + Sync)),
) -> Result<Exported, ExportError> {
    let mut exported = Exported::default();
    let mut range = OrdRange::ALL;
    loop {
        let page = store.events_by_ord(&run.id, range, PAGE).await?;
        for event in &page.events {
            let mut line = Vec::new();
            event.write(run.schema_version, &run.id, &mut line);
            exported.removed.add(write_line(line, secrets, out)?);
            exported.events += 1;
            range.after = event.ord;
        }
        each(exported.events);
        if !page.more {
            out.flush()?;
            return Ok(exported);
        }
    }
}

fn write_line(line: Vec<u8>, secrets: Secrets, out: &mut (dyn Write + Send)) -> io::Result<Removed> {
    if secrets == Secrets::Keep {
        out.write_all(&line)?;
        out.write_all(b"\n")?;
        return Ok(Removed::default());
    }
    // What cannot be looked through is not let out.
    let checked =
        Raw::check(line.into(), Limits::FRAME).map_err(|err| io::Error::new(io::ErrorKind::InvalidData, err))?;
    let (clean, removed) = secrets::remove(&checked.raw);
    out.write_all(&clean)?;
    out.write_all(b"\n")?;
    Ok(removed)
}

const PAGE: PageSize = PageSize { rows: 1_000, bytes: 8 << 20 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Origin, import};
    use lockgate_protocol::debug::RunId;

    async fn exported(secrets: Secrets) -> (String, Exported) {
        let dir = tempfile::tempdir().expect("a folder");
        let store = Store::open(&dir.path().join("runs.db")).await.expect("opens");
        let text = r#"[{"id":"a","start":1,"attributes":{"openinference.span.kind":"TOOL","input.value":"{\"apiKey\":\"k\"}"}}]"#;
        let run = RunId::new("imp_1").expect("good");
        let origin = Origin { run, file: "t".to_owned(), app: None, version: "0".to_owned() };
        import(&text.into(), &origin).expect("a trace").keep(&store, &|_| {}).await.expect("kept");
        let run = store.run("imp_1").await.expect("readable").expect("there");
        let mut out = Vec::new();
        let exported = export(&store, &run, secrets, (&mut out, &|_| {})).await.expect("written");
        (String::from_utf8(out).expect("UTF-8"), exported)
    }

    #[tokio::test]
    async fn a_line_an_envelope_without_secrets() {
        let (text, told) = exported(Secrets::Remove).await;
        assert_eq!((told.events, told.removed.count()), (4, 1));
        let kinds: Vec<String> = text
            .lines()
            .map(|line| Raw::parse(line.to_owned()).expect("JSON"))
            .map(|raw| raw.view().get("type").and_then(|kind| kind.str()).expect("a type").into_owned())
            .collect();
        assert_eq!(kinds, ["run.started", "node.started", "node.finished", "run.finished"]);
        assert!(text.contains(r#""input":{"apiKey":"__REDACTED__"}"#), "{text}");
    }

    #[tokio::test]
    async fn or_with_them() {
        let (text, told) = exported(Secrets::Keep).await;
        assert_eq!(told.removed, Removed::default());
        assert!(text.contains(r#""input":{"apiKey":"k"}"#), "{text}");
    }
}
