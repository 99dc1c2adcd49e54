//! Hostile and careless programs: none of them may cost the honest one beside them anything.

use std::time::Duration;

use crate::room::{App, Line, Room, SOON, frame, hello};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn a_frame_above_the_cap_ends_the_link_with_a_reason() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    let giant = Message::Text("x".repeat((16 << 20) + 1).into());
    // Whether all of it leaves is up to the sockets in between.
    drop(app.line.try_send(giant).await);
    assert_eq!(app.line.ended().await, Some(1009));
    room.until_run("r", |run| run["live"] == false).await;
    let mut next = room.app().await;
    next.start("next").await;
    room.until_run("next", |run| run["eventCount"] == 1).await;
}

#[tokio::test]
async fn a_frame_at_the_cap_is_read() {
    let room = Room::new().await;
    let mut app = room.app().await;
    let head = frame(5, "r", "acme", &json!("")).len();
    app.line.send(frame(5, "r", "acme", &json!("x".repeat((16 << 20) - head)))).await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
}

#[tokio::test]
async fn three_hundred_programs_at_once() {
    let room = Room::new().await;
    let mut apps = Vec::new();
    for run in 0..300 {
        let mut app = room.app().await;
        app.start(&format!("r{run}")).await;
        apps.push(app);
    }
    room.until_run("r299", |run| run["eventCount"] == 1).await;
    assert_eq!(room.ok("/api/runs").await["runs"].as_array().unwrap().len(), 300);
}

#[tokio::test]
async fn silent_and_half_made_connections_block_nobody() {
    let room = Room::new().await;
    let mut silent = Vec::new();
    for _ in 0..60 {
        silent.push(TcpStream::connect(room.address()).await.unwrap());
    }
    let mut half = TcpStream::connect(room.address()).await.unwrap();
    half.write_all(b"GET /ingest HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n").await.unwrap();
    assert_eq!(room.ok("/health").await["ok"], true);
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
}

#[tokio::test]
async fn who_answers_pings_may_be_silent_and_who_is_dead_is_let_go() {
    let room = Room::with(|config| config.ping = Duration::from_millis(100)).await;
    let mut quiet = room.app().await;
    quiet.start("quiet").await;
    let mut dead = room.app().await;
    dead.start("dead").await;
    room.until_run("dead", |run| run["live"] == true).await;
    // Reading answers pings; the other one is left unread.
    let listening = tokio::spawn(async move {
        quiet.line.silent("nothing").await;
        for _ in 0..5 {
            quiet.line.silent("nothing").await;
        }
        quiet
    });
    room.until_run("dead", |run| run["live"] == false).await;
    let mut quiet = listening.await.unwrap();
    quiet.finish("quiet", "ok").await;
    room.until_run("quiet", |run| run["status"] == "ok").await;
    drop(dead);
}

#[tokio::test]
async fn a_busy_sender_is_never_taken_for_dead() {
    let room = Room::with(|config| config.ping = Duration::from_millis(200)).await;
    let mut app = room.app().await;
    // It does not read, so its pongs never leave; its bytes are proof enough.
    app.token_frames("r", 60_000).await;
    let run = room.until_run("r", |run| run["eventCount"] == 60_000).await;
    assert_eq!(run["status"], "running");
    assert_eq!(room.ok("/health").await["ok"], true);
}

#[tokio::test]
async fn an_honest_program_gets_through_a_flood() {
    let room = Room::new().await;
    let mut flood = room.app().await;
    let flooding = tokio::spawn(async move {
        flood.token_frames("flood", 20_000).await;
        flood
    });
    let mut honest = room.app().await;
    for _ in 0..25 {
        honest.node("honest", "n").await;
    }
    room.until_run("honest", |run| run["eventCount"] == 25).await;
    assert_eq!(room.ok("/health").await["ok"], true);
    let _flood = flooding.await.unwrap();
    room.until_run("flood", |run| run["eventCount"] == 20_000).await;
}

#[tokio::test]
async fn sockets_are_counted() {
    #[cfg(unix)]
    {
        // Both ends of each socket are in this process; some systems give it only a few hundred.
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.map_or(8_192, |most| most.min(8_192));
        let current = limit.current.map(|current| current.max(wanted));
        setrlimit(Resource::Nofile, Rlimit { current, maximum: limit.maximum }).unwrap();
    }
    let room = Room::new().await;
    let mut lines = Vec::new();
    for _ in 0..1_024 {
        lines.push(Line::open(room.address(), "/ingest", &[]).await.unwrap());
    }
    let refused = Line::open(room.address(), "/ingest", &[]).await.err().unwrap();
    assert!(refused.to_string().contains("503"), "{refused}");
    assert_eq!(room.ok("/health").await["ok"], true);
    lines.pop();
    let again = async {
        while Line::open(room.address(), "/ingest", &[]).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(SOON, again).await.unwrap();
    let first = &mut lines[0];
    first.send(frame(0, "*", "hello", &hello())).await;
    first.until("hello.ack").await;
}

#[tokio::test]
async fn a_program_that_never_reads_is_not_written_to_for_ever() {
    let room = Room::new().await;
    let mut deaf = App::greet(Line::narrow(room.address(), "/ingest", &[]).await, hello()).await;
    let mut viewer = room.viewer().await;
    deaf.start("r").await;
    room.until_run("r", |run| run["live"] == true).await;
    let output = "x".repeat(16_000);
    let refused = async {
        for number in 0..800 {
            let resume = json!({"pauseId": format!("p{number}"), "action": "inject", "output": output});
            viewer.control("r", "exec.resume", resume).await;
        }
        viewer.line.until("error").await
    };
    let refused = tokio::time::timeout(SOON, refused).await.unwrap();
    assert_eq!((&refused["outcome"], &refused["code"]), (&json!("timeout"), &json!("send-failed")));
    // A breakpoint it can never hear of would be worse: it is let go, and hears everything when it comes back.
    viewer.control("*", "breakpoint.set", json!({"matcher": {"kind": "llm"}})).await;
    room.until_run("r", |run| run["live"] == false).await;
    let back = room.app().await;
    assert_eq!(back.ack["breakpoints"], json!([{"point": "error"}, {"kind": "llm"}]));
    drop(deaf);
}
