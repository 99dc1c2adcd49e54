//! The store against real files.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use lockgate_protocol::json::Raw;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use tempfile::TempDir;

use super::Store;
use crate::retention::Retention;
use crate::store::error::{StoreError, StoreErrorKind};
use crate::store::{Batch, Mark, NewEvent, NewRun, OrdRange, Page, PageSize, Run, Source, Status, Turn};

struct Room {
    folder: TempDir,
    store: Store,
}

impl Room {
    async fn new() -> Room {
        let folder = TempDir::new().unwrap();
        let store = Store::open(&folder.path().join("runs.db")).await.unwrap();
        Room { folder, store }
    }

    /// Commits events `run/seq`, with `!` a `node.error`; answers their numbers, `-` for repeats.
    async fn commit(&self, events: &str) -> String {
        let events: Vec<NewEvent> = events.split_whitespace().map(event).collect();
        let runs = events.iter().map(|event| run(&event.run, 1_000));
        let batch = Batch { runs: runs.collect(), events, ..Batch::default() };
        ords(self.store.commit(&batch).await.unwrap().ords)
    }

    async fn turn(&self, turn: Turn) {
        self.store.commit(&Batch { turns: vec![turn], ..Batch::default() }).await.unwrap();
    }

    async fn by_ord(&self, run: &str) -> Vec<u64> {
        let all = PageSize { rows: 10_000, bytes: usize::MAX };
        seqs(&self.store.events_by_ord(run, OrdRange::ALL, all).await.unwrap())
    }

    async fn status(&self, run: &str) -> (Status, Option<f64>) {
        let run = self.store.run(run).await.unwrap().unwrap();
        (run.status, run.finished_at)
    }

    async fn other(&self) -> SqliteConnection {
        connect(self.store.path()).await
    }
}

async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).create_if_missing(true).connect().await.unwrap()
}

fn run(id: &str, started_at: u64) -> NewRun {
    NewRun { id: id.into(), app: "app".into(), started_at, source: Source::Live }
}

fn event(text: &str) -> NewEvent {
    let (run, seq) = text.split_once('/').unwrap();
    let (mark, kind) = if seq.ends_with('!') { (Mark::Error, "node.error") } else { (Mark::None, "node.token") };
    let seq = seq.trim_end_matches('!').parse().unwrap();
    let payload = Some(Raw::parse(format!("{{\"seq\":{seq}}}")).unwrap());
    NewEvent { run: run.into(), seq, ts: 1_000 + seq, kind: kind.into(), node: None, payload, extra: None, mark }
}

fn ords(ords: Vec<Option<u64>>) -> String {
    let texts: Vec<String> = ords.into_iter().map(|ord| ord.map_or("-".to_owned(), |ord| ord.to_string())).collect();
    texts.join(" ")
}

fn seqs(page: &Page) -> Vec<u64> {
    page.events.iter().map(|event| event.seq).collect()
}

const ALL: PageSize = PageSize { rows: 10_000, bytes: usize::MAX };

#[tokio::test]
async fn repeats_are_found_wherever_they_stand() {
    let room = Room::new().await;
    assert_eq!(room.commit("a/1 a/2 b/3 a/4").await, "1 2 1 3");
    assert_eq!(room.commit("a/1 a/2 a/4 a/5").await, "- - - 4");
    assert_eq!(room.commit("a/6 a/6 a/3 a/3").await, "5 - 6 -", "within a batch, and late ones");
    assert_eq!(room.commit("a/3 b/3 b/2").await, "- - 2");
    assert_eq!(room.by_ord("a").await, [1, 2, 4, 5, 6, 3]);
    assert_eq!(room.by_ord("b").await, [3, 2]);
}

#[tokio::test]
async fn every_size_of_batch_arrives_whole() {
    let room = Room::new().await;
    let mut next = 0;
    for size in [1, 3, 4, 15, 16, 17, 127, 128, 200, 512] {
        let events: Vec<String> = (next..next + size).map(|seq| format!("a/{seq}")).collect();
        room.commit(&events.join(" ")).await;
        next += size;
    }
    assert_eq!(room.by_ord("a").await, (0..next).collect::<Vec<_>>());
    let again: Vec<String> = (0..next).map(|seq| format!("a/{seq}")).collect();
    assert!(room.commit(&again.join(" ")).await.split(' ').all(|ord| ord == "-"));
    assert_eq!(room.store.run("a").await.unwrap().unwrap().events, next);
}

#[tokio::test]
async fn a_second_writer_costs_nothing() {
    let room = Room::new().await;
    room.commit("a/1").await;
    let second = Store::open(room.store.path()).await.unwrap();
    let batch = Batch { events: vec![event("a/2"), event("a/3")], ..Batch::default() };
    assert_eq!(ords(second.commit(&batch).await.unwrap().ords), "2 3");
    assert_eq!(room.commit("a/2 a/4").await, "- 4", "what the first remembers of the run is stale");
    assert_eq!(room.by_ord("a").await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn numbering_goes_on_after_a_restart() {
    let room = Room::new().await;
    room.commit("a/1 a/2!").await;
    let Room { folder, store } = room;
    let path = store.path().to_owned();
    store.close().await.unwrap();
    assert_eq!(std::fs::metadata(folder.path().join("runs.db-wal")).map_or(0, |log| log.len()), 0);
    let room = Room { folder, store: Store::open(&path).await.unwrap() };
    assert_eq!(room.commit("a/1 a/2 a/3").await, "- - 3");
    let run = room.store.run("a").await.unwrap().unwrap();
    assert_eq!((run.events, run.errors, run.last_ord), (3, 1, 3));
}

#[tokio::test]
async fn what_cannot_be_kept_is_numbered_all_the_same() {
    let room = Room::new().await;
    room.commit("a/1 a/2").await;
    let batch = Batch { events: vec![event("a/2"), event("a/3")], ..Batch::default() };
    assert_eq!(ords(room.store.number(&batch).await.ords), "- 3");
    assert_eq!(room.commit("a/4").await, "4", "later ones leave the hole");
    assert_eq!(room.by_ord("a").await, [1, 2, 4]);
}

#[tokio::test]
async fn what_comes_late_or_again_while_nothing_is_kept_is_told_apart() {
    let room = Room::new().await;
    room.commit("a/1 a/2 a/9").await;
    let events = |text: &str| text.split_whitespace().map(event).collect::<Vec<NewEvent>>();
    let number =
        async |text: &str| ords(room.store.number(&Batch { events: events(text), ..Batch::default() }).await.ords);
    assert_eq!(number("a/10 a/5 a/5 a/2 a/10").await, "4 5 - - -");
    assert_eq!(number("a/5 a/6 a/9 a/10").await, "- 6 - -");
    let missed = events("a/10 a/5 a/6").into_iter().zip(4..).collect();
    let back = Batch { missed: Some(missed), events: events("a/5 a/11"), ..Batch::default() };
    assert_eq!(ords(room.store.commit(&back).await.unwrap().ords), "- 7");
    assert_eq!(number("a/7 a/5 a/11").await, "8 - -", "and the next time too");
}

#[tokio::test]
async fn what_was_put_and_not_kept_is_a_repeat_when_it_comes_again() {
    let room = Room::new().await;
    room.commit("a/1").await;
    let put = Arc::new(Batch { events: vec![event("a/2"), event("a/4")], ..Batch::default() });
    let mut tx = room.store.begin().await.unwrap();
    assert_eq!(ords(tx.put(&put).await.unwrap().ords), "2 3");
    tx.rollback().await;
    room.store.adrift(&[put]).await;
    let again = Batch { events: vec![event("a/2"), event("a/3"), event("a/4")], ..Batch::default() };
    assert_eq!(ords(room.store.number(&again).await.ords), "- 4 -");
}

#[tokio::test]
async fn a_run_of_an_earlier_start_goes_on_where_it_was_though_nothing_can_be_kept() {
    let Room { folder: _folder, store } = Room::new().await;
    let earlier = Batch { runs: vec![run("a", 1)], events: vec![event("a/1"), event("a/2!")], ..Batch::default() };
    store.commit(&earlier).await.unwrap();
    let later = Store::open(store.path()).await.unwrap();
    let batch = Batch { events: vec![event("a/2!"), event("a/3")], ..Batch::default() };
    let numbered = later.number(&batch).await;
    assert_eq!(ords(numbered.ords), "- 3");
    let totals = numbered.totals.first().unwrap().1;
    assert_eq!((totals.events, totals.errors, totals.last_ord), (3, 1, 3));
}

#[tokio::test]
async fn pages_end_at_rows_or_bytes() {
    let room = Room::new().await;
    room.commit("a/1 a/2 a/3").await;
    let check = async |rows, bytes, expected: &[u64], more| {
        let page = room.store.events_by_seq("a", -1, PageSize { rows, bytes }).await.unwrap();
        assert_eq!((seqs(&page), page.more), (expected.to_vec(), more));
    };
    check(3, 1_000, &[1, 2, 3], false).await;
    check(2, 1_000, &[1, 2], true).await;
    check(3, 9, &[1], true).await;
    check(3, 0, &[1], true).await;
    let rest = room.store.events_by_seq("a", 1, ALL).await.unwrap();
    assert_eq!((seqs(&rest), rest.more), (vec![2, 3], false));
    let range = OrdRange { after: 1, up_to: 2 };
    assert_eq!(seqs(&room.store.events_by_ord("a", range, ALL).await.unwrap()), [2]);
    assert_eq!(room.store.count_events("a", range).await.unwrap(), 1);
    assert!(room.store.events_by_seq("nobody", -1, ALL).await.unwrap().events.is_empty());
}

#[tokio::test]
async fn long_payloads_are_fetched_one_by_one_and_end_a_page_too() {
    let room = Room::new().await;
    let sizes = [10, 20_000, 30_000, 10, 16_382, 16_383];
    let with = |(seq, size): (usize, &usize)| NewEvent {
        payload: Some(Raw::string(&"x".repeat(*size))),
        ..event(&format!("a/{seq}"))
    };
    let events = sizes.iter().enumerate().map(with).collect();
    room.store.commit(&Batch { runs: vec![run("a", 1)], events, ..Batch::default() }).await.unwrap();
    let check = async |bytes, expected: &[usize], more| {
        let page = room.store.events_by_seq("a", -1, PageSize { rows: 100, bytes }).await.unwrap();
        let found: Vec<usize> = page.events.iter().map(|event| event.payload.as_ref().unwrap().len() - 2).collect();
        assert_eq!((found.as_slice(), page.more), (expected, more));
    };
    check(usize::MAX, &sizes, false).await;
    check(40_000, &[10, 20_000, 30_000, 10, 16_382], true).await;
    check(20_000, &[10, 20_000], true).await;
}

#[tokio::test]
async fn an_envelope_reads_back_as_it_came() {
    let room = Room::new().await;
    let mut one = event("a/1");
    one.kind = "custom.thing".into();
    one.node = Some("tool:x\0y".into());
    one.payload = Some(Raw::parse(r#"{"n":1e400,"big":123456789012345678901,"lone":"\ud800","z":1,"a":2}"#).unwrap());
    one.extra = Some(Raw::parse(r#"{"traceparent":"00-ab"}"#).unwrap());
    let mut bare = event("a/2");
    bare.payload = None;
    let batch = Batch { runs: vec![run("a", 1)], events: vec![one, bare], ..Batch::default() };
    room.store.commit(&batch).await.unwrap();
    let page = room.store.events_by_seq("a", -1, ALL).await.unwrap();
    let mut out = Vec::new();
    page.events.iter().for_each(|event| event.write(1, "a", &mut out));
    insta::assert_snapshot!(String::from_utf8(out).unwrap().replace("}{", "}\n{"), @r#"
    {"gm":1,"seq":1,"ts":1001,"runId":"a","type":"custom.thing","payload":{"n":1e400,"big":123456789012345678901,"lone":"\ud800","z":1,"a":2},"traceparent":"00-ab"}
    {"gm":1,"seq":2,"ts":1002,"runId":"a","type":"node.token"}
    "#);
    assert_eq!(page.events.first().unwrap().node.as_deref(), Some("tool:x\0y"));
}

#[tokio::test]
async fn damaged_text_reads_as_null() {
    let room = Room::new().await;
    room.commit("a/1 a/2").await;
    let spoil = "UPDATE events SET payload_json = '{\"half' WHERE seq = 1";
    sqlx::query(spoil).execute(&mut room.other().await).await.unwrap();
    let page = room.store.events_by_seq("a", -1, ALL).await.unwrap();
    assert_eq!(page.events.iter().map(|event| event.payload.clone().unwrap().len()).collect::<Vec<_>>(), [4, 9]);
}

#[tokio::test]
async fn a_run_lives_dies_and_comes_back() {
    let room = Room::new().await;
    room.commit("a/1 a/5").await;
    assert_eq!(room.status("a").await, (Status::Running, None));
    room.turn(Turn::Resumed { run: "a".into() }).await;
    assert_eq!(room.status("a").await, (Status::Running, None));
    assert_eq!(room.store.running().await.unwrap(), ["a".into()]);
    room.turn(Turn::Abandoned { run: "a".into(), now: 9_000 }).await;
    assert_eq!(room.status("a").await, (Status::Abandoned, Some(1_005.0)), "its last event says when");
    assert!(room.store.running().await.unwrap().is_empty());
    room.turn(Turn::Resumed { run: "a".into() }).await;
    assert_eq!(room.status("a").await, (Status::Running, None));

    let mut end = event("a/6");
    end.mark = Mark::Finished { status: Status::Error };
    let mut late = event("a/7");
    late.mark = Mark::Finished { status: Status::Ok };
    room.store.commit(&Batch { events: vec![end, late], ..Batch::default() }).await.unwrap();
    assert_eq!(room.status("a").await, (Status::Error, Some(1_006.0)), "the first word stands");
    room.turn(Turn::Abandoned { run: "a".into(), now: 9_000 }).await;
    assert_eq!(room.status("a").await, (Status::Error, Some(1_006.0)));

    let empty = Batch { runs: vec![run("b", 2_000)], ..Batch::default() };
    room.store.commit(&empty).await.unwrap();
    room.turn(Turn::Abandoned { run: "b".into(), now: 9_000 }).await;
    assert_eq!(room.status("b").await, (Status::Abandoned, Some(9_000.0)));
}

#[tokio::test]
async fn the_list_is_newest_first() {
    let room = Room::new().await;
    let mut start = event("b/1");
    start.mark = Mark::Started { app: "planner".into() };
    let runs = vec![run("a", 1_000), run("c", 3_000), run("d", 3_000), run("b", 500)];
    room.store.commit(&Batch { runs, events: vec![start], ..Batch::default() }).await.unwrap();
    let list = room.store.runs(3).await.unwrap();
    let list: Vec<_> = list.iter().map(|run| (&*run.id, &*run.app, run.started_at)).collect();
    assert_eq!(list, [("d", "app", 3_000.0), ("c", "app", 3_000.0), ("b", "planner", 1_001.0)]);
    assert_eq!(room.store.count_runs().await.unwrap(), 4);
}

#[tokio::test]
async fn events_are_found_by_type() {
    let room = Room::new().await;
    room.commit("a/1! a/2 a/3! b/4!").await;
    let errors = room.store.latest_of("a", "node.error", ALL).await.unwrap();
    assert_eq!(seqs(&errors), [3, 1]);
}

#[tokio::test]
async fn pruning_frees_the_disk() {
    let room = Room::new().await;
    let big = Raw::string(&"x".repeat(20_000));
    for id in 0..40_u64 {
        let events = (0..10).map(|seq| NewEvent { payload: Some(big.clone()), ..event(&format!("r{id:02}/{seq}")) });
        let runs = vec![run(&format!("r{id:02}"), 1_000 + id)];
        let mut events: Vec<_> = events.collect();
        events.last_mut().unwrap().mark = Mark::Finished { status: Status::Ok };
        room.store.commit(&Batch { runs, events, ..Batch::default() }).await.unwrap();
    }
    room.store.checkpoint().await.unwrap();
    let before = std::fs::metadata(room.store.path()).unwrap().len();
    let keep = Retention::Keep { runs: 2, age: Duration::from_secs(3_600) };
    let spared = HashSet::from([Arc::from("r07")]);
    let gone = room.store.prune(keep, 2_000.0, &spared).await.unwrap();
    assert_eq!(gone.len(), 37);
    room.store.shrink().await.unwrap();
    let after = std::fs::metadata(room.store.path()).unwrap().len();
    assert!(after * 4 < before, "{before} bytes became {after}");
    let left: Vec<_> = room.store.runs(9).await.unwrap().into_iter().map(|run| run.id).collect();
    assert_eq!(left, ["r39".into(), "r38".into(), "r07".into()]);
    assert_eq!(room.by_ord("r07").await.len(), 10);
    assert!(room.by_ord("r08").await.is_empty());
    assert!(!room.store.delete_run("r08").await.unwrap());
    assert_eq!(room.commit("r08/3").await, "1", "nothing is remembered of a removed run");
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_the_owners_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = TempDir::new().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = folder.path().join("new/deep/runs.db");
    let store = Store::open(&path).await.unwrap();
    store.commit(&Batch { runs: vec![run("a", 1)], ..Batch::default() }).await.unwrap();
    store.vacuum().await.unwrap();
    assert_eq!(mode(folder.path()), 0o755, "a folder that was there stays as it is");
    assert_eq!((mode(&folder.path().join("new")), mode(&folder.path().join("new/deep"))), (0o700, 0o700));
    for file in ["runs.db", "runs.db-wal", "runs.db-shm"] {
        assert_eq!(mode(&path.with_file_name(file)), 0o600, "{file}");
    }
    store.close().await.unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    Store::open(&path).await.unwrap();
    assert_eq!(mode(&path), 0o600, "an old file is tightened");
}

#[tokio::test]
async fn a_file_of_the_peer_is_taken_over() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("peer.db");
    let mut peer = connect(&path).await;
    let sql = "CREATE TABLE runs (id TEXT PRIMARY KEY, app TEXT NOT NULL, started_at REAL NOT NULL, finished_at REAL, \
               status TEXT NOT NULL, schema_version INTEGER NOT NULL, source TEXT NOT NULL);\
               CREATE TABLE events (run_id TEXT NOT NULL, seq INTEGER NOT NULL, ts REAL NOT NULL, type TEXT NOT NULL, \
               node_id TEXT, payload_json TEXT NOT NULL, PRIMARY KEY (run_id, seq));\
               INSERT INTO runs VALUES ('a', 'old', 5, NULL, 'running', 1, 'live'), ('b', 'old', 6, 9, 'ok', 1, 'demo');\
               INSERT INTO events VALUES ('a', 2, 1, 'node.started', 'n', '{}'), ('b', 1, 2, 'node.error', 'n', '{}'), \
               ('a', 1, 3, 'node.error', 'n', '{}')";
    sqlx::raw_sql(sql).execute(&mut peer).await.unwrap();
    peer.close().await.unwrap();
    let room = Room { folder, store: Store::open(&path).await.unwrap() };
    let counts = room.store.runs(9).await.unwrap().into_iter().map(|run| (run.events, run.errors, run.last_ord));
    assert_eq!(counts.collect::<Vec<_>>(), [(1, 1, 1), (2, 1, 2)]);
    assert_eq!(room.by_ord("a").await, [2, 1], "as they arrived");
    assert_eq!(room.commit("a/1 a/2 a/3").await, "- - 3");
    room.store.shrink().await.unwrap();
    assert_eq!(room.store.pragma("PRAGMA auto_vacuum").await.unwrap(), super::INCREMENTAL);
}

#[tokio::test]
async fn a_newer_file_is_left_alone() {
    let room = Room::new().await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (99, 'x', 1, x'00', 0)";
    sqlx::query(newer).execute(&mut room.other().await).await.unwrap();
    let error = Store::open(room.store.path()).await.unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Newer { found: 99, known: 2 }), "{error}");
    assert!(error.hint().unwrap().contains("update"));
}

#[tokio::test]
async fn what_is_no_database_is_called_so() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("text.db");
    std::fs::write(&path, "this is no database, though it is long enough to look like one to a reader".repeat(20))
        .unwrap();
    let error = Store::open(&path).await.unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Damaged), "{error}");
    let blocked = path.join("below/a/file.db");
    assert!(matches!(Store::open(&blocked).await.unwrap_err().kind, StoreErrorKind::Files(_)));
}

#[tokio::test]
async fn a_full_disk_keeps_nothing_of_the_batch_and_recovers() {
    let room = Room::new().await;
    room.commit("a/1").await;
    let limit = async |pages: &'static str| room.store.pragma(pages).await.unwrap();
    limit("PRAGMA max_page_count = 1").await;
    let huge = NewEvent { payload: Some(Raw::string(&"x".repeat(500_000))), ..event("a/3") };
    let batch = Batch { runs: vec![run("b", 1)], events: vec![event("a/2"), huge], ..Batch::default() };
    let error = room.store.commit(&batch).await.unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::Full), "{error}");
    assert!(error.hint().unwrap().contains("free space"));
    assert_eq!(room.by_ord("a").await, [1]);
    assert!(room.store.run("b").await.unwrap().is_none());
    limit("PRAGMA max_page_count = 1000000").await;
    assert_eq!(ords(room.store.commit(&batch).await.unwrap().ords), "2 3");
}

#[tokio::test]
async fn a_missed_row_is_made_or_caught_up_and_an_end_stays() {
    let room = Room::new().await;
    let as_it_is = |status, finished_at, last_ord| Run {
        id: "a".into(),
        app: "b".into(),
        started_at: 5.0,
        finished_at,
        status,
        schema_version: 1,
        source: Source::Demo,
        events: 7,
        errors: 7,
        last_ord,
    };
    let restate = async |row: Run| {
        room.store.commit(&Batch { rows: vec![row], ..Batch::default() }).await.unwrap();
        room.store.run("a").await.unwrap().unwrap()
    };
    let made = restate(as_it_is(Status::Running, None, 7)).await;
    let counted = Run { events: 0, errors: 0, ..as_it_is(Status::Running, None, 7) };
    assert_eq!(made, counted, "counts are of what is stored");
    let ended = restate(Run { app: "c".into(), ..as_it_is(Status::Ok, Some(9.0), 6) }).await;
    assert_eq!((ended.status, ended.finished_at, &*ended.app, ended.last_ord), (Status::Ok, Some(9.0), "c", 7));
    for (status, at) in [(Status::Running, None), (Status::Abandoned, Some(10.0)), (Status::Error, Some(10.0))] {
        let stays = restate(as_it_is(status, at, 7)).await;
        assert_eq!((stays.status, stays.finished_at), (Status::Ok, Some(9.0)), "{status:?}");
    }
    assert_eq!(room.commit("a/1").await, "8", "numbers that were given out stay given out");
}

#[tokio::test]
async fn missed_events_get_the_numbers_they_were_shown_under_and_come_before_new_ones() {
    let room = Room::new().await;
    room.commit("a/1").await;
    let failing = Batch { events: vec![event("a/2"), event("a/3!")], ..Batch::default() };
    let shown = room.store.number(&failing).await.ords;
    assert_eq!(ords(shown.clone()), "2 3");
    let missed: Vec<(NewEvent, u64)> = failing.events.into_iter().zip(shown.into_iter().flatten()).collect();
    let back = || Batch { missed: Some(missed.clone()), events: vec![event("a/4"), event("a/2")], ..Batch::default() };
    assert_eq!(ords(room.store.commit(&back()).await.unwrap().ords), "4 -", "what was missed is here now");
    assert_eq!(ords(room.store.commit(&back()).await.unwrap().ords), "- -", "and is kept once");
    let run = room.store.run("a").await.unwrap().unwrap();
    assert_eq!((room.by_ord("a").await, run.events, run.errors, run.last_ord), (vec![1, 2, 3, 4], 4, 1, 4));
}

#[tokio::test]
async fn a_missed_event_whose_number_somebody_else_took_gets_the_next() {
    let room = Room::new().await;
    room.commit("a/1").await;
    let theirs =
        "INSERT INTO events (run_id, seq, ts, type, payload_json, ord) VALUES ('a', 9, 1, 'node.token', '{}', 2)";
    sqlx::query(theirs).execute(&mut room.other().await).await.unwrap();
    let batch = Batch { missed: Some(vec![(event("a/2"), 2)]), ..Batch::default() };
    room.store.commit(&batch).await.unwrap();
    assert_eq!(room.by_ord("a").await, [1, 9, 2]);
    assert_eq!(room.commit("a/3").await, "4");
}

#[tokio::test]
async fn files_that_may_not_be_used_are_told_apart() {
    let folder = TempDir::new().unwrap();
    let error = Store::open(folder.path()).await.unwrap_err();
    assert!(
        matches!(&error.kind, StoreErrorKind::Files(error) if error.kind() == io::ErrorKind::IsADirectory),
        "{error}"
    );
    let denied = StoreError::files(folder.path(), io::ErrorKind::PermissionDenied.into());
    assert!(matches!(denied.kind, StoreErrorKind::ReadOnly) && denied.hint().is_some(), "{denied}");
}

/// The version of the file format says that this program may read but not write it.
#[tokio::test]
async fn a_file_that_opens_for_reading_only_is_called_so() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("runs.db");
    Store::open(&path).await.unwrap().close().await.unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[18] = 3;
    std::fs::write(&path, bytes).unwrap();
    let error = Store::open(&path).await.unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::ReadOnly), "{error}");
}

#[tokio::test]
async fn a_read_only_file_is_called_so() {
    let room = Room::new().await;
    sqlx::query("PRAGMA query_only = ON").execute(&mut room.store.writer.lock().await.connection).await.unwrap();
    let batch = Batch { events: vec![event("a/1")], ..Batch::default() };
    let error = room.store.commit(&batch).await.unwrap_err();
    assert!(matches!(error.kind, StoreErrorKind::ReadOnly), "{error}");
}
