//! `record`: a stored run as a file, one envelope a line, with secrets removed unless they are asked for.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use lockgate_archive::export::{ExportError, Exported, Secrets, export};
use lockgate_runs::store::Run;
use lockgate_runs::store::sqlite::Store;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::args;
use crate::code::Code;
use crate::exit::Exit;
use crate::fault::{Fault, Reader};
use crate::out;
use crate::progress::Progress;
use crate::shelf;
use crate::text::{counted, visible};

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Run to write
    #[arg(value_name = "RUN")]
    run: String,
    /// File to write instead of stdout; `-` is stdout
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace values whose names say that they are secret (the default)
    #[arg(long, overrides_with = "no_redact_secrets")]
    redact_secrets: bool,
    /// Write them as recorded
    #[arg(long, overrides_with = "redact_secrets")]
    no_redact_secrets: bool,
    #[command(flatten)]
    database: args::Database,
    #[command(flatten)]
    json: args::Json,
}

pub(crate) async fn run(args: Args) -> Result<Exit, Fault> {
    let reader = args.json.reader();
    let file = args.out.as_deref().filter(|path| path.as_os_str() != "-");
    if reader == Reader::Program && file.is_none() {
        let fault = Fault::new(Code::Usage, "--json tells about the file written, and there is none");
        return Err(fault.hint("name it with `--out FILE`; without --json the run itself goes to stdout"));
    }
    let Some(store) = shelf::look(&args.database).await? else { return Err(unknown(&args.run, &[])) };
    let run = match store.run(&args.run).await.map_err(|err| shelf::fault(&err))? {
        Some(run) => run,
        None => {
            let recent = store.runs(RECENT).await.map_err(|err| shelf::fault(&err))?;
            return Err(unknown(&args.run, &recent));
        }
    };
    let secrets = if args.no_redact_secrets { Secrets::Keep } else { Secrets::Remove };
    let exported = match file {
        Some(path) => to_file(&store, &run, secrets, path).await?,
        None => {
            let mut stdout = Pipe(BufWriter::new(io::stdout()));
            written(&store, &run, secrets, &mut stdout).await.map_err(|err| failed(&err, "stdout"))?
        }
    };
    store.close().await.map_err(|err| shelf::fault(&err))?;
    tell(&exported, file, reader)?;
    Ok(Exit::Done)
}

/// All or nothing: a file of that name is replaced only when the whole run is written.
async fn to_file(store: &Store, run: &Run, secrets: Secrets, path: &Path) -> Result<Exported, Fault> {
    let doing = || format!("write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = NamedTempFile::new_in(folder).map_err(|err| Fault::io(doing(), &err))?;
    let mut buffer: BufWriter<&File> = BufWriter::new(file.as_file());
    let exported =
        written(store, run, secrets, &mut buffer).await.map_err(|err| failed(&err, &path.display().to_string()))?;
    drop(buffer);
    file.persist(path).map_err(|err| Fault::io(doing(), &err.error))?;
    Ok(exported)
}

async fn written(
    store: &Store,
    run: &Run,
    secrets: Secrets,
    out: &mut (dyn Write + Send),
) -> Result<Exported, ExportError> {
    let progress = Progress::of("writing events", run.events);
    let exported = export(store, run, secrets, (out, &|done| progress.at(done))).await;
    progress.done();
    exported
}

fn failed(err: &ExportError, place: &str) -> Fault {
    match err {
        ExportError::Store(err) => shelf::fault(err),
        ExportError::Write(err) => Fault::io(format!("write {place}"), err),
    }
}

fn tell(exported: &Exported, path: Option<&Path>, reader: Reader) -> Result<(), Fault> {
    let removed = &exported.removed;
    if reader == Reader::Program {
        let path = path.map(Path::to_string_lossy);
        let removed = json!({ "count": removed.count(), "keys": removed.keys });
        return out::json(&json!({ "out": path, "events": exported.events, "removed": removed }).to_string());
    }
    let place = path.map(|path| format!(" to {}", visible(&path.to_string_lossy()))).unwrap_or_default();
    let mut line = format!("wrote {}{place}", counted(exported.events, "event"));
    if removed.count() > 0 {
        let keys: Vec<String> = removed.keys.iter().map(|(key, count)| format!("{} {count}", visible(key))).collect();
        line += &format!("; removed {} ({})", counted(removed.count(), "secret"), keys.join(", "));
    }
    out::note(&line);
    Ok(())
}

fn unknown(id: &str, recent: &[Run]) -> Fault {
    let fault = Fault::new(Code::NoSuchRun, format!("no run {id}"));
    let ids: Vec<&str> = recent.iter().map(|run| &*run.id).collect();
    if ids.is_empty() {
        return fault.hint("nothing was recorded yet; `graphmind demo` makes a run to look at");
    }
    fault.hint(format!("recent runs: {}", ids.join(", ")))
}

/// Stdout whose reader may leave: what it did not want is not written, and that is all.
struct Pipe<W: Write>(W);

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(err) if err.kind() == io::ErrorKind::BrokenPipe => Ok(bytes.len()),
            other => other,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0.flush() {
            Err(err) if err.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }
}

const RECENT: usize = 10;
const EXAMPLES: &str = "\
Examples:
  graphmind record run_1 > run.ndjson
  graphmind record run_1 --out run.ndjson --json
  graphmind record run_1 --no-redact-secrets     only for yourself

Secrets are found by name, as in `apiKey`, `authorization` or `x-access-token`; look through the file before you share it.";
