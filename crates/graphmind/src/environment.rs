//! The switches a program takes from its environment, each read once through a look-up the caller owns.
//! Knows the spellings of on and off; what an option in code does to a switch is decided in `config`.

use crate::redact::Hide;

/// Everything the environment says to a session (wire §2.9). Absent and meaningless values are `None`, so
/// that the order "option, environment, default" can be applied by whoever holds the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// `GRAPHMIND_DISABLED`: off, whatever the code says.
    pub disabled: bool,
    /// One of the deployment variables says production and `GRAPHMIND=1` does not overrule it.
    pub production: bool,
    /// `GRAPHMIND_URL`.
    pub url: Option<String>,
    /// The four `GRAPHMIND_HIDE_*` switches: a floor, code can only add to it.
    pub hide: Hide,
    /// `GRAPHMIND_LOOP_THRESHOLD`.
    pub loop_threshold: Option<u64>,
    /// `GRAPHMIND_ON_LOOP`.
    pub on_loop: Option<OnLoop>,
    /// `GRAPHMIND_LOOP_ALLOW`, empty when unset.
    pub loop_allow: Vec<String>,
    /// `GRAPHMIND_DISABLE_EDIT_INPUT`: neither announce nor honour edited input.
    pub edit_input_off: bool,
    /// `GRAPHMIND_BREAK_ON_ERROR_RESULT` was switched off.
    pub error_result_off: bool,
    /// `GRAPHMIND_BREAK_ON_TRUNCATED` was switched off.
    pub truncated_off: bool,
}

/// What the loop guard does when it recognises a loop (wire §5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnLoop {
    /// Hold the call.
    Pause,
    /// Say so once per streak, hold nothing.
    Warn,
    /// Do not look.
    Off,
}

impl Environment {
    /// Reads all switches through `lookup`, which answers `None` for a variable that is not set.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Environment {
        let value = |name: &str| lookup(name).map(|text| text.trim().to_lowercase());
        let on = |name: &str| value(name).is_some_and(|text| !is_off(&text) && !text.is_empty());
        let off = |name: &str| value(name).is_some_and(|text| is_off(&text));
        // White space is a value like any other here: what is set decides, and only one exact spelling overrules it.
        let named = DEPLOYMENT.iter().find_map(|name| lookup(name).filter(|text| !text.is_empty()));
        let deployment = named.map(|text| text.trim().to_lowercase());
        let forced = lookup("GRAPHMIND").as_deref() == Some("1");
        Environment {
            disabled: on("GRAPHMIND_DISABLED"),
            production: !forced && matches!(deployment.as_deref(), Some("production" | "prod")),
            url: lookup("GRAPHMIND_URL").map(|url| url.trim().to_owned()).filter(|url| !url.is_empty()),
            hide: Hide {
                inputs: on("GRAPHMIND_HIDE_INPUTS"),
                outputs: on("GRAPHMIND_HIDE_OUTPUTS"),
                tool_args: on("GRAPHMIND_HIDE_TOOL_ARGS"),
                tool_results: on("GRAPHMIND_HIDE_TOOL_RESULTS"),
            },
            loop_threshold: value("GRAPHMIND_LOOP_THRESHOLD").and_then(|text| whole(&text)),
            on_loop: value("GRAPHMIND_ON_LOOP").and_then(|text| on_loop(&text)),
            loop_allow: lookup("GRAPHMIND_LOOP_ALLOW").map(|list| names(&list)).unwrap_or_default(),
            edit_input_off: on("GRAPHMIND_DISABLE_EDIT_INPUT"),
            error_result_off: off("GRAPHMIND_BREAK_ON_ERROR_RESULT"),
            truncated_off: off("GRAPHMIND_BREAK_ON_TRUNCATED"),
        }
    }

    /// Reads the variables of this process. What is no Unicode is set all the same: a switch must not stay open for it.
    pub fn process() -> Environment {
        Environment::read(|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    /// An environment in which nothing is set.
    pub fn empty() -> Environment {
        Environment::read(|_| None)
    }
}

fn is_off(text: &str) -> bool {
    matches!(text, "0" | "false" | "off" | "no")
}

/// A number without a fraction as scripts may spell it: `3`, `3.0`, `1e1`, `0x10`. Beyond all counting it is the largest.
fn whole(text: &str) -> Option<u64> {
    let (prefix, digits) = text.split_at_checked(2).unwrap_or_default();
    let radix = RADICES.iter().find(|(known, _)| *known == prefix).map(|(_, radix)| *radix);
    if let Some(radix) = radix.filter(|_| !digits.starts_with('+')) {
        return u64::from_str_radix(digits, radix).ok();
    }
    let value: f64 =
        text.parse().ok().filter(|value: &f64| *value >= 0.0 && value.is_finite() && value.fract() == 0.0)?;
    Some(value.abs().to_string().parse().unwrap_or(u64::MAX))
}

fn on_loop(text: &str) -> Option<OnLoop> {
    match text {
        "pause" => Some(OnLoop::Pause),
        "warn" => Some(OnLoop::Warn),
        "off" | "0" | "false" | "none" => Some(OnLoop::Off),
        _ => None,
    }
}

fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The first of these that is set decides alone, so `ENV=dev` shadows a `NODE_ENV=production` left over by a shell.
const DEPLOYMENT: &[&str] =
    &["GRAPHMIND_ENV", "ENVIRONMENT", "APP_ENV", "PYTHON_ENV", "ENV", "DJANGO_ENV", "FLASK_ENV", "NODE_ENV"];

const RADICES: [(&str, u32); 3] = [("0x", 16), ("0o", 8), ("0b", 2)];

#[cfg(test)]
mod tests {
    use super::{Environment, OnLoop};

    fn read(set: &[(&str, &str)]) -> Environment {
        Environment::read(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn on_is_permissive_and_off_is_a_short_list() {
        let disabled = |value: &str| read(&[("GRAPHMIND_DISABLED", value)]).disabled;
        for on in ["1", "true", "TRUE ", "yes", "on", "2", "nope", "  x"] {
            assert!(disabled(on), "{on:?} is on");
        }
        for off in ["", "  ", "0", "false", " OFF", "No"] {
            assert!(!disabled(off), "{off:?} is off");
        }
        let hidden = read(&[("GRAPHMIND_HIDE_TOOL_ARGS", "yes"), ("GRAPHMIND_HIDE_OUTPUTS", "off")]).hide;
        assert!(hidden.tool_args && !hidden.outputs && !hidden.inputs);
    }

    #[test]
    fn u05_the_first_deployment_variable_that_is_set_decides() {
        let production = |set: &[(&str, &str)]| read(set).production;
        assert!(production(&[("NODE_ENV", "production")]));
        assert!(production(&[("APP_ENV", " Prod ")]));
        assert!(production(&[("ENV", ""), ("NODE_ENV", "production")]), "empty is not set");
        assert!(!production(&[("GRAPHMIND_ENV", "dev"), ("NODE_ENV", "production")]));
        assert!(!production(&[("GRAPHMIND_ENV", " "), ("NODE_ENV", "production")]), "white space is set");
        assert!(production(&[("NODE_ENV", "production"), ("GRAPHMIND", " 1")]));
        assert!(!production(&[("NODE_ENV", "productive")]));
        assert!(!production(&[("NODE_ENV", "production"), ("GRAPHMIND", "1")]));
        assert!(production(&[("NODE_ENV", "production"), ("GRAPHMIND", "yes")]));
    }

    #[test]
    fn l09_garbage_in_the_loop_switches_means_default() {
        let threshold = |value: &str| read(&[("GRAPHMIND_LOOP_THRESHOLD", value)]).loop_threshold;
        assert_eq!(threshold("5"), Some(5));
        assert_eq!(threshold(" 0 "), Some(0));
        for (spelled, worth) in
            [("3.0", 3), ("1e1", 10), (".5e1", 5), ("+5", 5), ("-0", 0), ("0.0", 0), ("0X1f", 31), ("0b11", 3)]
        {
            assert_eq!(threshold(spelled), Some(worth), "{spelled:?}");
        }
        assert_eq!(threshold("99999999999999999999999"), Some(u64::MAX));
        for garbage in ["-1", "1.5", "three", "", "1e400", "inf", "Infinity", "NaN", "0x", "0x+1", "1_000"] {
            assert_eq!(threshold(garbage), None, "{garbage:?}");
        }
        let mode = |value: &str| read(&[("GRAPHMIND_ON_LOOP", value)]).on_loop;
        assert_eq!(mode("Warn"), Some(OnLoop::Warn));
        assert_eq!(mode("none"), Some(OnLoop::Off));
        assert_eq!(mode("false"), Some(OnLoop::Off));
        assert_eq!(mode("explode"), None);
        assert_eq!(read(&[("GRAPHMIND_LOOP_ALLOW", " tool:poll ,, wait,")]).loop_allow, ["tool:poll", "wait"]);
    }

    #[test]
    fn s04_only_the_four_words_switch_a_smart_hold_off() {
        let off = |value: &str| read(&[("GRAPHMIND_BREAK_ON_ERROR_RESULT", value)]).error_result_off;
        for word in ["0", "false", "off", "NO"] {
            assert!(off(word));
        }
        for other in ["", "1", "disabled", "null", "\u{0}"] {
            assert!(!off(other), "{other:?}");
        }
    }
}
