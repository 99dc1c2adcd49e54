//! Asks a running hub over loopback HTTP, with this user's agent token where there is one.

use std::time::Duration;

use bytes::Bytes;
use lockgate_protocol::json::{Limits, Raw, View};
use reqwest::{Client, Method, RequestBuilder, StatusCode};

use crate::code::Code;
use crate::fault::Fault;
use crate::runfile::{self, NoToken};

/// A hub that answered as one.
pub(crate) struct Hub {
    http: Client,
    port: u16,
}

/// What the hub answered, the body checked to be JSON.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Raw,
}

impl Hub {
    /// Finds the hub on `port` and makes sure that it knows about pauses.
    pub(crate) async fn find(port: u16) -> Result<Hub, Fault> {
        let hub = Hub::on(port)?;
        let version = hub.health().await?;
        let session = hub.get("/api/session", Duration::ZERO).await?;
        if session.status == StatusCode::UNAUTHORIZED {
            return Err(hub.turned_away(&session));
        }
        let knows = session.body.view().get("hubCapabilities");
        if !knows.is_some_and(|list| list.items().any(|entry| entry.is("pause-registry"))) {
            let fault = Fault::new(Code::OldHub, format!("the hub on port {port} is too old for this: {version}"));
            return Err(fault.hint("stop it and start this one: `graphmind`"));
        }
        Ok(hub)
    }

    /// Is one there? Its version, if so.
    pub(crate) async fn probe(port: u16) -> Option<String> {
        Hub::on(port).ok()?.health().await.ok()
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// A GET that may be parked for `wait` on the other side. Whom the hub does not know may still look.
    pub(crate) async fn get(&self, path: &str, wait: Duration) -> Result<Reply, Fault> {
        let token = self.token().ok();
        let reply = self.send(self.request(Method::GET, path, token.as_deref()), wait).await?;
        if reply.status != StatusCode::UNAUTHORIZED || token.is_none() {
            return Ok(reply);
        }
        let unknown = self.send(self.request(Method::GET, path, None), wait).await?;
        Ok(if unknown.status == StatusCode::UNAUTHORIZED { reply } else { unknown })
    }

    /// A POST of JSON whose answer may take `wait`.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>, wait: Duration) -> Result<Reply, Fault> {
        let request = self.request(Method::POST, path, self.token().ok().as_deref());
        self.send(request.header("content-type", "application/json").body(body), wait).await
    }

    /// The hub refused who we are: say what it said, and what we had to show.
    pub(crate) fn turned_away(&self, reply: &Reply) -> Fault {
        let said = reply.text("message").or_else(|| reply.text("error"));
        let message = said.unwrap_or_else(|| "the hub did not accept the token".to_owned());
        let fault = Fault::new(Code::NotAuthorised, message);
        match self.token() {
            Ok(_) => fault.hint("the token is of another start of the hub: restart it, then try again"),
            Err(no_token) => fault.hint(no_token.hint()),
        }
    }

    /// Whatever listens on `port`.
    pub(crate) fn on(port: u16) -> Result<Hub, Fault> {
        // A proxy named in the environment must never see what is said on loopback, tokens least of all.
        let http = Client::builder().no_proxy().connect_timeout(CONNECT).build();
        let http = http.map_err(|err| Fault::new(Code::Unexpected, format!("prepare HTTP: {err}")))?;
        Ok(Hub { http, port })
    }

    /// Read each time: a hub that was started again has another.
    fn token(&self) -> Result<String, NoToken> {
        runfile::agent_token(self.port)
    }

    async fn health(&self) -> Result<String, Fault> {
        let reply = self.get("/health", Duration::ZERO).await?;
        let is_hub = reply.body.view().get("name").is_some_and(|name| name.is("graphmind-ai"));
        if !is_hub {
            let fault = Fault::new(Code::NoHub, format!("what listens on port {} is no hub", self.port));
            return Err(
                fault.hint("name the hub's port with `--port`, or start one elsewhere: `graphmind --port 4748`")
            );
        }
        Ok(reply.text("version").unwrap_or_default())
    }

    fn request(&self, method: Method, path: &str, token: Option<&str>) -> RequestBuilder {
        let request = self.http.request(method, format!("http://127.0.0.1:{}{path}", self.port));
        match token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    async fn send(&self, request: RequestBuilder, wait: Duration) -> Result<Reply, Fault> {
        let response = request.timeout(wait + GRACE).send().await.map_err(|err| self.unreachable(&err))?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(|err| self.unreachable(&err))?;
        // Whole frames of programs stand in it.
        let within = Limits { depth: 2 * Limits::FRAME.depth, ..Limits::FRAME };
        let body = Raw::check(bytes, within).map_or_else(|_| Raw::null(), |checked| checked.raw);
        Ok(Reply { status, body })
    }

    fn unreachable(&self, err: &reqwest::Error) -> Fault {
        if err.is_timeout() && !err.is_connect() {
            return Fault::new(Code::NoHub, format!("the hub on port {} does not answer", self.port))
                .hint("stop it and start it again: `graphmind`");
        }
        Fault::new(Code::NoHub, format!("no hub on port {}", self.port))
            .hint("start one with `graphmind`, or name its port with `--port`")
    }
}

impl Reply {
    /// A text member of the body.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        text(self.body.view(), name)
    }

    pub(crate) fn bytes(&self) -> &Bytes {
        self.body.bytes()
    }
}

/// A text member of any object the hub sent; a broken character does not hide the rest.
pub(crate) fn text(object: View<'_>, name: &str) -> Option<String> {
    object.get(name).and_then(View::text).map(|text| text.to_lossy().into_owned())
}

const CONNECT: Duration = Duration::from_secs(2);
/// On top of what the hub may wait by request: a busy hub is not a dead one.
const GRACE: Duration = Duration::from_secs(10);
