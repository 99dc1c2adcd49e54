//! One hub: what it is started with, the handle to it, and the future that runs it until it is told to stop (hub §1).

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use lockgate_protocol::debug::HUB_CAPABILITIES;
use lockgate_runs::writer;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Notify, Semaphore, mpsc, watch};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::breakpoints::{Breakpoints, ErrorStop};
use crate::claims::{ClaimLimits, Claims};
use crate::credentials::Tokens;
use crate::guard::AllowedOrigins;
use crate::level::{Edits, Level, Reads};
use crate::live::{Inputs, Live, Setup, State};
use crate::page::{self, Page};
use crate::pauses::House;
use crate::retention::Retention;
use crate::runfiles::RunFiles;
use crate::server;
use crate::site::{MOST_SOCKETS, Site, Slots};
use crate::storage::Pending;
use crate::store::error::StoreError;
use crate::store::sqlite::Store;
use crate::sweep;

/// Everything a hub is started with.
#[derive(Clone)]
pub struct HubConfig {
    /// Port 0 takes any free one.
    pub listen: SocketAddr,
    pub database: PathBuf,
    /// Where the run files go; without it there are none.
    pub home: Option<PathBuf>,
    /// As peers read it beside the name `graphmind-ai`: the release of theirs that this hub behaves like. Their command
    /// line takes anything below 0.6 for a hub without pauses (hub §14.2). What we are ourselves stands in `hello.ack`.
    pub version: String,
    pub error_stop: ErrorStop,
    /// How far the agent token reaches.
    pub agents: Level,
    pub edits: Edits,
    pub reads: Reads,
    pub allowed_origins: AllowedOrigins,
    /// How long a run waits for its program to come back.
    pub abandon_grace: Duration,
    pub retention: Retention,
    /// Between two pings to every socket.
    pub ping: Duration,
    /// The viewer's files; a small page of our own when absent.
    pub page: Option<Page>,
    pub demo: Option<Demo>,
}

impl HubConfig {
    /// The defaults of hub §1–10 with this database.
    pub fn new(database: PathBuf) -> HubConfig {
        HubConfig {
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4747),
            database,
            home: None,
            version: BEHAVES_LIKE.to_owned(),
            error_stop: ErrorStop::Watched,
            agents: Level::Off,
            edits: Edits::Allowed,
            reads: Reads::Open,
            allowed_origins: AllowedOrigins::Own,
            abandon_grace: Duration::from_secs(15),
            retention: Retention::default(),
            ping: Duration::from_secs(30),
            page: None,
            demo: None,
        }
    }
}

impl fmt::Debug for HubConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubConfig")
            .field("listen", &self.listen)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Starts a replay of the demo against the hub on this port; an error is for people.
pub type Demo = Arc<dyn Fn(u16) -> Boxed<Result<DemoRun, String>> + Send + Sync>;

/// A demo that has begun.
pub struct DemoRun {
    pub run: String,
    /// Ends with the demo; dropped when the hub stops.
    pub playing: Boxed<()>,
}

/// Why a hub did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("listen: port is in use: {0}")]
    PortTaken(u16),
    #[error("listen: {0}")]
    Listen(io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("mint tokens: {0}")]
    Tokens(getrandom::Error),
}

impl StartError {
    /// What the reader can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            StartError::PortTaken(port) => {
                Some(format!("another hub may be running; or take another port: --port {}", port.saturating_add(1)))
            }
            StartError::Store(error) => error.hint().map(str::to_owned),
            StartError::Listen(_) | StartError::Tokens(_) => None,
        }
    }
}

/// A running hub, for whoever started it.
#[derive(Debug, Clone)]
pub struct HubHandle {
    address: SocketAddr,
    viewer_token: String,
    agent_token: String,
    page_file: Option<PathBuf>,
    stop: CancellationToken,
    swept: watch::Receiver<bool>,
}

impl HubHandle {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// For the person who started the hub; never to be printed but to their terminal.
    pub fn viewer_token(&self) -> &str {
        &self.viewer_token
    }

    pub fn agent_token(&self) -> &str {
        &self.agent_token
    }

    /// The file that opens the page with its token, when it could be written.
    pub fn page_file(&self) -> Option<&Path> {
        self.page_file.as_deref()
    }

    /// Waits until runs left over from earlier hubs are reconciled and old ones pruned.
    pub async fn retention_done(&self) {
        let mut swept = self.swept.clone();
        if swept.wait_for(|swept| *swept).await.is_err() {
            tracing::trace!("the hub stopped before it had swept");
        }
    }

    /// Tells the hub to stop; its future ends when it has.
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

/// A hub; see [`Hub::start`].
#[derive(Debug)]
pub struct Hub;

impl Hub {
    /// Opens the store and the port. The future runs the hub; it ends after [`HubHandle::stop`].
    ///
    /// # Errors
    /// When the store cannot be used or the port not be had.
    pub async fn start(config: HubConfig) -> Result<(HubHandle, impl Future<Output = ()> + Send), StartError> {
        // The port first: a hub that cannot have it leaves no database behind. Who asks meanwhile waits for the answer.
        let listener = TcpListener::bind(config.listen).await.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => StartError::PortTaken(config.listen.port()),
            _ => StartError::Listen(error),
        })?;
        let store = Arc::new(Store::open(&config.database).await?);
        let left_running = store.running().await?;
        let tokens = Tokens::mint().map_err(StartError::Tokens)?;
        let address = listener.local_addr().map_err(StartError::Listen)?;
        let files = config.home.as_ref().and_then(|home| RunFiles::write(home, address, &tokens, &config.version));
        let stop = CancellationToken::new();
        let (swept_out, swept) = watch::channel(false);
        let handle = HubHandle {
            address,
            viewer_token: tokens.viewer().to_owned(),
            agent_token: tokens.agent().to_owned(),
            page_file: files.as_ref().map(|files| files.page().to_owned()),
            stop: stop.clone(),
            swept,
        };
        let sweeping = sweep::Sweeping { left_running, keep: config.retention, done: swept_out };
        let building = build(config, store, tokens, address.port(), stop);
        Ok((handle, building.run(listener, sweeping, files)))
    }
}

/// All parts of a hub, before they run.
struct Built {
    site: Arc<Site>,
    state: State,
    inputs: Inputs,
    batches: mpsc::Receiver<crate::store::Batch>,
    done: mpsc::Sender<writer::Done>,
}

fn build(config: HubConfig, store: Arc<Store>, tokens: Tokens, port: u16, stop: CancellationToken) -> Built {
    let house = House { agents: config.agents, edits: config.edits, reads: config.reads };
    let offered = |word: &&&str| house.edits == Edits::Allowed || **word != "edit-input";
    let hub_capabilities: Vec<String> =
        HUB_CAPABILITIES.iter().filter(offered).map(|word| (*word).to_owned()).collect();
    let version: Arc<str> = config.version.as_str().into();
    let setup = Setup {
        house,
        breakpoints: Breakpoints::new(config.error_stop),
        claims: Claims::new(ClaimLimits::default()),
        grace: config.abandon_grace,
        version: Arc::clone(&version),
        hub_capabilities: hub_capabilities.clone(),
    };
    // One batch is written at a time, and one answer is on its way back.
    let (to_writer, batches) = mpsc::channel(1);
    let (done, written) = mpsc::channel(1);
    let (live, state, inputs) = Live::new(setup, Pending::new(to_writer), written);
    let site = Site {
        live,
        store,
        tokens,
        throttle: crate::throttle::Throttle::default(),
        house,
        allowed: config.allowed_origins,
        port,
        version,
        hub_capabilities,
        ping: config.ping,
        page: config.page.unwrap_or(page::built_in),
        demo: config.demo,
        playing: Mutex::new(None),
        sockets: Arc::new(Semaphore::new(MOST_SOCKETS)),
        slots: Slots::new(),
        tasks: TaskTracker::new(),
        stop,
        tokenless: AtomicBool::new(false),
        next: AtomicU64::new(1),
    };
    Built { site: Arc::new(site), state, inputs, batches, done }
}

impl Built {
    async fn run(self, listener: TcpListener, sweeping: sweep::Sweeping, files: Option<RunFiles>) {
        let Built { site, state, inputs, batches, done } = self;
        let store = Arc::clone(&site.store);
        let due = Arc::new(Notify::new());
        let writer = tokio::spawn(writer::write(Arc::clone(&store), batches, done, Arc::clone(&due)));
        let keeper = tokio::spawn(writer::checkpoint(Arc::clone(&store), due));
        let live = tokio::spawn({
            let stop = site.stop.clone();
            // However the actor ends, nothing goes on without it.
            let ended = stop.clone().drop_guard();
            async move {
                state.run(inputs, stop).await;
                drop(ended);
            }
        });
        let sweeper = tokio::spawn(sweep::sweep(Arc::clone(&site), sweeping));
        server::serve(Arc::clone(&site), listener).await;
        sweeper.abort();
        if let Some(files) = files {
            files.remove();
        }
        site.tasks.close();
        if timeout(PATIENCE, site.tasks.wait()).await.is_err() {
            tracing::debug!("some connections had to be left behind");
        }
        for task in [live, writer] {
            if let Err(error) = task.await {
                tracing::error!(%error, "a part of the hub broke");
            }
        }
        keeper.abort();
        if let Err(error) = store.close().await {
            tracing::warn!(%error, "the log could not be emptied");
        }
    }
}

const BEHAVES_LIKE: &str = "0.6.0";
/// How long connections may take to say goodbye.
const PATIENCE: Duration = Duration::from_secs(3);
