//! What calls are to stop at (hub §6): breakpoints, step mode, and the default breakpoint on errors. Pure.

use lockgate_logic::Rule;
use lockgate_protocol::debug::{Control, Matcher, NodeKind, PausePoint, RunMode, Watched};

/// When the breakpoint on errors is armed without anybody asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorStop {
    /// While somebody watches: an unattended program must not hang on its first failing call.
    #[default]
    Watched,
    Always,
    /// Always, for nodes of one kind.
    Kind(NodeKind),
    Never,
}

impl ErrorStop {
    /// Reads the value of `--pause-on-error`; nothing when it is no such word.
    pub fn parse(word: &str) -> Option<ErrorStop> {
        match word.trim() {
            "" | "watched" => Some(ErrorStop::Watched),
            "on" | "all" | "yes" | "true" | "1" => Some(ErrorStop::Always),
            "off" | "none" | "no" | "false" | "0" => Some(ErrorStop::Never),
            word => NodeKind::parse(word).map(ErrorStop::Kind),
        }
    }
}

/// The debug state that every attached program shares.
#[derive(Debug)]
pub(crate) struct Breakpoints {
    armed: Vec<Armed>,
    mode: RunMode,
    error_stop: ErrorStop,
}

#[derive(Debug)]
struct Armed {
    key: String,
    matcher: Matcher,
    origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Asked,
    /// The default one, which goes when the last watcher goes.
    Watching,
}

/// Why a breakpoint was not set.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadBreakpoint {
    #[error("the condition is no rule: {0}")]
    Rule(String),
    #[error("the condition is too long")]
    Long,
    #[error("there are too many breakpoints")]
    Many,
}

impl Breakpoints {
    pub(crate) fn new(error_stop: ErrorStop) -> Breakpoints {
        let always = match error_stop {
            ErrorStop::Always => Some(on_error(None)),
            ErrorStop::Kind(kind) => Some(on_error(Some(kind))),
            ErrorStop::Watched | ErrorStop::Never => None,
        };
        let armed = always.map(|matcher| Armed { key: matcher.key(), matcher, origin: Origin::Asked });
        Breakpoints { armed: armed.into_iter().collect(), mode: RunMode::Run, error_stop }
    }

    /// Obeys a control; answers what to tell the programs, or nothing when that changes nothing.
    pub(crate) fn obey(&mut self, control: Control) -> Result<Option<Control>, BadBreakpoint> {
        let changed = match &control {
            Control::BreakpointSet(matcher) => {
                check(matcher)?;
                self.set(matcher, Origin::Asked)?
            }
            Control::BreakpointClear(matcher) => self.clear(&matcher.key()),
            Control::ModeSet(mode) => std::mem::replace(&mut self.mode, *mode) != *mode,
            Control::Resume(_) | Control::WatchSet(_) => false,
        };
        Ok(changed.then_some(control))
    }

    /// Follows the watchers with the default breakpoint.
    pub(crate) fn watched(&mut self, watched: Watched) -> Option<Control> {
        if self.error_stop != ErrorStop::Watched {
            return None;
        }
        let matcher = on_error(None);
        let changed = match watched {
            Watched::Yes => self.set(&matcher, Origin::Watching).unwrap_or(false),
            Watched::No => {
                let key = matcher.key();
                let ours = self.armed.iter().any(|armed| armed.key == key && armed.origin == Origin::Watching);
                ours && self.clear(&key)
            }
        };
        let control = match watched {
            Watched::Yes => Control::BreakpointSet(matcher),
            Watched::No => Control::BreakpointClear(matcher),
        };
        changed.then_some(control)
    }

    pub(crate) fn matchers(&self) -> impl Iterator<Item = &Matcher> {
        self.armed.iter().map(|armed| &armed.matcher)
    }

    pub(crate) fn mode(&self) -> RunMode {
        self.mode
    }

    fn set(&mut self, matcher: &Matcher, origin: Origin) -> Result<bool, BadBreakpoint> {
        let key = matcher.key();
        if let Some(armed) = self.armed.iter_mut().find(|armed| armed.key == key) {
            if origin == Origin::Asked {
                armed.origin = Origin::Asked;
            }
            return Ok(false);
        }
        let bytes = self.armed.iter().map(|armed| armed.key.len()).sum::<usize>() + key.len();
        if self.armed.len() >= MOST || bytes > MOST_BYTES {
            return Err(BadBreakpoint::Many);
        }
        self.armed.push(Armed { key, matcher: matcher.clone(), origin });
        Ok(true)
    }

    fn clear(&mut self, key: &str) -> bool {
        let before = self.armed.len();
        self.armed.retain(|armed| armed.key != key);
        self.armed.len() < before
    }
}

/// Whether a program must announce `conditions` to be sent this (wire §10.4): others would hold every time.
pub(crate) fn is_conditional(matcher: &Matcher) -> bool {
    matcher.when.is_some() || matcher.after.is_some()
}

fn check(matcher: &Matcher) -> Result<(), BadBreakpoint> {
    let Some(rule) = &matcher.when else { return Ok(()) };
    if rule.len() > LONGEST {
        return Err(BadBreakpoint::Long);
    }
    Rule::parse(rule.view()).map(drop).map_err(|error| BadBreakpoint::Rule(error.to_string()))
}

fn on_error(kind: Option<NodeKind>) -> Matcher {
    Matcher { kind, point: Some(PausePoint::Error), ..Matcher::default() }
}

const MOST: usize = 1_000;
/// All of them travel in one `hello.ack`, and the published Python SDK takes no frame above a mebibyte.
const MOST_BYTES: usize = 512 << 10;
const LONGEST: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::{BadBreakpoint, Breakpoints, Control, ErrorStop, Matcher, NodeKind, RunMode, Watched};
    use lockgate_protocol::json::Raw;

    fn matcher(text: &str) -> Matcher {
        Matcher::read(Raw::parse(text.to_owned()).unwrap().view()).unwrap()
    }

    fn show(state: &Breakpoints) -> String {
        let all: Vec<_> = state.matchers().map(Matcher::key).collect();
        format!("{} {}", all.join(" "), state.mode())
    }

    /// `+{…}` sets, `-{…}` clears, `watch` and `leave`; `!` after a step says that programs are told.
    fn check(error_stop: ErrorStop, script: &[&str], expected: &str) {
        let mut state = Breakpoints::new(error_stop);
        for step in script {
            let (step, told) = step.strip_suffix('!').map_or((*step, false), |step| (step, true));
            let change = match step.split_at(1) {
                ("+", text) => state.obey(Control::BreakpointSet(matcher(text))).unwrap(),
                ("-", text) => state.obey(Control::BreakpointClear(matcher(text))).unwrap(),
                ("w", _) => state.watched(Watched::Yes),
                _ => state.watched(Watched::No),
            };
            assert_eq!(change.is_some(), told, "{step} of {script:?}");
        }
        assert_eq!(show(&state), expected, "{script:?}");
    }

    #[test]
    fn a_set_of_exact_matchers() {
        let never = ErrorStop::Never;
        check(never, &[], " run");
        check(never, &["+{}!", "+{}"], "{} run");
        check(never, &["+{}!", r#"+{"point":"before"}!"#], r#"{} {"point":"before"} run"#);
        check(never, &["+{}!", r#"-{"point":"before"}"#], "{} run");
        check(never, &[r#"+{"name":"a","kind":"tool"}!"#, r#"-{"kind":"tool","name":"a"}!"#], " run");
        check(
            never,
            &[r#"+{"after":2,"when":{"==":[{"var":"name"},"x"]}}!"#, "-{}"],
            r#"{"after":2,"when":{"==":[{"var":"name"},"x"]}} run"#,
        );
    }

    #[test]
    fn the_default_comes_and_goes_with_the_watchers() {
        let error = r#"{"point":"error"} run"#;
        check(ErrorStop::Watched, &["watch!", "watch"], error);
        check(ErrorStop::Watched, &["watch!", "leave!", "leave"], " run");
        check(ErrorStop::Watched, &["watch!", r#"+{"point":"error"}"#, "leave"], error);
        check(ErrorStop::Watched, &[r#"+{"point":"error"}!"#, "watch", "leave"], error);
        check(ErrorStop::Watched, &["watch!", r#"-{"point":"error"}!"#, "leave", "watch!"], error);
        check(ErrorStop::Always, &["watch", "leave"], error);
        check(ErrorStop::Kind(NodeKind::Server), &["watch", "leave"], r#"{"kind":"server","point":"error"} run"#);
        check(ErrorStop::Never, &["watch", "leave"], " run");
    }

    #[test]
    fn mode_and_refusals() {
        let mut state = Breakpoints::new(ErrorStop::Never);
        assert!(state.obey(Control::ModeSet(RunMode::Run)).unwrap().is_none());
        assert!(state.obey(Control::ModeSet(RunMode::Step)).unwrap().is_some());
        let bad = state.obey(Control::BreakpointSet(matcher(r#"{"when":{"launch":[1]}}"#)));
        assert!(matches!(bad, Err(BadBreakpoint::Rule(_))), "{bad:?}");
        let long = format!(r#"{{"when":"{}"}}"#, "x".repeat(70_000));
        assert_eq!(state.obey(Control::BreakpointSet(matcher(&long))), Err(BadBreakpoint::Long));
        for name in 0..1_000 {
            state.obey(Control::BreakpointSet(matcher(&format!(r#"{{"name":"{name}"}}"#)))).unwrap();
        }
        assert_eq!(state.obey(Control::BreakpointSet(matcher("{}"))), Err(BadBreakpoint::Many));
        let mut state = Breakpoints::new(ErrorStop::Never);
        let wordy = |number: usize| matcher(&format!(r#"{{"name":"{number}{}"}}"#, "x".repeat(200_000)));
        assert!(state.obey(Control::BreakpointSet(wordy(1))).is_ok());
        assert!(state.obey(Control::BreakpointSet(wordy(2))).is_ok());
        assert_eq!(state.obey(Control::BreakpointSet(wordy(3))), Err(BadBreakpoint::Many), "they travel in one frame");
        assert_eq!(state.matchers().count(), 2);
    }

    #[test]
    fn words() {
        let check = |word: &str, expected| assert_eq!(ErrorStop::parse(word), expected, "{word}");
        for word in ["", " ", "watched"] {
            check(word, Some(ErrorStop::Watched));
        }
        for word in ["on", "all", "yes", "true", "1"] {
            check(word, Some(ErrorStop::Always));
        }
        for word in ["off", "none", "no", "false", "0"] {
            check(word, Some(ErrorStop::Never));
        }
        for kind in NodeKind::ALL {
            check(kind.as_str(), Some(ErrorStop::Kind(*kind)));
        }
        check("ON", None);
        check("everything", None);
    }
}
