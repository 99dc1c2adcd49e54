//! A hub in this process: for `serve`, and for `demo` where none is running.

use std::time::Duration;

use lockgate_hub::guard::AllowedOrigins;
use lockgate_hub::{ErrorStop, Hub, HubConfig, HubHandle, StartError};
use lockgate_runs::retention::Retention;
use tokio::task::JoinHandle;

use crate::args::Database;
use crate::code::Code;
use crate::demo;
use crate::fault::Fault;
use crate::out;
use crate::runfile;
use crate::shelf;

/// A hub that runs until it is told to stop.
pub(crate) struct Hosted {
    pub(crate) hub: HubHandle,
    running: JoinHandle<()>,
}

/// What a hub is started with on `port`, as far as the environment says; the rest is for flags to change.
pub(crate) fn config(port: u16, database: &Database) -> Result<HubConfig, Fault> {
    let mut config = HubConfig::new(shelf::path(database)?);
    config.listen.set_port(port);
    config.home = Some(runfile::home());
    config.demo = Some(demo::replay());
    for complaint in
        settle(&mut config, |name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    {
        out::note(&format!("warning: {complaint}"));
    }
    Ok(config)
}

/// Starts the hub; it answers when this returns.
pub(crate) async fn start(config: HubConfig) -> Result<Hosted, Fault> {
    let started = Hub::start(config).await.map_err(|err| {
        let fault = match &err {
            StartError::Store(err) => return shelf::fault(err),
            StartError::PortTaken(port) => Fault::new(Code::PortInUse, format!("port {port} is in use")),
            StartError::Listen(_) | StartError::Tokens(_) => {
                Fault::new(Code::Unexpected, format!("start the hub: {err}"))
            }
        };
        match err.hint() {
            Some(hint) => fault.hint(hint),
            None => fault,
        }
    })?;
    let (hub, running) = started;
    Ok(Hosted { hub, running: tokio::spawn(running) })
}

impl Hosted {
    /// Lets it run until the person or the system wants an end; who asks twice does not wait for goodbyes.
    pub(crate) async fn until_told(self) {
        told_to_stop().await;
        let hub = self.hub.clone();
        hub.stop();
        let again = tokio::spawn(async {
            told_to_stop().await;
            std::process::exit(130);
        });
        self.ended().await;
        again.abort();
    }

    /// Stops it now.
    pub(crate) async fn stop(self) {
        self.hub.stop();
        self.ended().await;
    }

    async fn ended(self) {
        if let Err(err) = self.running.await {
            out::note(&format!("the hub broke: {err}"));
        }
    }
}

/// Ends when the system asks us to.
pub(crate) async fn told_to_stop() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let signals: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
        let waits = signals.into_iter().map(|mut signal| Box::pin(async move { signal.recv().await }));
        futures_util::future::select_all(waits).await;
    }
    #[cfg(windows)]
    {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        let (Ok(mut key), Ok(mut other_key)) = (ctrl_c(), ctrl_break()) else { return std::future::pending().await };
        let (Ok(mut closed), Ok(mut shut_down)) = (ctrl_close(), ctrl_shutdown()) else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = key.recv() => {}
            _ = other_key.recv() => {}
            _ = closed.recv() => {}
            _ = shut_down.recv() => {}
        }
    }
}

/// Puts in what the environment sets (hub §18). What makes no sense there is complained about and left at its default: a
/// hub that does not start over an old line in some profile helps nobody.
fn settle(config: &mut HubConfig, lookup: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut complaints = Vec::new();
    let value = |name: &str| lookup(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    let mut read = |name: &'static str, put: &mut dyn FnMut(&str) -> bool| {
        if let Some(text) = value(name).filter(|text| !put(text)) {
            complaints.push(format!("{name} is not understood: {text}"));
        }
    };
    read("GRAPHMIND_PAUSE_ON_ERROR", &mut |text| {
        let stop = ErrorStop::parse(text);
        config.error_stop = stop.unwrap_or_default();
        stop.is_some()
    });
    read("GRAPHMIND_ABANDON_GRACE_MS", &mut |text| {
        let grace = text.parse().map(Duration::from_millis);
        config.abandon_grace = grace.clone().unwrap_or(config.abandon_grace);
        grace.is_ok()
    });
    read("GRAPHMIND_ALLOWED_ORIGINS", &mut |text| {
        let (allowed, bad) = AllowedOrigins::parse(text);
        config.allowed_origins = allowed;
        bad.is_empty()
    });
    let Retention::Keep { runs: mut most, age: mut oldest } = Retention::default() else { return complaints };
    read("GRAPHMIND_KEEP_RUNS", &mut |text| text.parse().map(|runs| most = runs).is_ok());
    read("GRAPHMIND_KEEP_DAYS", &mut |text| text.parse::<u32>().map(|days| oldest = DAY * days).is_ok());
    config.retention = Retention::Keep { runs: most, age: oldest };
    read("GRAPHMIND_RETENTION", &mut |text| match text.to_lowercase().as_str() {
        "off" | "0" | "false" | "no" => {
            config.retention = Retention::Off;
            true
        }
        "on" | "1" | "true" | "yes" => true,
        _ => false,
    });
    complaints
}

const DAY: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(set: &[(&str, &str)]) -> (HubConfig, Vec<String>) {
        let mut config = HubConfig::new("x.db".into());
        let lookup = |name: &str| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        let complaints = settle(&mut config, lookup);
        (config, complaints)
    }

    #[test]
    fn what_the_environment_sets() {
        let (config, complaints) = settled(&[
            ("GRAPHMIND_PAUSE_ON_ERROR", " on "),
            ("GRAPHMIND_ABANDON_GRACE_MS", "0"),
            ("GRAPHMIND_ALLOWED_ORIGINS", "http://host.docker.internal:4747"),
            ("GRAPHMIND_KEEP_RUNS", "5"),
            ("GRAPHMIND_KEEP_DAYS", "2"),
        ]);
        assert!(complaints.is_empty(), "{complaints:?}");
        assert_eq!(config.error_stop, ErrorStop::Always);
        assert_eq!(config.abandon_grace, Duration::ZERO);
        assert!(matches!(config.allowed_origins, AllowedOrigins::Listed(_)));
        assert_eq!(config.retention, Retention::Keep { runs: 5, age: DAY * 2 });
        assert_eq!(settled(&[("GRAPHMIND_RETENTION", "OFF")]).0.retention, Retention::Off);
    }

    #[test]
    fn nonsense_is_complained_about_and_changes_nothing() {
        let check = |name: &str, value: &str| {
            let (config, complaints) = settled(&[(name, value)]);
            assert_eq!(complaints, [format!("{name} is not understood: {value}")]);
            let default = HubConfig::new("x.db".into());
            assert_eq!((config.error_stop, config.retention), (default.error_stop, default.retention));
            assert_eq!(config.abandon_grace, default.abandon_grace);
        };
        check("GRAPHMIND_PAUSE_ON_ERROR", "sometimes");
        check("GRAPHMIND_ABANDON_GRACE_MS", "-1");
        check("GRAPHMIND_ALLOWED_ORIGINS", "no origin");
        check("GRAPHMIND_KEEP_RUNS", "all");
        check("GRAPHMIND_KEEP_DAYS", "1.5");
        check("GRAPHMIND_RETENTION", "maybe");
        assert!(settled(&[("GRAPHMIND_KEEP_RUNS", "")]).1.is_empty());
    }
}
