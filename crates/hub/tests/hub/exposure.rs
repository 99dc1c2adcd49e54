//! What the hub shows to pages, names and programs that are none of its own (hub §3).

use crate::room::{Room, raw};
use lockgate_hub::guard::AllowedOrigins;
use serde_json::json;

fn upgrade(path: &str, extra: &str) -> String {
    format!(
        "GET {path} HTTP/1.1\nHost: localhost\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n{extra}\n"
    )
}

fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\n{headers}Connection: close\n\n")
}

#[tokio::test]
async fn every_answer_is_armoured() {
    let room = Room::new().await;
    let mut app = room.app().await;
    app.start("r").await;
    room.until_run("r", |run| run["eventCount"] == 1).await;
    let foreign = get("/api/runs", "Host: evil.example\n");
    let requests = [
        (get("/health", "Host: localhost\n"), 200, false),
        (get("/", "Host: localhost\n"), 200, false),
        (get("/deep/path", "Host: localhost\n"), 200, false),
        (get("/api/runs", "Host: localhost\n"), 200, true),
        (get("/api/runs/r/events", "Host: localhost\n"), 200, true),
        (get("/api/runs/x/events", "Host: localhost\n"), 404, true),
        (get("/api/nothing", "Host: localhost\n"), 404, true),
        (get("/ingest", "Host: localhost\n"), 426, false),
        (foreign, 403, true),
        (upgrade("/nowhere", ""), 404, true),
        (upgrade("/ingest", "Origin: http://evil.example\n"), 403, true),
        (upgrade("/ws/ui", "Authorization: Bearer x\n"), 401, true),
        (upgrade("/ingest", ""), 101, false),
        (
            "POST /api/demo/start HTTP/1.1\nHost: localhost\nContent-Length: 0\nConnection: close\n\n".to_owned(),
            401,
            true,
        ),
        (
            "PUT /api/runs/r/pauses/p/resume HTTP/1.1\nHost: localhost\nContent-Length: 0\nConnection: close\n\n"
                .to_owned(),
            405,
            true,
        ),
    ];
    for (request, status, no_store) in requests {
        let answer = room.raw(&request).await;
        let head = answer.split("\r\n\r\n").next().unwrap().to_lowercase();
        assert!(head.starts_with(&format!("http/1.1 {status} ")), "{request}: {answer}");
        for header in ["x-frame-options: deny", "referrer-policy: no-referrer", "x-content-type-options: nosniff"] {
            assert!(head.contains(header), "{header} for {request}: {head}");
        }
        assert!(head.contains("frame-ancestors 'none'"), "{request}: {head}");
        assert_eq!(head.contains("cache-control: no-store"), no_store, "{request}: {head}");
        assert!(!head.contains("access-control-"), "{request}: {head}");
    }
}

#[tokio::test]
async fn answers_to_what_is_no_request_are_armoured_too() {
    let room = Room::new().await;
    let long = "x".repeat(70 << 10);
    for (request, codes) in [
        ("GARBAGE\n\n".to_owned(), "400"),
        ("GET /health HTTP/1.1\nHost: localhost\nContent-Length: x\n\n".to_owned(), "400"),
        ("GET /\u{1} HTTP/1.1\nHost: localhost\n\n".to_owned(), "400"),
        // Whichever of the two it is told: how much is read at once decides.
        (format!("GET /{long} HTTP/1.1\nHost: localhost\n\n"), "414 431"),
        (format!("GET / HTTP/1.1\n{}\n", "X-Many: 1\n".repeat(200)), "431"),
    ] {
        let answer = room.raw(&request).await.to_lowercase();
        let start = request.get(..40).unwrap_or(&request);
        let code = answer.strip_prefix("http/1.1 ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
        assert!(codes.split(' ').any(|expected| expected == code), "{start}: {answer}");
        for header in [
            "content-security-policy: frame-ancestors 'none'",
            "x-frame-options: deny",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            "cache-control: no-store",
            "connection: close",
        ] {
            assert_eq!(answer.matches(header).count(), 1, "{header} for {start}: {answer}");
        }
    }
}

#[tokio::test]
async fn whatever_is_refused_below_api_is_told_as_json() {
    let room = Room::new().await;
    let token = format!("Host: localhost\nAuthorization: Bearer {}\nContent-Length: 0\n", room.hub.viewer_token());
    for (request, status, message) in [
        (get("/api/runs/%ff/events", "Host: localhost\n"), 400, "UTF-8"),
        (get("/api/runs/r/pauses/%ff", "Host: localhost\n"), 400, "UTF-8"),
        (get("/api/runs/r/pauses/p/resume", "Host: localhost\n"), 405, "method not allowed"),
        (format!("POST /api/runs/%ff/pauses/p/resume HTTP/1.1\n{token}Connection: close\n\n"), 400, "UTF-8"),
        (format!("PUT /api/runs HTTP/1.1\n{token}Connection: close\n\n"), 405, "method not allowed"),
        (get("/api/runs", "Host: evil.example\n"), 403, "not served here"),
        (get("/api/nothing", "Host: localhost\n"), 404, "no such endpoint"),
    ] {
        let answer = room.raw(&request).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap_or_else(|_| panic!("{request}: {answer}"));
        assert!(body["error"].as_str().unwrap().contains(message), "{request}: {body}");
        assert_eq!(head.matches("content-type: application/json").count(), 1, "{head}");
        assert_eq!(head.contains("allow: POST"), request.contains("/resume") && status == 405, "{head}");
    }
}

#[tokio::test]
async fn foreign_pages_and_rebound_names_get_nothing() {
    let room = Room::new().await;
    let port = room.address().port();
    let own = format!("Host: localhost:{port}\nOrigin: http://localhost:{port}\n");
    assert!(
        room.raw(&get("/api/runs", &own)).await.starts_with("HTTP/1.1 200"),
        "the attack below differs only in names"
    );
    for headers in [
        "Host: localhost\nOrigin: http://evil.example\n".to_owned(),
        format!("Host: localhost\nOrigin: http://localhost:{}\n", port.wrapping_add(1)),
        "Host: localhost\nOrigin: null\n".to_owned(),
        format!("Host: evil.example:{port}\n"),
        format!("Host: evil.example:{port}\nOrigin: http://evil.example:{port}\n"),
        format!("Host: localhost:{port}\nOrigin: http://localhost:{port}.evil.example\n"),
    ] {
        for path in ["/api/runs", "/health", "/", "/api/pauses", "/api/session"] {
            let answer = room.raw(&get(path, &headers)).await;
            assert!(answer.starts_with("HTTP/1.1 403"), "{path} {headers}: {answer}");
        }
    }
    for path in ["/ingest", "/ws/ui"] {
        let answer = room.raw(&upgrade(path, "Origin: http://evil.example\n")).await;
        assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("not served here"), "{answer}");
        let answer = room.raw(&upgrade(path, &format!("Origin: http://127.0.0.1:{port}\n"))).await;
        assert!(answer.starts_with("HTTP/1.1 101"), "{answer}");
    }
}

#[tokio::test]
async fn listed_origins_are_let_in() {
    let room =
        Room::with(|config| config.allowed_origins = AllowedOrigins::parse("http://host.docker.internal:4747").0).await;
    let listed = "Host: host.docker.internal:4747\nOrigin: http://host.docker.internal:4747\n";
    assert!(room.raw(&get("/api/runs", listed)).await.starts_with("HTTP/1.1 200"));
    assert!(room.raw(&get("/api/runs", "Host: evil.example\n")).await.starts_with("HTTP/1.1 403"));
}

#[tokio::test]
async fn upgrades_elsewhere_lead_nowhere() {
    let room = Room::new().await;
    for path in ["/", "/ws", "/ws/ui/x", "/api/runs", "/health"] {
        let answer = room.raw(&upgrade(path, "Connection: close\n")).await;
        assert!(!answer.starts_with("HTTP/1.1 101"), "{path}: {answer}");
    }
    let old = "GET /ingest HTTP/1.1\nHost: localhost\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 8\nSec-WebSocket-Key: x\n\n";
    assert!(room.raw(old).await.starts_with("HTTP/1.1 426"));
}

#[tokio::test]
async fn the_page_and_its_parts() {
    let room = Room::new().await;
    let page = room.raw(&get("/", "Host: localhost\n")).await;
    assert!(
        page.contains("connect-src 'self';") && !page.contains("localhost:*"),
        "other ports are none of its: {page}"
    );
    assert!(page.contains("text/html") && page.contains("script-src 'self'") && page.contains("page.js"), "{page}");
    let script = room.raw(&get("/page.js", "Host: localhost\n")).await;
    assert!(script.contains("text/javascript") && script.contains("exec.resume"));
    let deep = room.raw(&get("/run/r/node/n", "Host: localhost\n")).await;
    assert!(deep.contains("text/html"), "a place within the page");
    let head = room.raw("HEAD / HTTP/1.1\nHost: localhost\nConnection: close\n\n").await;
    assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"));
    let post = room.raw("POST / HTTP/1.1\nHost: localhost\nContent-Length: 0\nConnection: close\n\n").await;
    assert!(post.starts_with("HTTP/1.1 404"), "{post}");
}

#[tokio::test]
async fn health_names_the_program_peers_look_for() {
    let room = Room::new().await;
    // Theirs, for a command line of theirs that compares: below 0.6 it would look for no pauses here.
    assert_eq!(room.ok("/health").await, json!({"ok": true, "name": "graphmind-ai", "version": "0.6.0"}));
    assert_eq!(room.ok("/api/session").await["version"], "0.6.0");
    let file = format!("home/run/serve-{}.json", room.address().port());
    let file = std::fs::read_to_string(room.folder.path().join(file)).unwrap();
    assert!(file.contains(r#""version":"0.6.0""#), "{file}");
    // Ours, for whoever asks what this really is.
    let ours = format!("lockgate/{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(room.app().await.ack["versions"]["viewer"], ours);
}

#[tokio::test]
async fn broken_http_is_turned_away() {
    let room = Room::new().await;
    for text in ["\0\0\0\0\n\n", "GET\n\n", "GET / HTTP/9.9\n\n", "\u{16}\u{3}\u{1}\u{2}\n\n"] {
        let answer = raw(room.address(), text).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 400") || answer.starts_with("HTTP/1.0 400"),
            "{answer}"
        );
    }
    assert_eq!(room.ok("/health").await["ok"], true);
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let room = Room::new().await;
    let mut config = lockgate_hub::HubConfig::new(room.folder.path().join("other.db"));
    config.listen = room.address();
    let error = lockgate_hub::Hub::start(config).await.err().unwrap();
    let port = room.address().port();
    assert_eq!(error.to_string(), format!("listen: port is in use: {port}"));
    assert!(error.hint().unwrap().ends_with(&format!("--port {}", port + 1)));
}
