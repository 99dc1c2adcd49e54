//! The two frames that open a link (wire §1.7).

use super::envelope::Envelope;
use super::parse::Issue;
use super::shape::{Matcher, SdkInfo, optional};
use super::words::RunMode;
use crate::json::{Kind, ObjectWriter, Raw, View};

/// `hello`: a program introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The protocol major it speaks.
    pub protocol: i64,
    /// Its version.
    pub client: String,
    /// What it can do (wire §1.8).
    pub capabilities: Vec<String>,
    /// The program.
    pub app: Option<String>,
    /// The library that reports.
    pub sdk: Option<SdkInfo>,
    /// The session token of an earlier link.
    pub resume_token: Option<String>,
    /// Where its runs come from, e.g. `demo`.
    pub source: Option<String>,
}

/// `hello.ack`: the hub answers with the whole debug state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelloAck {
    /// The protocol major it speaks.
    pub protocol: i64,
    /// Its name and version.
    pub viewer: String,
    /// Echo of the program's capabilities.
    pub capabilities: Vec<String>,
    /// To be sent as `resumeToken` from now on.
    pub session_token: Option<String>,
    /// What the hub can do; absent from 0.5 hubs.
    pub hub_capabilities: Option<Vec<String>>,
    /// The breakpoints that are armed from now on. Matchers we could not read are left out.
    pub breakpoints: Vec<Matcher>,
    /// What is wrong with the first breakpoint that was left out; never sent.
    pub left_out: Option<Issue>,
    /// Run or step.
    pub mode: RunMode,
    /// Whether somebody looks on; absent from hubs that never say.
    pub watched: Option<bool>,
}

impl Hello {
    /// Its payload.
    pub fn payload(&self) -> Raw {
        Raw::object(|w| {
            versions(w, self.protocol, ("client", &self.client));
            w.strs("capabilities", &self.capabilities);
            optional(self.app.as_deref(), |app| w.str("app", app));
            optional(self.sdk.as_ref(), |sdk| w.object("sdk", |w| sdk.write(w)));
            optional(self.resume_token.as_deref(), |token| w.str("resumeToken", token));
            optional(self.source.as_deref(), |source| w.str("source", source));
        })
    }

    /// Reads it out of an envelope that parsed; nothing when that is another message.
    pub fn read(envelope: &Envelope) -> Option<Hello> {
        let payload = payload(envelope, "hello")?;
        let versions = payload.get("versions")?;
        Some(Hello {
            protocol: versions.get("protocol")?.i64()?,
            client: text(versions.get("client")?)?,
            capabilities: strings(payload.get("capabilities")?),
            app: payload.get("app").and_then(text),
            sdk: payload.get("sdk").and_then(sdk),
            resume_token: payload.get("resumeToken").and_then(text),
            source: payload.get("source").and_then(text),
        })
    }
}

impl HelloAck {
    /// Its payload.
    pub fn payload(&self) -> Raw {
        Raw::object(|w| {
            versions(w, self.protocol, ("viewer", &self.viewer));
            w.strs("capabilities", &self.capabilities);
            optional(self.session_token.as_deref(), |token| w.str("sessionToken", token));
            optional(self.hub_capabilities.as_ref(), |list| w.strs("hubCapabilities", list));
            w.objects("breakpoints", &self.breakpoints, |w, matcher| matcher.write(w));
            w.str("mode", self.mode.as_str());
            optional(self.watched, |watched| w.bool("watched", watched));
        })
    }

    /// Reads it out of an envelope that parsed; nothing when that is another message.
    pub fn read(envelope: &Envelope) -> Option<HelloAck> {
        let payload = payload(envelope, "hello.ack")?;
        let versions = payload.get("versions")?;
        let (mut breakpoints, mut left_out) = (Vec::new(), None);
        for (place, matcher) in payload.get("breakpoints")?.items().enumerate() {
            match Matcher::read(matcher) {
                Ok(matcher) => breakpoints.push(matcher),
                Err(issue) => {
                    left_out = left_out.or_else(|| Some(issue.below(&format!("payload.breakpoints.{place}"))));
                }
            }
        }
        Some(HelloAck {
            protocol: versions.get("protocol")?.i64()?,
            viewer: text(versions.get("viewer")?)?,
            capabilities: strings(payload.get("capabilities")?),
            session_token: payload.get("sessionToken").and_then(text).filter(|token| !token.is_empty()),
            hub_capabilities: payload.get("hubCapabilities").filter(|list| list.kind() == Kind::Array).map(strings),
            breakpoints,
            left_out,
            mode: payload.get("mode")?.str().and_then(|word| RunMode::parse(&word))?,
            watched: payload.get("watched").and_then(View::bool),
        })
    }
}

fn versions(w: &mut ObjectWriter<'_>, protocol: i64, (name, version): (&str, &str)) {
    w.object("versions", |w| {
        w.i64("protocol", protocol).str(name, version);
    });
}

fn payload<'e>(envelope: &'e Envelope, kind: &str) -> Option<View<'e>> {
    if envelope.kind == kind { envelope.payload.as_ref().map(Raw::view) } else { None }
}

fn sdk(view: View<'_>) -> Option<SdkInfo> {
    Some(SdkInfo { name: text(view.get("name")?)?, version: text(view.get("version")?)? })
}

fn text(view: View<'_>) -> Option<String> {
    view.text().map(|text| text.to_lossy().into_owned())
}

/// The strings of a list; whatever else stands in it is passed over.
fn strings(view: View<'_>) -> Vec<String> {
    view.items().filter_map(text).collect()
}
