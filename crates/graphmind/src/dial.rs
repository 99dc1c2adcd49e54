//! Opens a WebSocket to a hub: a plain one, because hubs live on this machine or behind a tunnel.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::Uri;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::link::Failure;

/// Dials `url`, one address after the other.
pub(crate) async fn dial(url: String) -> Result<WebSocketStream<TcpStream>, Failure> {
    let request = url.as_str().into_client_request().map_err(|error| now("read the url of the hub", &error))?;
    let uri = request.uri().clone();
    match uri.scheme_str() {
        Some("ws") => {}
        Some("wss") => return Err(Failure::Ever("reaching the hub by wss is not supported; use ws".to_owned())),
        _ => return Err(Failure::Now("the url of the hub does not begin with ws://".to_owned())),
    }
    let mut last = Failure::Now("the hub's name has no address".to_owned());
    for address in addresses(&uri).await? {
        let stream = match TcpStream::connect(address).await {
            Ok(stream) => stream,
            Err(error) => {
                last = now("connect to the hub", &error);
                continue;
            }
        };
        // Controls are small and somebody waits for each of them; without this they would only be slower.
        let _ = stream.set_nodelay(true);
        let opened = tokio_tungstenite::client_async_with_config(request, stream, Some(buffers())).await;
        return opened.map(|(socket, _)| socket).map_err(|error| now("open a socket to the hub", &error));
    }
    Err(last)
}

async fn addresses(uri: &Uri) -> Result<Vec<SocketAddr>, Failure> {
    let host = uri.host().unwrap_or_default();
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let port = uri.port_u16().unwrap_or(80);
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    // On a thread of its own: the runtime waits for its own threads when it ends, and a slow name server would keep a
    // finished program alive.
    let (answer, found) = oneshot::channel();
    let name = host.to_owned();
    let look_up = move || {
        let found = (name.as_str(), port).to_socket_addrs().map(Iterator::collect);
        // Nobody listens any more when the attempt was given up.
        let _ = answer.send(found);
    };
    let thread = std::thread::Builder::new().name("graphmind-dns".to_owned()).spawn(look_up);
    thread.map_err(|error| now("look up the hub", &error))?;
    match found.await {
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => Err(now("look up the hub", &error)),
        Err(_) => Err(Failure::Now("failed to look up the hub".to_owned())),
    }
}

fn now(what: &str, error: &dyn std::fmt::Display) -> Failure {
    Failure::Now(format!("failed to {what}: {error}"))
}

/// Little comes in, and room for it is cleared at every look; what goes out is gathered up to the size of one good write.
fn buffers() -> WebSocketConfig {
    WebSocketConfig::default().read_buffer_size(4 << 10).write_buffer_size(128 << 10).max_frame_size(Some(64 << 20))
}
