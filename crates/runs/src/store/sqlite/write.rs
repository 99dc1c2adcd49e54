//! Writing: batches into transactions, many rows per statement.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use sqlx::sqlite::{SqliteArguments, SqliteConnection};
use sqlx::{Arguments as _, Row as _};
use tokio::time::timeout;

use super::arrivals::{Care, Cursor, Draft, Known};
use super::rows::{ensure, integer, mark, millis, raise, restate, take};
use super::{Ordering, Store, Tx, Writer};
use crate::store::error::StoreError;
use crate::store::{Batch, Committed, Mark, NewEvent, Totals};

impl Store {
    /// Begins a transaction; everybody else who writes waits until it ends.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn begin(&self) -> Result<Tx<'_>, StoreError> {
        let mut writer = self.writer.lock().await;
        if std::mem::replace(&mut writer.open, true) {
            // One was given up on its way.
            rollback(&mut writer.connection).await;
        }
        let begun = sqlx::query("BEGIN IMMEDIATE").execute(&mut writer.connection).await;
        begun.map(|_| Tx { store: self, writer, grown: HashMap::new() }).map_err(|error| self.sql(error))
    }

    /// Keeps a batch in a transaction of its own.
    ///
    /// # Errors
    /// When the database refuses; then nothing of the batch was kept.
    pub async fn commit(&self, batch: &Batch) -> Result<Committed, StoreError> {
        let mut tx = self.begin().await?;
        match tx.put(batch).await {
            Ok(done) => tx.commit().await.map(|()| done),
            Err(error) => {
                tx.rollback().await;
                Err(error)
            }
        }
    }

    /// Numbers the events of a batch that could not be kept, so that viewers still see it in order.
    pub async fn number(&self, batch: &Batch) -> Committed {
        let mut writer = self.writer.lock().await;
        let Writer { arrivals, .. } = &mut *writer;
        let mut draft = Draft::default();
        for event in &batch.events {
            if !draft.has(&event.run) {
                let cursor = match arrivals.get(&event.run) {
                    Some(cursor) => cursor,
                    None => self.glance(async |reader| load(reader, &event.run, Totals::default()).await).await,
                };
                draft.add(Arc::clone(&event.run), cursor);
            }
        }
        let suspects = draft.suspects(&batch.events);
        let mut known = Known::default();
        if !suspects.is_empty() {
            known = self.glance(async |reader| known_among(reader, &suspects).await).await;
            known.extend(arrivals.adrift(&suspects));
        }
        let ords = draft.number(&batch.events, &known, Care::Suspect);
        arrivals.keep(&draft);
        arrivals.drift(&batch.events);
        draft.committed(ords)
    }

    /// These were put, and then were not kept.
    pub async fn adrift(&self, batches: &[Arc<Batch>]) {
        let mut writer = self.writer.lock().await;
        batches.iter().for_each(|batch| writer.arrivals.drift(&batch.events));
    }

    /// Reads from a database that cannot be written. Most such can be read; who cannot know soon has to do without.
    async fn glance<T: Default>(&self, read: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, sqlx::Error>) -> T {
        let reading = async { read(&mut *self.readers.acquire().await?).await };
        let read = timeout(GLANCE, reading).await.unwrap_or(Err(sqlx::Error::PoolTimedOut));
        read.inspect_err(|error| tracing::debug!(%error, "the database cannot be read either")).unwrap_or_default()
    }
}

impl Tx<'_> {
    /// Puts a batch in: rows, then runs, then missed and new events, then turns. Events that are here already are passed over.
    ///
    /// # Errors
    /// When the database refuses; then the transaction can only be rolled back.
    pub async fn put(&mut self, batch: &Batch) -> Result<Committed, StoreError> {
        let bytes = batch.events.iter().map(|event| 400 + event.payload.as_ref().map_or(0, |payload| payload.len()));
        self.store.unchecked.fetch_add(u64::try_from(bytes.sum::<usize>()).unwrap_or(0), Ordering::Relaxed);
        put(&mut self.writer, &mut self.grown, batch).await.map_err(|error| self.store.sql(error))
    }

    /// Keeps all that was put in.
    ///
    /// # Errors
    /// When the database refuses; then nothing of it was kept.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        self.store.unchecked.fetch_add(COMMIT_BYTES, Ordering::Relaxed);
        match finish(&mut self.writer.connection, &self.grown).await {
            Ok(()) => {
                self.writer.open = false;
                self.writer.arrivals.land();
                Ok(())
            }
            Err(error) => {
                let error = self.store.sql(error);
                self.rollback().await;
                Err(error)
            }
        }
    }

    /// Keeps nothing of it. Numbers that were given out stay given out.
    pub async fn rollback(mut self) {
        rollback(&mut self.writer.connection).await;
        self.writer.open = false;
    }
}

/// After some errors SQLite has done it already, and says so.
async fn rollback(connection: &mut SqliteConnection) {
    if let Err(error) = sqlx::query("ROLLBACK").execute(connection).await {
        tracing::trace!(%error, "nothing to roll back");
    }
}

type Grown = HashMap<Arc<str>, Totals>;

async fn finish(tx: &mut SqliteConnection, grown: &Grown) -> Result<(), sqlx::Error> {
    for (run, by) in grown.iter().filter(|(_, by)| by.events > 0) {
        raise(tx, run, *by).await?;
    }
    sqlx::query("COMMIT").execute(tx).await.map(drop)
}

async fn put(writer: &mut Writer, grown: &mut Grown, batch: &Batch) -> Result<Committed, sqlx::Error> {
    let Writer { connection: tx, arrivals, .. } = writer;
    for row in &batch.rows {
        restate(tx, row).await?;
    }
    for run in &batch.runs {
        ensure(tx, run).await?;
    }
    for (event, ord) in batch.missed.iter().flatten() {
        if !catch_up(tx, event, *ord, grown).await? {
            arrivals.forget(&event.run);
        }
    }
    let mut draft = Draft::default();
    for event in &batch.events {
        if !draft.has(&event.run) {
            let cursor = match arrivals.get(&event.run) {
                Some(cursor) => cursor,
                None => load(tx, &event.run, grown.get(&event.run).copied().unwrap_or_default()).await?,
            };
            draft.add(Arc::clone(&event.run), cursor);
        }
    }
    let before: Vec<Totals> = draft.runs().iter().map(|(_, cursor)| cursor.totals).collect();
    let suspects = draft.suspects(&batch.events);
    let care = if suspects.is_empty() { Care::Fresh } else { Care::Suspect };
    let known = known_among(tx, &suspects).await?;
    let mut ords = draft.number(&batch.events, &known, care);
    let stale = insert(tx, &batch.events, &mut ords, &mut draft).await?;
    let fresh = batch.events.iter().zip(&ords).filter(|(_, ord)| ord.is_some()).map(|(event, _)| event);
    for event in fresh.filter(|event| !matches!(event.mark, Mark::None | Mark::Error)) {
        mark(tx, event).await?;
    }
    for ((run, cursor), before) in draft.runs().iter().zip(before) {
        let by = grown.entry(Arc::clone(run)).or_default();
        by.events += cursor.totals.events - before.events;
        by.errors += cursor.totals.errors - before.errors;
        by.last_ord = by.last_ord.max(cursor.totals.last_ord);
    }
    for turn in &batch.turns {
        take(tx, turn).await?;
    }
    arrivals.keep(&draft);
    stale.iter().for_each(|run| arrivals.forget(run));
    Ok(draft.committed(ords))
}

/// Keeps an event that was missed; what it means for its row stands there already. Whether it kept its number.
async fn catch_up(
    tx: &mut SqliteConnection,
    event: &NewEvent,
    ord: u64,
    grown: &mut Grown,
) -> Result<bool, sqlx::Error> {
    let (mut ords, mut draft) = ([Some(ord)], Draft::default());
    let stale = insert(tx, std::slice::from_ref(event), &mut ords, &mut draft).await?;
    if let [Some(ord)] = ords {
        let by = grown.entry(Arc::clone(&event.run)).or_default();
        by.events += 1;
        by.errors += u64::from(event.mark == Mark::Error);
        by.last_ord = by.last_ord.max(ord);
    }
    Ok(stale.is_empty())
}

/// `grown`: what is not on its row yet.
async fn load(tx: &mut SqliteConnection, run: &Arc<str>, grown: Totals) -> Result<Cursor, sqlx::Error> {
    let sql = "SELECT (SELECT max(ord) FROM events WHERE run_id = ?1), (SELECT max(seq) FROM events WHERE run_id = ?1), \
               event_count, error_count, last_ord FROM runs WHERE id = ?1";
    let Some(row) = sqlx::query(sql).bind(Arc::clone(run)).fetch_optional(tx).await? else {
        return Ok(Cursor::default());
    };
    let count = |place: usize| -> Result<Option<u64>, sqlx::Error> {
        row.try_get::<Option<i64>, _>(place).map(|count| count.and_then(|count| u64::try_from(count).ok()))
    };
    let last_ord = count(0)?.max(count(4)?).unwrap_or(0);
    let events = count(2)?.unwrap_or(0) + grown.events;
    let totals = Totals { events, errors: count(3)?.unwrap_or(0) + grown.errors, last_ord };
    Ok(Cursor { totals, next_seq: count(1)?.map_or(0, |seq| seq + 1) })
}

/// Which of the suspects are stored.
async fn known_among(tx: &mut SqliteConnection, suspects: &[&NewEvent]) -> Result<Known, sqlx::Error> {
    let mut known = Known::default();
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

/// Inserts what was numbered, many rows per statement. Answers the runs that somebody else has written to.
async fn insert(
    tx: &mut SqliteConnection,
    events: &[NewEvent],
    ords: &mut [Option<u64>],
    draft: &mut Draft,
) -> Result<HashSet<Arc<str>>, sqlx::Error> {
    let fresh: Vec<(usize, &NewEvent, u64)> = events
        .iter()
        .enumerate()
        .zip(&*ords)
        .filter_map(|((place, event), ord)| Some((place, event, (*ord)?)))
        .collect();
    let mut stale = HashSet::new();
    let mut rest = fresh.as_slice();
    while let Some(statement) = INSERTS.iter().find(|statement| statement.rows <= rest.len()) {
        let (now, later) = rest.split_at(statement.rows);
        let mut arguments = SqliteArguments::default();
        arguments.reserve(now.len() * COLUMNS, 0);
        let mut kind: Option<Arc<str>> = None;
        for (_, event, ord) in now {
            // Neighbours mostly share their type.
            let kind = match &mut kind {
                Some(kind) if **kind == *event.kind => kind,
                other => other.insert(event.kind.as_ref().into()),
            };
            bind(&mut arguments, event, kind, *ord).map_err(sqlx::Error::Encode)?;
        }
        let done = sqlx::query_with(statement.sql.as_str(), arguments).execute(&mut *tx).await?;
        let inserted = usize::try_from(done.rows_affected()).unwrap_or(usize::MAX);
        if inserted < now.len() {
            stale.extend(now.iter().map(|(_, event, _)| Arc::clone(&event.run)));
            look_closer(tx, now, inserted, &mut Ords { ords: &mut *ords, draft: &mut *draft }).await?;
        }
        rest = later;
    }
    Ok(stale)
}

/// What may have to be corrected.
struct Ords<'o> {
    ords: &'o mut [Option<u64>],
    draft: &'o mut Draft,
}

/// Somebody else has written to these runs, so that their rows are not as remembered: an event may be here already, or its
/// number taken.
async fn look_closer(
    tx: &mut SqliteConnection,
    rows: &[(usize, &NewEvent, u64)],
    inserted: usize,
    to: &mut Ords<'_>,
) -> Result<(), sqlx::Error> {
    let mut found = Vec::with_capacity(rows.len());
    for (_, event, _) in rows {
        let query = sqlx::query("SELECT ord FROM events WHERE run_id = ? AND seq = ?").bind(Arc::clone(&event.run));
        let row = query.bind(integer(event.seq)).fetch_optional(&mut *tx).await?;
        found.push(row.map(|row| row.try_get::<Option<i64>, _>(0)).transpose()?.map(Option::unwrap_or_default));
    }
    // Rows that carry our number but were not inserted by us had been given the same one.
    let same = |((_, _, ord), found): (&(usize, &NewEvent, u64), &Option<i64>)| *found == Some(integer(*ord));
    let mut theirs = rows.iter().zip(&found).filter(|pair| same(*pair)).count().saturating_sub(inserted);
    for ((place, event, ord), found) in rows.iter().zip(found) {
        let ours = found == Some(integer(*ord)) && theirs == 0;
        if found == Some(integer(*ord)) && theirs > 0 {
            theirs -= 1;
        }
        let ord = match found {
            Some(_) if ours => Some(*ord),
            Some(_) => {
                to.draft.was_repeat(event);
                None
            }
            None => Some(insert_next(tx, event, to.draft).await?),
        };
        to.ords.get_mut(*place).into_iter().for_each(|slot| *slot = ord);
    }
    Ok(())
}

/// Inserts an event under the next free number of its run.
async fn insert_next(tx: &mut SqliteConnection, event: &NewEvent, draft: &mut Draft) -> Result<u64, sqlx::Error> {
    let query = sqlx::query("SELECT max(ord) FROM events WHERE run_id = ?").bind(Arc::clone(&event.run));
    let last: Option<i64> = query.fetch_one(&mut *tx).await?.try_get(0)?;
    let next = last.and_then(|last| u64::try_from(last).ok()).unwrap_or(0) + 1;
    let mut arguments = SqliteArguments::default();
    bind(&mut arguments, event, &event.kind.as_ref().into(), next).map_err(sqlx::Error::Encode)?;
    if let Some(single) = INSERTS.last() {
        sqlx::query_with(single.sql.as_str(), arguments).execute(tx).await?;
    }
    draft.reached(&event.run, next);
    Ok(next)
}

fn bind(
    row: &mut SqliteArguments,
    event: &NewEvent,
    kind: &Arc<str>,
    ord: u64,
) -> Result<(), sqlx::error::BoxDynError> {
    row.add(Arc::clone(&event.run))?;
    row.add(integer(event.seq))?;
    row.add(millis(event.ts))?;
    row.add(Arc::clone(kind))?;
    row.add(event.node.clone())?;
    row.add(event.payload.as_ref().map_or("", |payload| text(payload.as_bytes())))?;
    row.add(event.extra.as_ref().map(|extra| text(extra.as_bytes())))?;
    row.add(integer(ord))
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
/// Everybody waits meanwhile.
const GLANCE: Duration = Duration::from_millis(250);
const LOOKED_UP: usize = 64;
/// What a commit adds to the log beside its rows: the pages they stand in, roughly.
const COMMIT_BYTES: u64 = 32 << 10;
