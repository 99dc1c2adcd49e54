//! Whether anybody looks on (hub §6): viewers and parked control clients, and for a while after the last of them. Pure.

use std::time::Duration;

use lockgate_protocol::debug::Watched;
use tokio::time::Instant;

/// Counts those who look on.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    viewers: Lookers,
    polls: Lookers,
    told: bool,
}

#[derive(Debug, Default)]
struct Lookers {
    here: usize,
    /// Counts as here until then, after the last has gone.
    lingers: Option<Instant>,
}

/// Who looks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looker {
    Viewer,
    /// A control client with a parked poll.
    Poll,
}

impl Watch {
    pub(crate) fn came(&mut self, looker: Looker) {
        let lookers = self.of(looker);
        lookers.here += 1;
        lookers.lingers = None;
    }

    pub(crate) fn left(&mut self, looker: Looker, now: Instant) {
        let grace = match looker {
            Looker::Viewer => AFTER_VIEWER,
            Looker::Poll => AFTER_POLL,
        };
        let lookers = self.of(looker);
        lookers.here = lookers.here.saturating_sub(1);
        lookers.lingers = (lookers.here == 0).then_some(now + grace);
    }

    /// The news, if there is any since the last call.
    pub(crate) fn news(&mut self, now: Instant) -> Option<Watched> {
        for lookers in [&mut self.viewers, &mut self.polls] {
            lookers.lingers = lookers.lingers.filter(|until| *until > now);
        }
        let watched = self.viewers.counts() || self.polls.counts();
        (std::mem::replace(&mut self.told, watched) != watched).then(|| self.watched())
    }

    /// As last told.
    pub(crate) fn watched(&self) -> Watched {
        if self.told { Watched::Yes } else { Watched::No }
    }

    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.viewers.lingers.into_iter().chain(self.polls.lingers).min()
    }

    fn of(&mut self, looker: Looker) -> &mut Lookers {
        match looker {
            Looker::Viewer => &mut self.viewers,
            Looker::Poll => &mut self.polls,
        }
    }
}

impl Lookers {
    fn counts(&self) -> bool {
        self.here > 0 || self.lingers.is_some()
    }
}

const AFTER_VIEWER: Duration = Duration::from_secs(5);
const AFTER_POLL: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::{Duration, Instant, Looker, Watch, Watched};

    /// Steps `seconds what`: `+v` `-v` `+p` `-p`, or `.` for nothing; after each `y`, `n`, or `-` for no news.
    fn check(steps: &[(u64, &str)], expected: &str) {
        let (mut watch, start) = (Watch::default(), Instant::now());
        let mut news = String::new();
        for (second, what) in steps {
            let now = start + Duration::from_secs(*second);
            let looker = if what.ends_with('v') { Looker::Viewer } else { Looker::Poll };
            match what.chars().next() {
                Some('+') => watch.came(looker),
                Some('-') => watch.left(looker, now),
                _ => {}
            }
            news.push(match watch.news(now) {
                Some(Watched::Yes) => 'y',
                Some(Watched::No) => 'n',
                None => '-',
            });
        }
        assert_eq!(news, expected, "{steps:?}");
    }

    #[test]
    fn viewers_and_polls_linger() {
        check(&[(0, "."), (0, "+v"), (1, "+v"), (2, "-v"), (20, "-v"), (24, "."), (25, ".")], "-y----n");
        check(&[(0, "+v"), (1, "-v"), (3, "+v"), (9, "."), (10, "-v"), (15, ".")], "y----n");
        check(&[(0, "+p"), (1, "-p"), (60, "."), (61, ".")], "y--n");
        check(&[(0, "+p"), (0, "+v"), (1, "-p"), (2, "-v"), (30, "."), (61, ".")], "y----n");
        check(&[(0, "-v"), (5, ".")], "yn");
    }

    #[test]
    fn the_next_deadline_is_the_sooner_one() {
        let (mut watch, now) = (Watch::default(), Instant::now());
        assert_eq!(watch.next_deadline(), None);
        watch.came(Looker::Viewer);
        watch.came(Looker::Poll);
        assert_eq!(watch.next_deadline(), None);
        watch.left(Looker::Poll, now);
        watch.left(Looker::Viewer, now);
        assert_eq!(watch.next_deadline(), Some(now + Duration::from_secs(5)));
    }
}
