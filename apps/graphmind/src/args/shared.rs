//! Arguments that several commands take, spelled once.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::browser::Opening;
use crate::fault::Reader;

/// Which hub to talk to.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Hub {
    /// Port the hub listens on
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PORT, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
}

/// Which database to read.
#[derive(Clone, Debug, Args)]
pub(crate) struct Database {
    /// Database to use [default: GRAPHMIND_DB, else ~/.graphmind/graphmind.db]
    #[arg(long, value_name = "PATH")]
    pub(crate) db: Option<PathBuf>,
}

/// Whether a program reads the result.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Json {
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Json {
    pub(crate) fn reader(self) -> Reader {
        if self.json { Reader::Program } else { Reader::Person }
    }
}

/// Whether to open the viewer in a browser.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Browser {
    /// Open the viewer in a browser even if nobody seems to sit here
    #[arg(long, overrides_with = "no_open")]
    open: bool,
    /// Do not open a browser
    #[arg(long, overrides_with = "open")]
    no_open: bool,
}

impl Browser {
    pub(crate) fn opening(self) -> Opening {
        match self {
            Browser { open: true, .. } => Opening::Yes,
            Browser { no_open: true, .. } => Opening::No,
            Browser { .. } => Opening::IfSomebodySits,
        }
    }
}

/// Seconds as people write them: `30`, `0.5`.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let asked: f64 = text.parse().map_err(|_| "not a number of seconds".to_owned())?;
    let asked = Duration::try_from_secs_f64(asked).ok().filter(|asked| *asked <= LONGEST);
    asked.ok_or_else(|| "not a number of seconds that can be waited".to_owned())
}

pub(crate) const DEFAULT_PORT: u16 = 4747;

/// A year: clocks cannot count to the end of what a number of seconds can say.
const LONGEST: Duration = Duration::from_secs(366 * 86_400);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_what_a_clock_can_count_to() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("31622400"), Ok(LONGEST));
        for text in ["", "soon", "-1", "NaN", "inf", "1e19", "31622401"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
