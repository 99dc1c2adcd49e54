//! What a session is made of: options as given in code, and what they come to together with the environment.
//! Decides precedence (wire §2.9) and nothing else.

use std::sync::Arc;
use std::time::Duration;

use lockgate_gate::{EditInput, Policy, TapLimits};
use lockgate_protocol::debug::{APP_CAPABILITIES, NodeKind, SdkInfo};
use lockgate_protocol::json::Raw;

use crate::environment::{Environment, OnLoop};
use crate::link::Timing;
use crate::redact::Hide;
use crate::repeat::LoopOptions;
use crate::ring::BufferLimits;
use crate::smart::{Detector, SmartOptions};
use crate::warn::{WarnSink, traced};

/// Options of a session. Start from [`SessionConfig::new`] and change what differs.
pub struct SessionConfig {
    /// Name of the program.
    pub app: String,
    /// The library that reports.
    pub sdk: SdkInfo,
    /// Members for `meta` of every run.
    pub meta: Vec<(String, Raw)>,
    /// Where its runs come from, if that is worth telling the hub.
    pub source: Option<String>,
    /// The hub; beats `GRAPHMIND_URL`.
    pub url: Option<String>,
    /// Overrules the environment's opinion about production, but not `GRAPHMIND_DISABLED`.
    pub enabled: Option<Enabled>,
    /// What is announced to the hub, in this order; `edit-input` falls out where the environment switches it off.
    pub capabilities: Vec<String>,
    /// What is hidden beside what the environment hides.
    pub hide: Hide,
    /// The loop guard.
    pub loops: LoopConfig,
    /// The smart holds.
    pub smart: SmartConfig,
    /// How much is kept for a hub that attaches later.
    pub buffer: BufferLimits,
    /// How much may wait to be processed before events are dropped.
    pub tap: TapLimits,
    /// How patient the link is.
    pub timing: Timing,
    /// Longest time any hold lasts.
    pub pause_timeout: Option<Duration>,
    /// Longest time a debugger's hold lasts while nobody watches; zero: no limit.
    pub patience: Duration,
    /// Asked before the session's own; guards belong here.
    pub policies: Vec<Arc<dyn Policy>>,
    /// The environment, as read by whoever starts the program.
    pub environment: Environment,
    /// Where warnings go.
    pub warn: WarnSink,
}

/// Whether a session does anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enabled {
    Yes,
    No,
}

/// The loop guard's options; what is `None` comes from the environment, then from the wire's defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopConfig {
    /// Identical calls in a row that are one too many; 0 switches all of it off.
    pub threshold: Option<u64>,
    /// Hold, say so, or do not look.
    pub on_loop: Option<OnLoop>,
    /// Kinds of nodes that are watched.
    pub kinds: Option<Vec<NodeKind>>,
    /// Members that make no difference between two inputs; replaces `_meta`.
    pub ignore_keys: Option<Vec<String>>,
    /// Nodes, by id or name, that may repeat themselves; replaces `GRAPHMIND_LOOP_ALLOW`.
    pub allow_nodes: Option<Vec<String>>,
}

/// The smart holds' options; `None` leaves it to the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SmartConfig {
    /// Whether tool results that say they failed are held.
    pub error_result: Option<Detector>,
    /// Whether model answers cut off in a tool call are held.
    pub truncated: Option<Detector>,
}

impl SessionConfig {
    /// The wire's defaults under `environment`.
    pub fn new(app: impl Into<String>, sdk: SdkInfo, environment: Environment) -> SessionConfig {
        SessionConfig {
            app: app.into(),
            sdk,
            meta: Vec::new(),
            source: None,
            url: None,
            enabled: None,
            capabilities: APP_CAPABILITIES.map(str::to_owned).to_vec(),
            hide: Hide::NOTHING,
            loops: LoopConfig::default(),
            smart: SmartConfig::default(),
            buffer: BufferLimits::STANDARD,
            tap: TapLimits { events: 16_384, bytes: 32 << 20 },
            timing: Timing::STANDARD,
            pause_timeout: None,
            patience: Duration::from_secs(600),
            policies: Vec::new(),
            environment,
            warn: traced(),
        }
    }

    pub(crate) fn enabled(&self) -> Enabled {
        match (&self.environment, self.enabled) {
            (environment, _) if environment.disabled => Enabled::No,
            (_, Some(given)) => given,
            (environment, None) if environment.production => Enabled::No,
            (_, None) => Enabled::Yes,
        }
    }

    pub(crate) fn url(&self) -> String {
        let given = self.url.as_ref().or(self.environment.url.as_ref());
        given.map_or_else(|| DEFAULT_URL.to_owned(), String::clone)
    }

    pub(crate) fn hide(&self) -> Hide {
        self.hide.or(self.environment.hide)
    }

    pub(crate) fn edit_input(&self) -> EditInput {
        if self.environment.edit_input_off { EditInput::Off } else { EditInput::On }
    }

    pub(crate) fn capabilities(&self) -> Vec<String> {
        let names = self.capabilities.iter().filter(|name| !self.environment.edit_input_off || *name != "edit-input");
        names.cloned().collect()
    }

    pub(crate) fn patience(&self) -> Option<Duration> {
        (!self.patience.is_zero()).then_some(self.patience)
    }

    pub(crate) fn loops(&self) -> LoopOptions {
        let (given, environment) = (&self.loops, &self.environment);
        LoopOptions {
            threshold: given.threshold.or(environment.loop_threshold).unwrap_or(3),
            on_loop: given.on_loop.or(environment.on_loop).unwrap_or(OnLoop::Pause),
            kinds: given.kinds.clone().unwrap_or_else(|| vec![NodeKind::Tool]),
            ignore_keys: given.ignore_keys.clone().unwrap_or_else(|| vec!["_meta".to_owned()]),
            allow_nodes: given.allow_nodes.clone().unwrap_or_else(|| environment.loop_allow.clone()),
        }
    }

    pub(crate) fn smart(&self) -> SmartOptions {
        let detector = |off: bool| if off { Detector::Off } else { Detector::On };
        SmartOptions {
            error_result: self.smart.error_result.unwrap_or_else(|| detector(self.environment.error_result_off)),
            truncated: self.smart.truncated.unwrap_or_else(|| detector(self.environment.truncated_off)),
        }
    }
}

const DEFAULT_URL: &str = "ws://127.0.0.1:4747/ingest";

#[cfg(test)]
mod tests {
    use lockgate_protocol::debug::SdkInfo;

    use super::{Enabled, LoopConfig, SessionConfig, SmartConfig};
    use crate::environment::{Environment, OnLoop};
    use crate::smart::Detector;

    fn config(set: &[(&str, &str)]) -> SessionConfig {
        let environment =
            Environment::read(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()));
        SessionConfig::new("app", SdkInfo { name: "rust".to_owned(), version: "1".to_owned() }, environment)
    }

    #[test]
    fn u05_disabled_beats_code_code_beats_production_production_beats_the_default() {
        let enabled = |set: &[(&str, &str)], given| SessionConfig { enabled: given, ..config(set) }.enabled();
        let production = ("NODE_ENV", "production");
        for (set, given, expected) in [
            (&[][..], None, Enabled::Yes),
            (&[], Some(Enabled::No), Enabled::No),
            (&[("GRAPHMIND_DISABLED", "yes")], Some(Enabled::Yes), Enabled::No),
            (&[("GRAPHMIND_DISABLED", "off")], None, Enabled::Yes),
            (&[production], None, Enabled::No),
            (&[production], Some(Enabled::Yes), Enabled::Yes),
            (&[production, ("GRAPHMIND", "1")], None, Enabled::Yes),
            (&[production, ("GRAPHMIND", "1")], Some(Enabled::No), Enabled::No),
            (&[("GRAPHMIND", "1"), ("GRAPHMIND_DISABLED", "1")], None, Enabled::No),
        ] {
            assert_eq!(enabled(set, given), expected, "{set:?} {given:?}");
        }
    }

    #[test]
    fn the_url_comes_from_code_then_from_the_environment() {
        assert_eq!(config(&[]).url(), "ws://127.0.0.1:4747/ingest");
        assert_eq!(config(&[("GRAPHMIND_URL", "ws://h/x")]).url(), "ws://h/x");
        let both = SessionConfig { url: Some("ws://code/".to_owned()), ..config(&[("GRAPHMIND_URL", "ws://h/x")]) };
        assert_eq!(both.url(), "ws://code/");
    }

    #[test]
    fn code_can_hide_more_than_the_environment_but_not_less() {
        let config = config(&[("GRAPHMIND_HIDE_INPUTS", "1")]);
        assert!(config.hide().inputs);
        let more = SessionConfig { hide: super::Hide { outputs: true, ..super::Hide::NOTHING }, ..config };
        assert!(more.hide().inputs && more.hide().outputs);
    }

    #[test]
    fn l09_loop_options_beat_the_environment_and_the_environment_the_defaults() {
        let environment =
            [("GRAPHMIND_LOOP_THRESHOLD", "7"), ("GRAPHMIND_ON_LOOP", "warn"), ("GRAPHMIND_LOOP_ALLOW", "a,b")];
        let defaults = config(&[]).loops();
        assert_eq!((defaults.threshold, defaults.on_loop), (3, OnLoop::Pause));
        assert_eq!(defaults.ignore_keys, ["_meta"]);
        let read = config(&environment).loops();
        assert_eq!((read.threshold, read.on_loop, read.allow_nodes.len()), (7, OnLoop::Warn, 2));
        let loops = LoopConfig {
            threshold: Some(0),
            on_loop: Some(OnLoop::Off),
            allow_nodes: Some(vec!["c".to_owned()]),
            ..LoopConfig::default()
        };
        let given = SessionConfig { loops, ..config(&environment) }.loops();
        assert_eq!((given.threshold, given.on_loop), (0, OnLoop::Off));
        assert_eq!(given.allow_nodes, ["c"]);
    }

    #[test]
    fn s04_a_smart_option_in_code_beats_the_environment() {
        let off = [("GRAPHMIND_BREAK_ON_TRUNCATED", "0")];
        assert_eq!(config(&off).smart().truncated, Detector::Off);
        assert_eq!(config(&off).smart().error_result, Detector::On);
        let smart = SmartConfig { truncated: Some(Detector::On), error_result: Some(Detector::Off) };
        let given = SessionConfig { smart, ..config(&off) }.smart();
        assert_eq!((given.truncated, given.error_result), (Detector::On, Detector::Off));
    }

    #[test]
    fn edit_input_is_not_announced_where_it_is_switched_off() {
        let named = |set| config(set).capabilities().join(" ");
        assert_eq!(named(&[]), "pause step inject retry abort run-claim edit-input request-id watch conditions");
        assert_eq!(
            named(&[("GRAPHMIND_DISABLE_EDIT_INPUT", "on")]),
            "pause step inject retry abort run-claim request-id watch conditions"
        );
    }
}
