//! Writing: one transaction per batch, many rows per statement.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, LazyLock};

use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{Arguments as _, Row as _};

use super::arrivals::{Care, Cursor, Draft};
use super::{Ordering, Store, Writer};
use crate::store::error::StoreError;
use crate::store::{Batch, Committed, Mark, NewEvent, NewRun, Totals, Turn};

impl Store {
    /// Keeps a batch in one transaction: runs, then events, then turns. Events that are here already are passed over.
    ///
    /// # Errors
    /// When the database refuses; then nothing of the batch was kept.
    pub async fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let mut writer = self.writer.lock().await;
        let mut done = commit(&mut writer, batch).await;
        if matches!(done, Ok(None)) {
            // Somebody else wrote to one of these runs, so what is remembered of them is stale.
            batch.events.iter().for_each(|event| writer.arrivals.forget(&event.run));
            done = commit(&mut writer, batch).await;
        }
        let done = done.and_then(|done| done.ok_or_else(|| sqlx::Error::Protocol("rows were passed over".into())));
        let bytes = batch.events.iter().map(|event| 400 + event.payload.as_ref().map_or(0, |payload| payload.len()));
        self.unchecked.fetch_add(u64::try_from(bytes.sum::<usize>()).unwrap_or(0), Ordering::Relaxed);
        done.map_err(|error| self.sql(error))
    }

    /// Numbers the events of a batch that could not be kept, so that viewers still see it in order.
    pub async fn number(&self, batch: &Batch) -> Committed {
        let mut writer = self.writer.lock().await;
        let Writer { arrivals, .. } = &mut *writer;
        let mut draft = Draft::default();
        for event in &batch.events {
            if !draft.has(&event.run) {
                draft.add(Arc::clone(&event.run), arrivals.get(&event.run).unwrap_or_default());
            }
        }
        let ords = draft.number(&batch.events, &HashSet::new(), Care::Blind);
        arrivals.keep(&draft);
        draft.committed(ords)
    }
}

/// `None`: the rows were not as remembered, nothing was kept.
async fn commit(writer: &mut Writer, batch: &Batch) -> Result<Option<Committed>, sqlx::Error> {
    if std::mem::replace(&mut writer.open, true) {
        // A commit was given up on its way.
        rollback(&mut writer.connection).await;
    }
    sqlx::query("BEGIN IMMEDIATE").execute(&mut writer.connection).await?;
    let mut draft = Draft::default();
    let kept = match keep(writer, &mut draft, batch).await {
        Ok(Some(ords)) => sqlx::query("COMMIT").execute(&mut writer.connection).await.map(|_| Some(ords)),
        other => other,
    };
    let Ok(Some(ords)) = kept else {
        rollback(&mut writer.connection).await;
        return kept.map(|_| None);
    };
    writer.open = false;
    writer.arrivals.keep(&draft);
    Ok(Some(draft.committed(ords)))
}

/// After some errors SQLite has done it already, and says so.
async fn rollback(connection: &mut SqliteConnection) {
    if let Err(error) = sqlx::query("ROLLBACK").execute(connection).await {
        tracing::trace!(%error, "nothing to roll back");
    }
}

async fn keep(writer: &mut Writer, draft: &mut Draft, batch: &Batch) -> Result<Option<Vec<Option<u64>>>, sqlx::Error> {
    let Writer { connection: tx, arrivals, .. } = writer;
    for run in &batch.runs {
        ensure(tx, run).await?;
    }
    for event in &batch.events {
        if !draft.has(&event.run) {
            let cursor = match arrivals.get(&event.run) {
                Some(cursor) => cursor,
                None => load(tx, &event.run).await?,
            };
            draft.add(Arc::clone(&event.run), cursor);
        }
    }
    let before: Vec<Totals> = draft.runs().iter().map(|(_, cursor)| cursor.totals).collect();
    let suspects = draft.suspects(&batch.events);
    let care = if suspects.is_empty() { Care::Fresh } else { Care::Suspect };
    let known = known(tx, &suspects).await?;
    let ords = draft.number(&batch.events, &known, care);
    let fresh = fresh(&batch.events, &ords);
    if !insert(tx, &fresh).await? {
        return Ok(None);
    }
    for (event, _) in &fresh {
        mark(tx, event).await?;
    }
    for ((run, cursor), before) in draft.runs().iter().zip(before) {
        raise(tx, run, before, cursor.totals).await?;
    }
    for turn in &batch.turns {
        take(tx, turn).await?;
    }
    Ok(Some(ords))
}

type Fresh<'e> = Vec<(&'e NewEvent, u64)>;

fn fresh<'e>(events: &'e [NewEvent], ords: &[Option<u64>]) -> Fresh<'e> {
    events.iter().zip(ords).filter_map(|(event, ord)| ord.map(|ord| (event, ord))).collect()
}

async fn ensure(tx: &mut SqliteConnection, run: &NewRun) -> Result<(), sqlx::Error> {
    let sql = "INSERT OR IGNORE INTO runs (id, app, started_at, finished_at, status, schema_version, source) \
               VALUES (?, ?, ?, NULL, 'running', 1, ?)";
    let query = sqlx::query(sql).bind(Arc::clone(&run.id)).bind(Arc::clone(&run.app));
    query.bind(millis(run.started_at)).bind(run.source.as_str()).execute(tx).await.map(drop)
}

async fn load(tx: &mut SqliteConnection, run: &Arc<str>) -> Result<Cursor, sqlx::Error> {
    let sql = "SELECT (SELECT max(ord) FROM events WHERE run_id = ?1), (SELECT max(seq) FROM events WHERE run_id = ?1), \
               event_count, error_count, last_ord FROM runs WHERE id = ?1";
    let Some(row) = sqlx::query(sql).bind(Arc::clone(run)).fetch_optional(tx).await? else {
        return Ok(Cursor::default());
    };
    let count = |place: usize| -> Result<Option<u64>, sqlx::Error> {
        row.try_get::<Option<i64>, _>(place).map(|count| count.and_then(|count| u64::try_from(count).ok()))
    };
    let last_ord = count(0)?.max(count(4)?).unwrap_or(0);
    let totals = Totals { events: count(2)?.unwrap_or(0), errors: count(3)?.unwrap_or(0), last_ord };
    Ok(Cursor { totals, next_seq: count(1)?.map_or(0, |seq| seq + 1) })
}

/// Which of the suspects are stored.
async fn known(tx: &mut SqliteConnection, suspects: &[&NewEvent]) -> Result<HashSet<(Arc<str>, u64)>, sqlx::Error> {
    let mut known = HashSet::new();
    for group in suspects.chunk_by(|one, next| one.run == next.run) {
        for some in group.chunks(LOOKED_UP) {
            let Some(first) = some.first() else { continue };
            let mut arguments = SqliteArguments::default();
            arguments.add(Arc::clone(&first.run)).map_err(sqlx::Error::Encode)?;
            // One statement text for every number of rows: the rest is filled with the first.
            let seqs = some.iter().map(|event| event.seq).chain(std::iter::repeat(first.seq)).take(LOOKED_UP);
            for seq in seqs {
                arguments.add(integer(seq)).map_err(sqlx::Error::Encode)?;
            }
            for row in sqlx::query_with(KNOWN.as_str(), arguments).fetch_all(&mut *tx).await? {
                let seq: i64 = row.try_get(0)?;
                known.insert((Arc::clone(&first.run), u64::try_from(seq).unwrap_or(0)));
            }
        }
    }
    Ok(known)
}

/// False when fewer rows went in than there are.
async fn insert(tx: &mut SqliteConnection, fresh: &[(&NewEvent, u64)]) -> Result<bool, sqlx::Error> {
    let mut rest = fresh;
    while !rest.is_empty() {
        let Some(statement) = INSERTS.iter().find(|statement| statement.rows <= rest.len()) else { break };
        let (now, later) = rest.split_at(statement.rows);
        let mut arguments = SqliteArguments::default();
        arguments.reserve(now.len() * COLUMNS, 0);
        for (event, ord) in now {
            bind(&mut arguments, event, *ord).map_err(sqlx::Error::Encode)?;
        }
        let done = sqlx::query_with(statement.sql.as_str(), arguments).execute(&mut *tx).await?;
        if done.rows_affected() < u64::try_from(now.len()).unwrap_or(u64::MAX) {
            return Ok(false);
        }
        rest = later;
    }
    Ok(true)
}

fn bind(row: &mut SqliteArguments, event: &NewEvent, ord: u64) -> Result<(), sqlx::error::BoxDynError> {
    row.add(Arc::clone(&event.run))?;
    row.add(integer(event.seq))?;
    row.add(millis(event.ts))?;
    row.add(&*event.kind)?;
    row.add(event.node.clone())?;
    row.add(event.payload.as_ref().map_or("", |payload| text(payload.as_bytes())))?;
    row.add(event.extra.as_ref().map(|extra| text(extra.as_bytes())))?;
    row.add(integer(ord))
}

async fn mark(tx: &mut SqliteConnection, event: &NewEvent) -> Result<(), sqlx::Error> {
    match &event.mark {
        Mark::None | Mark::Error => Ok(()),
        Mark::Started { app } => {
            let query = sqlx::query("UPDATE runs SET app = ?, started_at = ? WHERE id = ?").bind(Arc::clone(app));
            query.bind(millis(event.ts)).bind(Arc::clone(&event.run)).execute(tx).await.map(drop)
        }
        Mark::Finished { status } => {
            let sql = "UPDATE runs SET status = ?, finished_at = ? WHERE id = ? AND status IN ('running', 'abandoned')";
            let query = sqlx::query(sql).bind(status.as_str()).bind(millis(event.ts)).bind(Arc::clone(&event.run));
            query.execute(tx).await.map(drop)
        }
    }
}

async fn raise(tx: &mut SqliteConnection, run: &Arc<str>, from: Totals, to: Totals) -> Result<(), sqlx::Error> {
    if from == to {
        return Ok(());
    }
    let sql = "UPDATE runs SET event_count = event_count + ?, error_count = error_count + ?, last_ord = ? WHERE id = ?";
    let query = sqlx::query(sql).bind(integer(to.events - from.events)).bind(integer(to.errors - from.errors));
    query.bind(integer(to.last_ord)).bind(Arc::clone(run)).execute(tx).await.map(drop)
}

async fn take(tx: &mut SqliteConnection, turn: &Turn) -> Result<(), sqlx::Error> {
    match turn {
        Turn::Abandoned { run, now } => {
            let sql = "UPDATE runs SET status = 'abandoned', finished_at = coalesce(\
                       (SELECT ts FROM events WHERE run_id = ?1 ORDER BY ord DESC LIMIT 1), ?2) \
                       WHERE id = ?1 AND status = 'running'";
            sqlx::query(sql).bind(Arc::clone(run)).bind(millis(*now)).execute(tx).await.map(drop)
        }
        Turn::Resumed { run } => {
            let sql = "UPDATE runs SET status = 'running', finished_at = NULL WHERE id = ? AND status = 'abandoned'";
            sqlx::query(sql).bind(Arc::clone(run)).execute(tx).await.map(drop)
        }
    }
}

fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "envelope times lie below 2^53")]
fn millis(value: u64) -> f64 {
    value as f64
}

/// Checked JSON is UTF-8.
fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or("null")
}

struct Insert {
    rows: usize,
    sql: String,
}

/// Statements by number of rows, largest first, the last with one.
static INSERTS: LazyLock<Vec<Insert>> = LazyLock::new(|| {
    let head = "INSERT OR IGNORE INTO events (run_id, seq, ts, type, node_id, payload_json, extra_json, ord) VALUES ";
    let sizes: BTreeSet<usize> = BTreeSet::from([1, 4, 16, 128]);
    let insert = |rows: usize| Insert { rows, sql: format!("{head}{}", vec!["(?,?,?,?,?,?,?,?)"; rows].join(",")) };
    sizes.into_iter().rev().map(insert).collect()
});

static KNOWN: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT seq FROM events WHERE run_id = ? AND seq IN ({})", vec!["?"; LOOKED_UP].join(","))
});

const COLUMNS: usize = 8;
const LOOKED_UP: usize = 64;
