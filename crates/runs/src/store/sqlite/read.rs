//! Reading: runs, and their events a page at a time.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use lockgate_protocol::json::{Limits, Raw};
use sqlx::Row as _;
use sqlx::query::Query;
use sqlx::sqlite::{Sqlite, SqliteArguments, SqliteRow};

use super::Store;
use crate::store::error::StoreError;
use crate::store::{OrdRange, Page, PageSize, Run, Source, Status, StoredEvent};

impl Store {
    /// One run.
    ///
    /// # Errors
    /// When the database cannot be read; so for every method here.
    pub async fn run(&self, id: &str) -> Result<Option<Run>, StoreError> {
        let row = sqlx::query(concat!(run_columns!(), " WHERE id = ?")).bind(id).fetch_optional(&self.readers).await;
        row.and_then(|row| row.as_ref().map(run).transpose()).map_err(|error| self.sql(error))
    }

    /// One run, and when its last event was.
    pub async fn introduce(&self, id: &str) -> Result<Option<(Run, Option<u64>)>, StoreError> {
        let Some(run) = self.run(id).await? else { return Ok(None) };
        let sql = "SELECT CAST(ts AS INTEGER) FROM events WHERE run_id = ? ORDER BY ord DESC LIMIT 1";
        let row = sqlx::query(sql).bind(id).fetch_optional(&self.readers).await;
        let last = row.and_then(|row| row.map(|row| row.try_get(0)).transpose()).map_err(|error| self.sql(error))?;
        Ok(Some((run, last.map(unsigned))))
    }

    /// The newest runs, newest start first, in one query.
    pub async fn runs(&self, limit: usize) -> Result<Vec<Run>, StoreError> {
        let sql = concat!(run_columns!(), " ORDER BY started_at DESC, id DESC LIMIT ?");
        let rows = sqlx::query(sql).bind(length(limit)).fetch_all(&self.readers).await;
        rows.and_then(|rows| rows.iter().map(run).collect()).map_err(|error| self.sql(error))
    }

    /// How many runs there are.
    pub async fn count_runs(&self) -> Result<u64, StoreError> {
        let row = sqlx::query("SELECT count(*) FROM runs").fetch_one(&self.readers).await;
        let count: i64 = row.and_then(|row| row.try_get(0)).map_err(|error| self.sql(error))?;
        Ok(unsigned(count))
    }

    /// Ids of runs that nobody has ended.
    pub async fn running(&self) -> Result<Vec<Arc<str>>, StoreError> {
        let rows = sqlx::query("SELECT id FROM runs WHERE status = 'running'").fetch_all(&self.readers).await;
        let ids = |rows: Vec<SqliteRow>| rows.iter().map(|row| row.try_get::<String, _>(0).map(Arc::from)).collect();
        rows.and_then(ids).map_err(|error| self.sql(error))
    }

    /// Events by `seq`, those above `after` (−1 for all).
    pub async fn events_by_seq(&self, run: &str, after: i64, size: PageSize) -> Result<Page, StoreError> {
        let sql = concat!(event_columns!(), " WHERE run_id = ? AND seq > ? ORDER BY seq LIMIT ?");
        let query = sqlx::query(sql).bind(run).bind(after).bind(length(size.rows.saturating_add(1)));
        self.page(query, size).await
    }

    /// Events in the order they arrived, those with an `ord` in the range.
    pub async fn events_by_ord(&self, run: &str, range: OrdRange, size: PageSize) -> Result<Page, StoreError> {
        let sql = concat!(event_columns!(), " WHERE run_id = ? AND ord > ? AND ord <= ? ORDER BY ord LIMIT ?");
        let query = sqlx::query(sql).bind(run).bind(signed(range.after)).bind(signed(range.up_to));
        self.page(query.bind(length(size.rows.saturating_add(1))), size).await
    }

    /// The last events of one type, newest first. Tokens are not indexed by type and never found here.
    pub async fn latest_of(&self, run: &str, kind: &str, size: PageSize) -> Result<Page, StoreError> {
        let sql = concat!(
            event_columns!(),
            " WHERE run_id = ? AND type = ? AND type <> 'node.token' ORDER BY ord DESC LIMIT ?"
        );
        let query = sqlx::query(sql).bind(run).bind(kind).bind(length(size.rows.saturating_add(1)));
        self.page(query, size).await
    }

    /// The newest event of one type in the range that is wanted. Tokens are never found here.
    pub async fn latest_where(
        &self,
        run: &str,
        kind: &str,
        mut range: OrdRange,
        wanted: impl Fn(&StoredEvent) -> bool,
    ) -> Result<Option<StoredEvent>, StoreError> {
        let sql = concat!(
            event_columns!(),
            " WHERE run_id = ? AND type = ? AND type <> 'node.token' AND ord > ? AND ord <= ? ORDER BY ord DESC LIMIT ?"
        );
        loop {
            let query = sqlx::query(sql).bind(run).bind(kind).bind(signed(range.after)).bind(signed(range.up_to));
            let page = self.page(query.bind(length(SEARCHED.rows + 1)), SEARCHED).await?;
            let more = page.more;
            let last = page.events.last().map_or(0, |event| event.ord);
            let found = page.events.into_iter().find(&wanted);
            if found.is_some() || !more {
                return Ok(found);
            }
            range.up_to = last.saturating_sub(1);
        }
    }

    /// How many events lie in the range.
    pub async fn count_events(&self, run: &str, range: OrdRange) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM events WHERE run_id = ? AND ord > ? AND ord <= ?";
        let query = sqlx::query(sql).bind(run).bind(signed(range.after)).bind(signed(range.up_to));
        let row = query.fetch_one(&self.readers).await;
        let count: i64 = row.and_then(|row| row.try_get(0)).map_err(|error| self.sql(error))?;
        Ok(unsigned(count))
    }

    async fn page<'q>(&self, query: Query<'q, Sqlite, SqliteArguments>, size: PageSize) -> Result<Page, StoreError> {
        let mut page = Page::default();
        let mut bytes = 0;
        let mut long = Vec::new();
        {
            let mut rows = query.fetch(&self.readers);
            while let Some(row) = rows.try_next().await.map_err(|error| self.sql(error))? {
                if page.events.len() >= size.rows || (bytes >= size.bytes && !page.events.is_empty()) {
                    page.more = true;
                    break;
                }
                let (event, rowid) = event(&row).map_err(|error| self.sql(error))?;
                bytes += event.payload.as_ref().map_or(0, Raw::len);
                long.extend(rowid.map(|rowid| (page.events.len(), rowid)));
                page.events.push(event);
            }
        }
        for (place, rowid) in long {
            if bytes >= size.bytes && place > 0 {
                page.events.truncate(place);
                page.more = true;
                break;
            }
            let query = sqlx::query("SELECT payload_json FROM events WHERE rowid = ?").bind(rowid);
            let row = query.fetch_optional(&self.readers).await;
            let text: Option<String> =
                row.and_then(|row| row.map(|row| row.try_get(0)).transpose()).map_err(|error| self.sql(error))?;
            bytes += text.as_ref().map_or(0, String::len);
            if let Some(event) = page.events.get_mut(place) {
                event.payload = text.and_then(payload);
            }
        }
        Ok(page)
    }
}

macro_rules! run_columns {
    () => {
        "SELECT id, app, started_at, finished_at, status, schema_version, source, event_count, error_count, last_ord FROM runs"
    };
}
use run_columns;

macro_rules! event_columns {
    () => {
        "SELECT ord, seq, CAST(ts AS INTEGER), type, node_id, \
         CASE WHEN octet_length(payload_json) <= 16384 THEN payload_json END, extra_json, rowid FROM events"
    };
}
use event_columns;

fn run(row: &SqliteRow) -> Result<Run, sqlx::Error> {
    let text = |place: usize| row.try_get::<String, _>(place);
    let count = |place: usize| row.try_get::<i64, _>(place).map(unsigned);
    Ok(Run {
        id: text(0)?.into(),
        app: text(1)?.into(),
        started_at: row.try_get(2)?,
        finished_at: row.try_get(3)?,
        status: Status::parse(&text(4)?),
        schema_version: count(5)?,
        source: Source::parse(&text(6)?),
        events: count(7)?,
        errors: count(8)?,
        last_ord: count(9)?,
    })
}

/// An event, and where its payload is to be found when it is too long to travel with its row.
fn event(row: &SqliteRow) -> Result<(StoredEvent, Option<i64>), sqlx::Error> {
    let text: Option<String> = row.try_get(5)?;
    let long = if text.is_none() { Some(row.try_get(7)?) } else { None };
    let event = StoredEvent {
        ord: unsigned(row.try_get::<Option<i64>, _>(0)?.unwrap_or(0)),
        seq: unsigned(row.try_get(1)?),
        ts: unsigned(row.try_get(2)?),
        kind: row.try_get(3)?,
        node: row.try_get(4)?,
        payload: text.and_then(payload),
        extra: row.try_get::<Option<String>, _>(6)?.and_then(json),
    };
    Ok((event, long))
}

/// Empty: the frame had none. Damaged text reads as `null`.
fn payload(text: String) -> Option<Raw> {
    (!text.is_empty()).then(|| json(text).unwrap_or_else(Raw::null))
}

/// It came in a frame, so it is no deeper than one.
fn json(text: String) -> Option<Raw> {
    Raw::check(text.into(), Limits::FRAME).ok().map(|checked| checked.raw)
}

fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn length(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

/// Looked through at once.
const SEARCHED: PageSize = PageSize { rows: 200, bytes: 4 << 20 };
