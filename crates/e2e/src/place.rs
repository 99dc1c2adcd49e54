//! Where the binaries and the peers are, as `cargo xtask e2e` says, and the folder a test has to itself.

use std::{env, path::PathBuf};

use tempfile::TempDir;

use crate::peer::Peer;

/// The folder of one test, removed with it.
#[derive(Debug)]
pub struct Place {
    folder: TempDir,
}

/// The servers that stand behind the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// the reference server of npm, handshake only
    Everything,
    /// the file server of npm, handshake only, allowed to see the test's folder
    Filesystem,
    /// a Python server, both eras
    FastMcp,
    /// our own, through rmcp, both eras
    TripPlanner,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder for the test") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        // resolved, since a server compares it with what it resolves itself
        self.folder.path().canonicalize().expect("the test's folder").join(name)
    }

    /// The command line that starts a server.
    pub fn server(&self, server: Server) -> Vec<String> {
        let npm = |package: &str| {
            let entry = peers().join("node_modules/@modelcontextprotocol").join(package).join("dist/index.js");
            vec!["node".to_owned(), text(entry)]
        };
        match server {
            Server::Everything => npm("server-everything"),
            Server::Filesystem => {
                let mut command = npm("server-filesystem");
                command.push(text(self.path("")));
                command
            }
            Server::FastMcp => vec![told("LOCKGATE_E2E_FASTMCP"), text(peers().join("fastmcp_server.py"))],
            Server::TripPlanner => vec![binary("trip-planner")],
        }
    }

    /// A host of the handshake era in front of a command.
    pub async fn handshake_host(&self, command: &[String]) -> Peer {
        let script = vec!["node".to_owned(), text(peers().join("client1.mjs"))];
        Peer::start(&[script, command.to_vec()].concat(), &self.environment()).await
    }

    /// A host of the stateless era in front of a command: probes, and falls back where the server knows only handshakes.
    pub async fn probing_host(&self, command: &[String]) -> Peer {
        let script = vec!["node".to_owned(), text(peers().join("client2.mjs")), "auto".to_owned()];
        Peer::start(&[script, command.to_vec()].concat(), &self.environment()).await
    }

    /// A program instrumented with the published Python SDK, reporting to a hub.
    pub async fn python_app(&self, url: &str) -> Peer {
        let command = [told("LOCKGATE_E2E_SDK"), text(peers().join("graphmind_app.py"))];
        let mut environment = self.environment();
        environment.push(("GRAPHMIND_URL".to_owned(), url.to_owned()));
        Peer::start(&command, &environment).await
    }

    /// A browser without a window, with a profile in the test's folder.
    pub async fn browser(&self) -> Peer {
        let script = text(peers().join("browser.mjs"));
        let command = ["node".to_owned(), script, told("LOCKGATE_E2E_BROWSER"), text(self.path("profile"))];
        Peer::start(&command, &self.environment()).await
    }

    /// What keeps a started program inside the test's folder.
    pub fn environment(&self) -> Vec<(String, String)> {
        vec![("GRAPHMIND_HOME".to_owned(), text(self.path("home")))]
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

/// The full path of one of our binaries.
pub(crate) fn binary(name: &str) -> String {
    let path = PathBuf::from(told("LOCKGATE_E2E_BIN")).join(format!("{name}{}", env::consts::EXE_SUFFIX));
    assert!(path.is_file(), "{} is not built: {HINT}", path.display());
    text(path)
}

fn peers() -> PathBuf {
    PathBuf::from(told("LOCKGATE_E2E_PEERS"))
}

/// A setting that the task runner makes. Without it nothing can be tested, and passing would be a lie.
fn told(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: {HINT}"))
}

fn text(path: PathBuf) -> String {
    path.into_os_string().into_string().expect("paths of this workspace are text")
}

const HINT: &str = "run these tests with `cargo xtask e2e`, which builds and installs what they need";
