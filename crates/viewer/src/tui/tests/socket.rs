//! The link against a socket that behaves like a hub's, and like a bad one's.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode, header};
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

use crate::feed::Frame;
use crate::tui::link::{FromHub, Handle, Token, link};

struct Hub {
    listener: TcpListener,
    /// What the last visitor presented.
    presented: Arc<Mutex<Vec<String>>>,
}

impl Hub {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        Self { listener, presented: Arc::default() }
    }

    fn url(&self) -> String {
        format!("ws://{}/ws/ui", self.listener.local_addr().expect("bound"))
    }

    /// The next visitor, or the status it was sent away with.
    #[expect(clippy::result_large_err, reason = "the signature is the library's")]
    async fn accept(&self, status: StatusCode) -> Option<WebSocketStream<TcpStream>> {
        let (stream, _) = self.listener.accept().await.expect("a visitor");
        let presented = Arc::clone(&self.presented);
        let answer = move |request: &Request, mut response: Response| {
            let header = |name: header::HeaderName| {
                let value = request.headers().get(&name).and_then(|value| value.to_str().ok());
                value.unwrap_or("none").to_owned()
            };
            let path = request.uri().path().to_owned();
            let seen = vec![path, header(header::AUTHORIZATION), header(header::SEC_WEBSOCKET_PROTOCOL)];
            *presented.lock().expect("not poisoned") = seen;
            if status != StatusCode::SWITCHING_PROTOCOLS {
                let mut refusal = ErrorResponse::new(Some("no".to_owned()));
                *refusal.status_mut() = status;
                return Err(refusal);
            }
            response.headers_mut().insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("graphmind.v1"));
            Ok(response)
        };
        accept_hdr_async(stream, answer).await.ok()
    }

    async fn welcome(&self) -> WebSocketStream<TcpStream> {
        self.accept(StatusCode::SWITCHING_PROTOCOLS).await.expect("a socket")
    }

    fn presented(&self) -> Vec<String> {
        self.presented.lock().expect("not poisoned").clone()
    }
}

fn connect(hub: &Hub, token: Token) -> Handle {
    let (handle, running) = link(hub.url(), token);
    tokio::spawn(running);
    handle
}

async fn told(handle: &mut Handle) -> FromHub {
    timeout(Duration::from_secs(10), handle.from.recv()).await.expect("in time").expect("the link goes on")
}

#[tokio::test]
async fn frames_go_both_ways_and_nonsense_is_passed_over() {
    let hub = Hub::start().await;
    let mut handle = connect(&hub, Arc::new(|| Some("gmv_1".to_owned())));
    let mut socket = hub.welcome().await;
    assert_eq!(hub.presented(), ["/ws/ui", "Bearer gmv_1", "graphmind.v1"]);
    assert!(matches!(told(&mut handle).await, FromHub::Opened(1)));
    handle.to.send((1, "hello".to_owned())).await.expect("open");
    assert_eq!(socket.next().await.expect("a frame").expect("sound"), Message::text("hello"));
    for text in [
        "",
        "{",
        "[]",
        "null",
        r#"{"type":7}"#,
        r#"{"type":"later","x":1}"#,
        r#"{"type":"event","runId":"r","envelope":{"gm":2}}"#,
    ] {
        socket.send(Message::text(text)).await.expect("sent");
    }
    socket.send(Message::binary(vec![0xff; 9])).await.expect("sent");
    socket.send(Message::text(r#"{"type":"replay.end","runId":"r"}"#)).await.expect("sent");
    assert!(matches!(told(&mut handle).await, FromHub::Frame(Frame::ReplayEnd { run }) if &*run == "r"));
}

#[tokio::test]
async fn after_a_loss_the_token_is_read_anew_and_old_wishes_are_dropped() {
    let hub = Hub::start().await;
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    let mut handle = connect(&hub, Arc::new(move || Some(format!("t{}", counted.fetch_add(1, Ordering::Relaxed)))));
    drop(hub.welcome().await);
    assert!(matches!(told(&mut handle).await, FromHub::Opened(1)));
    assert!(matches!(told(&mut handle).await, FromHub::Closed(_)));
    // Asked while there was no connection: meant for the picture of the first one.
    handle.to.send((1, "late".to_owned())).await.expect("open");
    let mut socket = hub.welcome().await;
    assert_eq!(hub.presented()[1], "Bearer t1");
    assert!(matches!(told(&mut handle).await, FromHub::Opened(2)));
    handle.to.send((2, "fresh".to_owned())).await.expect("open");
    assert_eq!(socket.next().await.expect("a frame").expect("sound"), Message::text("fresh"));
}

#[tokio::test]
async fn refusals_say_why_and_the_next_attempt_follows() {
    let hub = Hub::start().await;
    let mut handle = connect(&hub, Arc::new(|| None));
    for (status, why) in
        [(StatusCode::UNAUTHORIZED, "the token is refused"), (StatusCode::FORBIDDEN, "refused with 403")]
    {
        hub.accept(status).await;
        assert_eq!(hub.presented()[1], "none");
        match told(&mut handle).await {
            FromHub::Closed(said) => assert_eq!(said, why),
            other => panic!("{other:?}"),
        }
    }
    let _socket = hub.welcome().await;
    assert!(matches!(told(&mut handle).await, FromHub::Opened(1)));
}

#[tokio::test]
async fn who_is_not_known_comes_without_a_token_until_there_is_another() {
    let hub = Hub::start().await;
    let token = Arc::new(Mutex::new("old"));
    let read = Arc::clone(&token);
    let mut handle = connect(&hub, Arc::new(move || Some((*read.lock().expect("not poisoned")).to_owned())));
    for (status, presented) in [(StatusCode::UNAUTHORIZED, "Bearer old"), (StatusCode::FORBIDDEN, "none")] {
        hub.accept(status).await;
        assert_eq!(hub.presented()[1], presented);
        assert!(matches!(told(&mut handle).await, FromHub::Closed(_)));
    }
    drop(hub.welcome().await);
    assert_eq!(hub.presented()[1], "none", "whoever has no token may look");
    assert!(matches!(told(&mut handle).await, FromHub::Opened(1)));
    *token.lock().expect("not poisoned") = "new";
    drop(hub.welcome().await);
    assert_eq!(hub.presented()[1], "Bearer new");
}

#[tokio::test]
async fn nobody_there_is_said_and_waited_for() {
    let hub = Hub::start().await;
    let url = hub.url();
    drop(hub);
    let (mut handle, running) = link(url, Arc::new(|| None));
    let running = tokio::spawn(running);
    assert!(matches!(told(&mut handle).await, FromHub::Closed(why) if why == "connection refused"));
    drop(handle);
    timeout(Duration::from_secs(10), running).await.expect("ends with its handle").expect("without a panic");
}

#[tokio::test]
async fn a_token_that_no_header_can_hold_is_no_panic() {
    let hub = Hub::start().await;
    let mut handle = connect(&hub, Arc::new(|| Some("a\nb".to_owned())));
    assert!(
        matches!(told(&mut handle).await, FromHub::Closed(why) if why == "the token has characters no header can hold")
    );
}
