//! Orders the spans in time and writes them as the events of one run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use lockgate_protocol::debug::{
    Envelope, Event, NodeError, NodeFinished, NodeStarted, RunFinished, RunId, RunStarted, RunStatus, SdkInfo,
};
use lockgate_protocol::json::Raw;

use super::content;
use super::node::{self, Place};
use super::shape::{Format, Found, ImportError};
use super::span::Span;

/// Where a trace came from, and what its run shall be called.
#[derive(Clone, Debug)]
pub struct Origin {
    pub run: RunId,
    /// Name of the file, for the run's meta and as the app's last resort.
    pub file: String,
    /// The app's name, whatever the trace says.
    pub app: Option<String>,
    /// Our version, as the run's SDK.
    pub version: String,
}

/// A finished run, ready to be stored.
#[derive(Clone, Debug)]
pub struct Imported {
    pub app: String,
    pub format: Format,
    pub status: RunStatus,
    pub events: Vec<Envelope>,
    pub skipped: Skipped,
}

/// Spans that are not in the run, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Of no kind we know: HTTP, database and the like.
    pub other: usize,
    /// A second span of an id already taken.
    pub repeated: usize,
    /// Without a start time.
    pub undated: usize,
}

pub(super) fn compose(format: Format, found: Found, origin: &Origin) -> Result<Imported, ImportError> {
    let total = found.len();
    let mut skipped = Skipped::default();
    let spans = distinct(found, &mut skipped);
    let places: Vec<Option<Place>> = spans.iter().map(node::place).collect();
    let family = Family::of(&spans, &places);
    let mut steps = Vec::new();
    for (at, (span, place)) in spans.iter().zip(&places).enumerate() {
        let Some(place) = place else {
            skipped.other += 1;
            continue;
        };
        let parent = family.parent(at).and_then(|at| places.get(at)).and_then(Option::as_ref);
        steps.push(Step { span, place, parent, depth: family.depth(at) });
    }
    if steps.is_empty() {
        return Err(ImportError::NothingKnown { spans: total });
    }
    let app = app(origin, &spans, &steps);
    let status = status(&steps);
    let events = events(&steps, origin, (&app, format, status));
    Ok(Imported { app, format, status, events, skipped })
}

/// The spans with a start, the first of each id.
fn distinct(found: Found, skipped: &mut Skipped) -> Vec<Span> {
    let mut seen = HashSet::new();
    let mut spans = Vec::new();
    for span in found {
        let Some(span) = span else {
            skipped.undated += 1;
            continue;
        };
        if span.id.as_ref().is_some_and(|id| !seen.insert(id.clone())) {
            skipped.repeated += 1;
            continue;
        }
        spans.push(span);
    }
    spans
}

/// A span that becomes a node execution.
struct Step<'a> {
    span: &'a Span,
    place: &'a Place,
    parent: Option<&'a Place>,
    depth: usize,
}

impl Step<'_> {
    fn status(&self) -> RunStatus {
        if self.span.failed { RunStatus::Error } else { RunStatus::Ok }
    }
}

/// For each span its nearest mapped ancestor and how many of those stand above it.
struct Family(Vec<Line>);

#[derive(Clone, Copy)]
enum Line {
    Unknown,
    /// On the way up; met again, the file's parents go in a circle.
    Walking,
    Known {
        parent: Option<usize>,
        depth: usize,
    },
}

impl Family {
    fn of(spans: &[Span], places: &[Option<Place>]) -> Family {
        let ids: HashMap<&str, usize> =
            spans.iter().enumerate().filter_map(|(at, span)| Some((span.id.as_deref()?, at))).collect();
        let above =
            |at: usize| spans.get(at).and_then(|span| span.parent.as_deref()).and_then(|id| ids.get(id)).copied();
        let mapped = |at: usize| places.get(at).is_some_and(Option::is_some);
        let mut family = Family(vec![Line::Unknown; spans.len()]);
        for start in 0..spans.len() {
            let mut way = Vec::new();
            let mut next = Some(start);
            while let Some(at) = next.filter(|at| matches!(family.line(*at), Line::Unknown)) {
                family.set(at, Line::Walking);
                way.push(at);
                next = above(at);
            }
            for at in way.into_iter().rev() {
                let parent = above(at).filter(|up| !matches!(family.line(*up), Line::Walking));
                let parent = parent.and_then(|up| if mapped(up) { Some(up) } else { family.parent(up) });
                let depth = parent.map_or(0, |up| family.depth(up) + 1);
                family.set(at, Line::Known { parent, depth });
            }
        }
        family
    }

    fn line(&self, at: usize) -> Line {
        self.0.get(at).copied().unwrap_or(Line::Walking)
    }

    fn set(&mut self, at: usize, line: Line) {
        if let Some(place) = self.0.get_mut(at) {
            *place = line;
        }
    }

    fn parent(&self, at: usize) -> Option<usize> {
        if let Line::Known { parent, .. } = self.line(at) { parent } else { None }
    }

    fn depth(&self, at: usize) -> usize {
        if let Line::Known { depth, .. } = self.line(at) { depth } else { 0 }
    }
}

fn app(origin: &Origin, spans: &[Span], steps: &[Step<'_>]) -> String {
    let service = spans.iter().filter_map(|span| span.service.as_deref());
    let mut service = service.filter(|name| !name.starts_with(UNNAMED_SERVICE));
    let root_agent = || {
        let agent = |step: &&Step<'_>| step.parent.is_none() && step.place.node.starts_with("agent:");
        steps.iter().find(agent).map(|step| step.place.name.clone())
    };
    let named = origin.app.clone().or_else(|| service.next().map(str::to_owned)).or_else(root_agent);
    named.unwrap_or_else(|| origin.file.clone())
}

/// One root decides; of several, any that failed.
fn status(steps: &[Step<'_>]) -> RunStatus {
    let failed = steps.iter().any(|step| step.parent.is_none() && step.span.failed);
    if failed { RunStatus::Error } else { RunStatus::Ok }
}

/// When a step starts or ends. Sorted so, starts come before ends at the same time, outer steps start first and end last.
struct Moment<'a> {
    ms: f64,
    ends: bool,
    step: &'a Step<'a>,
}

impl Moment<'_> {
    fn order(&self) -> (bool, isize) {
        let depth = isize::try_from(self.step.depth).unwrap_or(isize::MAX);
        (self.ends, if self.ends { -depth } else { depth })
    }
}

fn events(steps: &[Step<'_>], origin: &Origin, (app, format, status): (&str, Format, RunStatus)) -> Vec<Envelope> {
    let starts = steps.iter().map(|step| Moment { ms: step.span.start, ends: false, step });
    let ends = steps.iter().map(|step| Moment { ms: step.span.end, ends: true, step });
    let mut moments: Vec<Moment<'_>> = starts.chain(ends).collect();
    moments.sort_by(|one, other| one.ms.total_cmp(&other.ms).then_with(|| one.order().cmp(&other.order())));
    let first = moments.first().map_or(0.0, |moment| moment.ms);
    let last = moments.last().map_or(0.0, |moment| moment.ms);
    let mut out = Out { run: origin.run.clone(), events: Vec::new() };
    out.push(first, &run_started(origin, app, format));
    for Moment { ms, ends, step } in moments {
        if ends {
            out.end(ms, step);
        } else {
            out.push(ms, &started(step));
        }
    }
    let error = steps.iter().filter(|step| step.parent.is_none()).find_map(|step| content::error(step.span));
    let error = error.filter(|_| status == RunStatus::Error);
    out.push(last, &Event::RunFinished(RunFinished { status, error, extra: Vec::new() }));
    out.events
}

/// Envelopes as they are numbered.
struct Out {
    run: RunId,
    events: Vec<Envelope>,
}

impl Out {
    fn push(&mut self, ms: f64, event: &Event) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "times were checked when read")]
        let ts = ms as u64;
        let seq = u64::try_from(self.events.len()).unwrap_or(u64::MAX);
        let kind = event.kind().into();
        let payload = Some(event.payload());
        self.events.push(Envelope { seq, ts, run: self.run.clone(), kind, payload, extra: Vec::new() });
    }

    fn end(&mut self, ms: f64, step: &Step<'_>) {
        let node_id: Arc<str> = step.place.node.as_str().into();
        let instance_id = Some(instance(step));
        if let Some(error) = content::error(step.span) {
            let error = NodeError {
                node_id: node_id.clone(),
                instance_id: instance_id.clone(),
                error,
                held_ms: None,
                extra: Vec::new(),
            };
            self.push(ms, &Event::NodeError(error));
        }
        let finished = NodeFinished {
            node_id,
            instance_id,
            output: content::output(step.span),
            usage: content::usage(step.span),
            duration_ms: step.span.end - step.span.start,
            held_ms: None,
            status: step.status(),
            redaction: None,
            extra: Vec::new(),
        };
        self.push(ms, &Event::NodeFinished(finished));
    }
}

fn run_started(origin: &Origin, app: &str, format: Format) -> Event {
    let meta = Raw::object(|out| {
        out.str("name", &origin.file).str("source", "import").str("format", format.as_str()).str("file", &origin.file);
    });
    Event::RunStarted(RunStarted {
        app: app.to_owned(),
        sdk: SdkInfo { name: "graphmind-import".to_owned(), version: origin.version.clone() },
        meta: Some(meta),
        extra: Vec::new(),
    })
}

fn started(step: &Step<'_>) -> Event {
    let named = [("model", content::model(step.span)), ("provider", content::provider(step.span))];
    let extra = named.into_iter().filter_map(|(name, value)| Some((name, Raw::string(&value?)))).collect();
    Event::NodeStarted(NodeStarted {
        node_id: step.place.node.as_str().into(),
        parent_id: step.parent.map(|parent| parent.node.as_str().into()),
        kind: step.place.kind,
        name: step.place.name.as_str().into(),
        instance_id: instance(step),
        input: content::input(step.span),
        collapsed: None,
        redaction: None,
        extra,
    })
}

/// The tool call's id, else the span's; a span without one is told apart by where it starts.
fn instance(step: &Step<'_>) -> Arc<str> {
    let named = step.place.instance.as_deref().or(step.span.id.as_deref());
    named.map_or_else(|| format!("at-{:.3}", step.span.start).into(), Into::into)
}

/// What SDKs say when nobody named the service.
const UNNAMED_SERVICE: &str = "unknown_service";
