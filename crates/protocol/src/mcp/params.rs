//! The parameters by which we tell targets, rounds, cancels and progress apart.

use super::meta::Meta;
use crate::json::View;

/// Members of `params`, as views; whether they have the right kind is for whoever looks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Params<'a> {
    /// `name` of a tool or prompt.
    pub name: Option<View<'a>>,
    /// `uri` of a resource.
    pub uri: Option<View<'a>>,
    /// `arguments`
    pub arguments: Option<View<'a>>,
    /// `requestState`, which nobody but the server may look into.
    pub request_state: Option<View<'a>>,
    /// `inputResponses`
    pub input_responses: Option<View<'a>>,
    /// `requestId` of a cancel.
    pub request_id: Option<View<'a>>,
    /// `reason` of a cancel.
    pub reason: Option<View<'a>>,
    /// `progressToken` of a progress notification.
    pub progress_token: Option<View<'a>>,
    /// `progress`
    pub progress: Option<View<'a>>,
    /// `taskId`
    pub task_id: Option<View<'a>>,
    /// `cursor` of a listing.
    pub cursor: Option<View<'a>>,
    /// `clientInfo` of `initialize`.
    pub client_info: Option<View<'a>>,
    /// `_meta`, read.
    pub meta: Meta<'a>,
}

impl<'a> Params<'a> {
    /// Reads a member `params` in one walk; of repeated members the last.
    pub fn read(params: View<'a>) -> Params<'a> {
        let mut found = Params::default();
        let mut meta = None;
        for (name, value) in params.pairs() {
            let Some(name) = name.str() else { continue };
            if name == "_meta" {
                meta = Some(value);
            } else if let Some(place) = found.place(&name) {
                *place = Some(value);
            }
        }
        found.meta = meta.map(Meta::read).unwrap_or_default();
        found
    }

    fn place(&mut self, name: &str) -> Option<&mut Option<View<'a>>> {
        Some(match name {
            "name" => &mut self.name,
            "uri" => &mut self.uri,
            "arguments" => &mut self.arguments,
            "requestState" => &mut self.request_state,
            "inputResponses" => &mut self.input_responses,
            "requestId" => &mut self.request_id,
            "reason" => &mut self.reason,
            "progressToken" => &mut self.progress_token,
            "progress" => &mut self.progress,
            "taskId" => &mut self.task_id,
            "cursor" => &mut self.cursor,
            "clientInfo" => &mut self.client_info,
            _ => return None,
        })
    }
}
