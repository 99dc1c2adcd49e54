//! Multi round-trip requests: an answer that asks back leaves its exchange open, and a later request with a new id continues
//! it (mcp R16, hub N05).

use std::collections::VecDeque;
use std::time::Duration;

use crate::json::{Raw, View, canonical};
use crate::mcp::{Outcome, Params};

/// Exchanges whose last answer asked for more input.
#[derive(Debug)]
pub struct Rounds<T> {
    waiting: VecDeque<Waiting<T>>,
    cap: usize,
}

/// What identifies the next round of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    method: Box<str>,
    /// The decoded state, if the server sent one.
    state: Option<Box<str>>,
    /// Canonical parameters without what differs from round to round.
    target: String,
    /// The keys that were asked, sorted.
    keys: Vec<String>,
}

#[derive(Debug)]
struct Waiting<T> {
    asked: Asked,
    since: Duration,
    exchange: T,
}

impl Asked {
    /// From a request and the answer that asks back.
    pub fn of(method: &str, params: Option<&Raw>, answer: &Outcome<'_>) -> Asked {
        Asked {
            method: method.into(),
            state: answer.request_state.and_then(state),
            target: params.map(|params| target(params.view())).unwrap_or_default(),
            keys: keys(answer.input_requests),
        }
    }

    fn continues(&self, method: &str, params: &Params<'_>, whole: View<'_>) -> bool {
        if *self.method != *method {
            return false;
        }
        let same_state = self.state.as_deref() == params.request_state.and_then(state).as_deref();
        match self.state {
            // The state names the exchange; the target still has to be the same.
            Some(_) => same_state && self.target == target(whole),
            None => {
                same_state
                    && params.input_responses.is_some()
                    && self.keys == keys(params.input_responses)
                    && self.target == target(whole)
            }
        }
    }
}

impl<T> Rounds<T> {
    /// At most `cap` exchanges wait.
    pub fn new(cap: usize) -> Rounds<T> {
        Rounds { waiting: VecDeque::new(), cap }
    }

    /// An exchange waits for its next round. When too many do, the oldest is handed back.
    pub fn wait(&mut self, asked: Asked, since: Duration, exchange: T) -> Option<T> {
        self.waiting.push_back(Waiting { asked, since, exchange });
        if self.waiting.len() <= self.cap {
            return None;
        }
        self.waiting.pop_front().map(|waiting| waiting.exchange)
    }

    /// The exchange that a request continues, oldest first.
    pub fn join(&mut self, method: &str, params: &Raw) -> Option<T> {
        if self.waiting.is_empty() {
            return None;
        }
        let read = Params::read(params.view());
        let place = self.waiting.iter().position(|round| round.asked.continues(method, &read, params.view()))?;
        self.waiting.remove(place).map(|waiting| waiting.exchange)
    }

    /// The exchanges that have waited since before `moment`, and so were given up.
    pub fn expire(&mut self, moment: Duration) -> Vec<T> {
        let fresh = self.waiting.iter().position(|waiting| waiting.since >= moment).unwrap_or(self.waiting.len());
        self.waiting.drain(..fresh).map(|waiting| waiting.exchange).collect()
    }

    /// Gives up the exchange that has waited longest.
    pub fn give_up(&mut self) -> Option<T> {
        self.waiting.pop_front().map(|waiting| waiting.exchange)
    }

    /// Since when the longest waiting exchange waits.
    pub fn oldest(&self) -> Option<Duration> {
        self.waiting.front().map(|waiting| waiting.since)
    }

    /// The exchanges that wait, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.waiting.iter().map(|waiting| &waiting.exchange)
    }

    /// Takes out all exchanges that wait, oldest first.
    pub fn drain(&mut self) -> Vec<T> {
        self.waiting.drain(..).map(|waiting| waiting.exchange).collect()
    }
}

/// Equal for equal states, however they are escaped.
fn state(view: View<'_>) -> Option<Box<str>> {
    match view.str() {
        Some(text) => Some(text.into()),
        None => Some(String::from_utf8_lossy(view.raw()).into()),
    }
}

fn target(params: View<'_>) -> String {
    canonical(params, &["_meta", "inputResponses", "requestState"])
}

fn keys(map: Option<View<'_>>) -> Vec<String> {
    let mut keys: Vec<String> =
        map.into_iter().flat_map(View::members).map(|(name, _)| name.to_lossy().into_owned()).collect();
    keys.sort_unstable();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Raw {
        Raw::parse(text.to_owned()).expect("a JSON text")
    }

    /// Whether a request is the next round after `first` was answered with `answer`.
    #[track_caller]
    fn check(first: &str, answer: &str, next: &str, joins: bool) {
        let mut rounds = Rounds::new(4);
        let answer = raw(answer);
        let asked = Asked::of("tools/call", Some(&raw(first)), &Outcome::read(answer.view()));
        rounds.wait(asked, Duration::ZERO, ());
        assert_eq!(rounds.join("tools/call", &raw(next)).is_some(), joins, "{next}");
        assert_eq!(rounds.oldest().is_none(), joins);
    }

    const PAY: &str = r#"{"name":"pay","arguments":{"a":1},"_meta":{"progressToken":1}}"#;

    #[test]
    fn a_state_names_its_exchange() {
        let asks = r#"{"resultType":"input_required","inputRequests":{"who":{}},"requestState":"a\u0062"}"#;
        check(PAY, asks, r#"{"name":"pay","arguments":{"a":1},"requestState":"ab","inputResponses":{"who":1}}"#, true);
        check(
            PAY,
            asks,
            r#"{"arguments":{"a":1.0},"name":"pay","requestState":"ab","_meta":{"progressToken":2}}"#,
            true,
        );
        check(PAY, asks, r#"{"name":"pay","arguments":{"a":1},"requestState":"AB","inputResponses":{"who":1}}"#, false);
        check(PAY, asks, r#"{"name":"pay","arguments":{"a":1},"inputResponses":{"who":1}}"#, false);
        check(PAY, asks, r#"{"name":"buy","arguments":{"a":1},"requestState":"ab"}"#, false);
    }

    #[test]
    fn without_a_state_the_answered_keys_do() {
        let asks = r#"{"resultType":"input_required","inputRequests":{"who":{},"why":{}}}"#;
        let answers = r#"{"name":"pay","arguments":{"a":1},"inputResponses":{"why":1,"who":2}}"#;
        check(PAY, asks, answers, true);
        check(PAY, asks, r#"{"name":"pay","arguments":{"a":1},"inputResponses":{"why":1}}"#, false);
        check(PAY, asks, r#"{"name":"pay","arguments":{"a":2},"inputResponses":{"why":1,"who":2}}"#, false);
        check(PAY, asks, PAY, false);
        check(PAY, r#"{"resultType":"input_required","requestState":"s"}"#, answers, false);
    }

    #[test]
    fn exchanges_are_given_up_in_order() {
        let mut rounds = Rounds::new(2);
        let asked = Asked::of("tools/call", None, &Outcome::default());
        for (number, second) in [(1, 10), (2, 20), (3, 30)] {
            let evicted = rounds.wait(asked.clone(), Duration::from_secs(second), number);
            assert_eq!(evicted, (number == 3).then_some(1));
        }
        assert_eq!(rounds.expire(Duration::from_secs(25)), [2]);
        assert_eq!(rounds.oldest(), Some(Duration::from_secs(30)));
        rounds.wait(asked, Duration::from_secs(40), 4);
        assert_eq!(rounds.give_up(), Some(3));
        assert_eq!(rounds.drain(), [4]);
    }
}
