//! A store that fails, and a hub that is killed.

use std::process::Stdio;
use std::time::Duration;

use crate::room::{App, Room, SOON, Viewer, frame, hello};
use lockgate_hub::store::error::StoreErrorKind;
use lockgate_hub::{Hub, HubConfig, StartError};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

#[tokio::test]
async fn a_locked_database_costs_neither_the_present_nor_what_was_shown() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("r").await;
    viewer.replay().await;
    app.start("r").await;
    assert_eq!(viewer.line.until("stored").await["ord"], 1);
    let lock = Locker::take(&room.database());
    app.node("r", "unsaved").await;
    app.node("r", "unsaved too").await;
    assert_eq!(viewer.seqs(2).await, [2, 3], "shown all the same");
    let state = viewer.line.until("state").await;
    assert!(state["storage"].as_str().unwrap().contains("another program is writing to it"), "{state}");
    assert!(room.ok("/health").await["storage"].is_string());
    lock.release();
    let kept = async {
        loop {
            app.node("r", "saved").await;
            let frame = viewer.line.next().await.unwrap();
            if frame["type"] == "state" && frame.get("storage").is_none() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(SOON, kept).await.unwrap();
    app.finish("r", "ok").await;
    room.until_run("r", |run| run["status"] == "ok").await;
    let stored = room.stored("r").await;
    assert!(stored.contains(&"1 run.started".to_owned()) && stored.last().unwrap().ends_with("run.finished"));
    assert!(stored.contains(&"2 node.started".to_owned()) && stored.contains(&"3 node.started".to_owned()));
    let ords = numbers(&room.database(), "r").await;
    assert!(
        ords.iter().copied().eq(1..=i64::try_from(stored.len()).unwrap()),
        "in the order they were shown: {ords:?}"
    );
    assert!(room.ok("/health").await.get("lostEvents").is_none());
}

#[tokio::test]
async fn a_late_frame_while_nothing_is_kept_is_neither_lost_nor_doubled() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("r").await;
    viewer.replay().await;
    app.start("r").await;
    viewer.line.until("stored").await;
    let lock = Locker::take(&room.database());
    app.seq = 10;
    app.node("r", "first").await;
    assert_eq!(viewer.seqs(1).await, [10]);
    for seq in [5, 5, 10, 1, 7, 11] {
        app.seq = seq;
        app.node("r", "later").await;
    }
    assert_eq!(viewer.seqs(3).await, [5, 7, 11], "late ones are shown, repeats are not");
    assert!(room.ok("/health").await["storage"].is_string(), "all that without a store");
    lock.release();
    let back = async {
        while numbers(&room.database(), "r").await != [1, 3, 4, 2, 5] {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, back).await.unwrap();
    room.until_run("r", |run| run["eventCount"] == 5).await;
}

/// Arrival numbers of a run's events by `seq`, from the file itself.
async fn numbers(database: &std::path::Path, run: &str) -> Vec<i64> {
    use sqlx::{ConnectOptions as _, Row as _};
    let mut other = sqlx::sqlite::SqliteConnectOptions::new().filename(database).connect().await.unwrap();
    let query = sqlx::query("SELECT ord FROM events WHERE run_id = ? ORDER BY seq").bind(run);
    query.fetch_all(&mut other).await.unwrap().iter().map(|row| row.get(0)).collect()
}

#[tokio::test]
async fn a_run_that_begins_while_nothing_is_kept_can_be_read_and_followed() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("before").await;
    room.until_stored("before", 1).await;
    let lock = Locker::take(&room.database());
    app.start("r").await;
    app.node("r", "n").await;
    app.pause("r", "p").await;
    app.node("before", "late").await;
    room.until_open("r", "p").await;
    room.until_run("before", |run| run["eventCount"] == 2).await;
    let page = async |run: &str, more: &str| -> (Vec<u64>, serde_json::Value) {
        let page = room.ok(&format!("/api/runs/{run}/events?{more}")).await;
        let seqs = page["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        (seqs, json!([page["total"], page["nextAfterSeq"]]))
    };
    let (all, totals) = page("r", "").await;
    assert_eq!((all.len(), totals), (3, json!([3, null])));
    assert_eq!(page("r", "limit=2").await, (all[..2].to_vec(), json!([3, all[1]])));
    assert_eq!(page("r", &format!("afterSeq={}", all[1])).await, (vec![all[2]], json!([3, null])));
    let (mixed, totals) = page("before", "").await;
    assert_eq!((mixed.len(), totals), (2, json!([2, null])), "what is kept, and what is not");
    assert_eq!(page("before", "limit=1").await, (mixed[..1].to_vec(), json!([2, mixed[0]])));
    assert_eq!(room.get("/api/runs/nobody/events").await.0, 404);
    let pauses = room.ok("/api/pauses?runId=r").await;
    assert_eq!((&pauses["run"]["status"], &pauses["pauses"][0]["pauseId"]), (&json!("running"), &json!("p")));
    let mut viewer = room.viewer().await;
    viewer.subscribe("r").await;
    assert_eq!(viewer.seqs(3).await, all, "whoever comes later sees it too");
    assert!(room.ok("/health").await["storage"].is_string(), "all that without a store");
    lock.release();
    let back = async {
        while numbers(&room.database(), "r").await != [1, 2, 3] {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, back).await.unwrap();
    assert_eq!(page("r", "").await.0, all);
    let room = room.restart().await;
    assert_eq!(room.stored("r").await.len(), 3);
    assert_eq!(room.stored("before").await.len(), 2);
}

#[tokio::test]
async fn what_is_too_much_to_remember_is_counted_and_said() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let mut viewer = room.viewer().await;
    app.start("r").await;
    room.until_stored("r", 1).await;
    let lock = Locker::take(&room.database());
    let long = "x".repeat(400 << 10);
    for n in 0..60 {
        app.emit("r", "node.finished", json!({"nodeId": "n", "durationMs": n, "status": "ok", "output": long})).await;
    }
    room.until_run("r", |run| run["eventCount"] == 61).await;
    let lost = room.ok("/health").await["lostEvents"].as_u64().unwrap();
    assert!((15..40).contains(&lost), "{lost}");
    let said = async {
        while !viewer.line.until("state").await["storage"].as_str().unwrap_or_default().contains("events are lost") {}
    };
    tokio::time::timeout(SOON, said).await.unwrap();
    lock.release();
    let kept = i64::try_from(61 - lost).unwrap();
    let back = async {
        while numbers(&room.database(), "r").await.len() < usize::try_from(kept).unwrap() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, back).await.unwrap();
    assert!(numbers(&room.database(), "r").await.into_iter().eq(1..=kept), "the first ones are there");
    assert_eq!(room.ok("/health").await["lostEvents"], lost);
}

/// What the rows of all runs say, from the file itself.
async fn rows(database: &std::path::Path) -> Vec<String> {
    use sqlx::{ConnectOptions as _, Row as _};
    let mut other = sqlx::sqlite::SqliteConnectOptions::new().filename(database).connect().await.unwrap();
    let sql = "SELECT id, status, finished_at IS NOT NULL, event_count FROM runs ORDER BY id";
    let rows = sqlx::query(sql).fetch_all(&mut other).await.unwrap();
    let show = |row: &sqlx::sqlite::SqliteRow| {
        let (id, status): (String, String) = (row.get(0), row.get(1));
        format!("{id} {status} ended {} events {}", row.get::<i64, _>(2), row.get::<i64, _>(3))
    };
    rows.iter().map(show).collect()
}

#[tokio::test]
async fn runs_that_end_while_nothing_is_kept_stand_right_when_the_store_is_back() {
    let room = Room::with(|config| config.abandon_grace = Duration::from_millis(10)).await;
    let mut viewer = room.viewer().await;
    viewer.subscribe("*").await;
    let mut app = room.app().await;
    let mut dying = room.app().await;
    app.start("ends").await;
    app.start("goes on").await;
    dying.start("is left").await;
    for run in ["ends", "goes on", "is left"] {
        room.until_stored(run, 1).await;
    }
    let lock = Locker::take(&room.database());
    app.finish("ends", "ok").await;
    app.start("comes and goes").await;
    app.finish("comes and goes", "error").await;
    drop(dying);
    let expected = [("ends", "ok"), ("comes and goes", "error"), ("is left", "abandoned"), ("goes on", "running")];
    for (run, status) in expected {
        room.until_run(run, |run| run["status"] == status).await;
    }
    assert!(room.ok("/health").await["storage"].is_string(), "and nothing of it is kept");
    lock.release();
    // Nobody sends anything: the hub finds out by itself.
    let back = async {
        while room.ok("/health").await.get("storage").is_some() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(SOON, back).await.unwrap();
    let expected_rows = [
        "comes and goes error ended 1 events 2",
        "ends ok ended 1 events 2",
        "goes on running ended 0 events 1",
        "is left abandoned ended 1 events 1",
    ];
    assert_eq!(rows(&room.database()).await, expected_rows);
    app.finish("goes on", "aborted").await;
    room.until_run("goes on", |run| run["status"] == "aborted").await;
    let room = room.restart().await;
    for (run, status) in expected.into_iter().filter(|(run, _)| *run != "goes on") {
        room.until_run(run, |run| run["status"] == status).await;
    }
}

/// Another program that holds the write lock. The system's own tool is not needed: a second store does it.
struct Locker {
    release: std::sync::mpsc::Sender<()>,
    thread: std::thread::JoinHandle<()>,
}

impl Locker {
    fn take(database: &std::path::Path) -> Locker {
        let (release, released) = std::sync::mpsc::channel::<()>();
        let (ready, is_ready) = std::sync::mpsc::channel::<()>();
        let path = database.to_owned();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                use sqlx::ConnectOptions as _;
                let mut other = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
                sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
                ready.send(()).unwrap();
                released.recv().unwrap();
                sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
            });
        });
        is_ready.recv().unwrap();
        Locker { release, thread }
    }

    fn release(self) {
        self.release.send(()).unwrap();
        self.thread.join().unwrap();
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_not_touched() {
    let folder = tempfile::TempDir::new().unwrap();
    let config = || {
        let mut config = HubConfig::new(folder.path().join("runs.db"));
        config.listen = "127.0.0.1:0".parse().unwrap();
        config
    };
    let (hub, running) = Hub::start(config()).await.unwrap();
    let running = tokio::spawn(running);
    hub.stop();
    running.await.unwrap();
    {
        use sqlx::ConnectOptions as _;
        let path = folder.path().join("runs.db");
        let mut other = sqlx::sqlite::SqliteConnectOptions::new().filename(path).connect().await.unwrap();
        let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (99, 'x', 1, x'00', 0)";
        sqlx::query(newer).execute(&mut other).await.unwrap();
    }
    let error = Hub::start(config()).await.err().unwrap();
    assert!(
        matches!(&error, StartError::Store(error) if matches!(error.kind, StoreErrorKind::Newer { .. })),
        "{error}"
    );
    assert!(error.hint().is_some());
}

/// A hub in a process of its own: this very test binary, running the test below.
async fn hub_process(folder: &std::path::Path) -> (Child, std::net::SocketAddr) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["storage::hub_of_a_child_process", "--exact", "--nocapture"])
        .env("HUB_CHILD_FOLDER", folder)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let address = loop {
        let line = tokio::time::timeout(SOON, lines.next_line()).await.unwrap().unwrap().expect("the hub speaks");
        if let Some((_, address)) = line.split_once("listening on ") {
            break address.trim().parse().unwrap();
        }
    };
    (child, address)
}

/// Runs a hub until it is killed, when a parent asks for one.
#[tokio::test]
async fn hub_of_a_child_process() {
    let Some(folder) = std::env::var_os("HUB_CHILD_FOLDER") else { return };
    // Where files may not grow, a write is to fail as on a full disk instead of ending the process.
    #[cfg(unix)]
    let _heard =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))
            .unwrap();
    let mut config = HubConfig::new(std::path::Path::new(&folder).join("runs.db"));
    config.listen = "127.0.0.1:0".parse().unwrap();
    let (hub, running) = Hub::start(config).await.unwrap();
    println!("listening on {}", hub.address());
    running.await;
}

#[tokio::test]
async fn killed_and_started_again_nothing_is_lost_and_nothing_twice() {
    let folder = tempfile::TempDir::new().unwrap();
    let (mut first, address) = hub_process(folder.path()).await;
    let mut app = App::attach(address, hello()).await;
    let token = app.token();
    let payload = json!({"nodeId": "n", "deltas": [{"t": "text", "v": "x"}]});
    let count = 4_000;
    let frames: Vec<String> = (1..=count).map(|seq| frame(seq, "r", "node.token", &payload)).collect();
    app.line.send_all(frames[..3_000].to_vec()).await;
    // In the middle of its work, without a word.
    let some = async {
        while total(address, "r").await < 500 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(SOON, some).await.unwrap();
    first.kill().await.unwrap();

    let (mut second, address) = hub_process(folder.path()).await;
    let survived = total(address, "r").await;
    assert!(survived >= 500, "what was shown is there: {survived}");
    // The program replays everything it remembers, as it does after every loss.
    let mut again = hello();
    again["resumeToken"] = json!(token);
    let mut app = App::attach(address, again).await;
    app.line.send_all(frames).await;
    app.line.send(frame(count + 1, "r", "run.finished", &json!({"status": "ok"}))).await;
    let whole = async {
        while total(address, "r").await < count + 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, whole).await.unwrap();
    let url = format!("http://{address}/api/runs/r/events?limit=5000");
    let page: serde_json::Value = reqwest::get(url).await.unwrap().json().await.unwrap();
    let seqs: Vec<u64> =
        page["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(seqs.into_iter().eq(1..=count + 1));
    assert_eq!(page["total"], count + 1);
    second.kill().await.unwrap();
}

/// The system lets no file of the hub grow: what a full disk and a file system gone read-only look like from inside.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_disk_that_takes_nothing_costs_neither_the_present_nor_what_was_shown() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let folder = tempfile::TempDir::new().unwrap();
    let (mut child, address) = hub_process(folder.path()).await;
    let pid = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap());
    let allow = |bytes| prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
    let health = async || -> serde_json::Value {
        reqwest::get(format!("http://{address}/health")).await.unwrap().json().await.unwrap()
    };
    let mut app = App::attach(address, hello()).await;
    let mut viewer = Viewer::open(address, &[]).await.unwrap();
    viewer.subscribe("r").await;
    viewer.replay().await;
    app.start("r").await;
    assert_eq!(viewer.line.until("stored").await["ord"], 1);

    allow(Some(1));
    for node in 0..20 {
        app.node("r", &format!("n{node}")).await;
    }
    app.finish("r", "ok").await;
    let (mut seqs, mut told) = (Vec::new(), Vec::new());
    while seqs.len() < 21 || told.is_empty() {
        let frame = viewer.line.next().await.unwrap();
        match frame["type"].as_str().unwrap() {
            "event" => seqs.push(frame["envelope"]["seq"].as_u64().unwrap()),
            "state" => told.push(frame["storage"].is_string()),
            other => panic!("{other} while nothing is kept"),
        }
    }
    assert!(seqs.into_iter().eq(2..=22), "shown all the same");
    assert!(health().await["storage"].is_string());

    allow(None);
    while told.len() < 2 {
        told.push(viewer.line.until("state").await["storage"].is_string());
    }
    assert_eq!(told, [true, false], "said once, and once that it is over");
    assert!(health().await.get("storage").is_none());
    assert_eq!(rows(&folder.path().join("runs.db")).await, ["r ok ended 1 events 22"]);
    app.start("s").await;
    app.finish("s", "ok").await;
    let kept = async {
        while total(address, "s").await < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, kept).await.unwrap();
    child.kill().await.unwrap();
}

/// The version in the file's head says that this program may read it only; rights do not stop every user.
#[tokio::test]
async fn a_read_only_database_is_named_before_anything_starts() {
    let room = Room::new().await;
    let folder = room.stop().await;
    let path = folder.path().join("runs.db");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[18] = 3;
    std::fs::write(&path, bytes).unwrap();
    let mut config = HubConfig::new(path);
    config.listen = "127.0.0.1:0".parse().unwrap();
    let error = Hub::start(config).await.err().unwrap();
    assert!(matches!(&error, StartError::Store(error) if matches!(error.kind, StoreErrorKind::ReadOnly)), "{error}");
    assert!(error.hint().unwrap().contains("writable"));
}

async fn total(address: std::net::SocketAddr, run: &str) -> u64 {
    let page = reqwest::get(format!("http://{address}/api/runs/{run}/events?limit=1")).await.unwrap();
    let page: serde_json::Value = page.json().await.unwrap();
    page["total"].as_u64().unwrap_or(0)
}

#[cfg(unix)]
#[tokio::test]
async fn files_are_the_owners_only_while_the_hub_runs() {
    use std::os::unix::fs::PermissionsExt as _;
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    for file in ["runs.db", "runs.db-wal", "runs.db-shm"] {
        let mode = std::fs::metadata(room.folder.path().join(file)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{file}");
    }
    let run_files = room.folder.path().join("home/run");
    let port = room.address().port();
    let serve = std::fs::read_to_string(run_files.join(format!("serve-{port}.json"))).unwrap();
    assert!(serve.contains(room.hub.agent_token()) && !serve.contains(room.hub.viewer_token()));
    assert_eq!(room.hub.page_file(), Some(run_files.join(format!("open-{port}.html")).as_path()));
    let folder = room.stop().await;
    assert_eq!(std::fs::read_dir(folder.path().join("home/run")).unwrap().count(), 0);
}
