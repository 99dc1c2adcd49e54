//! What a viewer's answer means for the hold it names (wire §3.2, §10.2). Knows the rules, changes nothing.

use lockgate_protocol::debug::{ExecResume, RefusalCode, ResumeAction};
use lockgate_protocol::edit::{self, Refusal};

use super::slot::EditInput;
use super::told::Work;
use crate::call::{Actions, Stop};
use crate::policy::{Guard, Release};
use crate::presence::HubCaps;

/// What the rules depend on.
pub(super) struct Standing<'s> {
    pub(super) at: Stop,
    pub(super) editable: EditInput,
    pub(super) unsupported: Actions,
    pub(super) guard: Option<&'s Guard>,
    /// Whether this program lets inputs be edited.
    pub(super) app: EditInput,
    pub(super) hub: HubCaps,
}

pub(super) enum Reply {
    Release(Release),
    Refuse(Refusal),
    Check(Work),
}

pub(super) fn reply(standing: &Standing<'_>, resume: &ExecResume) -> Reply {
    let replied = match standing.guard {
        Some(guard) => guarded(guard, resume),
        None => debugged(standing, resume),
    };
    replied.unwrap_or_else(Reply::Refuse)
}

fn debugged(standing: &Standing<'_>, resume: &ExecResume) -> Result<Reply, Refusal> {
    let undoable = match resume.action {
        ResumeAction::Retry | ResumeAction::Inject => standing.unsupported.has(resume.action),
        ResumeAction::Continue | ResumeAction::Abort => false,
    };
    if undoable {
        let left = Actions::EACH.into_iter().filter(|action| match action {
            ResumeAction::Retry | ResumeAction::Inject => !standing.unsupported.has(*action),
            ResumeAction::Continue | ResumeAction::Abort => true,
        });
        return Err(unsupported(resume.action, left));
    }
    let Some(proposed) = &resume.input else {
        return plain(resume);
    };
    let no = |code, text: &str| Err(Refusal::new(code, text));
    if standing.app == EditInput::Off {
        return no(RefusalCode::Disabled, "editing inputs is switched off in this program");
    }
    if !standing.hub.edits() {
        return no(RefusalCode::Disabled, "this hub does not support edited inputs");
    }
    if standing.editable == EditInput::Off {
        return no(RefusalCode::Unsupported, "the input of this call cannot be edited");
    }
    match (standing.at, resume.action) {
        (Stop::Before, ResumeAction::Continue) | (Stop::After | Stop::Error, ResumeAction::Retry) => {}
        (Stop::Before, _) => return no(RefusalCode::Shape, "an edited input goes with continue here"),
        (Stop::After | Stop::Error, _) => return no(RefusalCode::Shape, "an edited input goes with retry here"),
    }
    edit::forbidden(proposed.view()).map_or(Ok(()), |code| Err(marked(code, "input")))?;
    if edit::pollutes(proposed.view()) {
        return no(RefusalCode::Shape, "the input names a prototype");
    }
    Ok(Reply::Check(Work::Edit(proposed.clone())))
}

fn plain(resume: &ExecResume) -> Result<Reply, Refusal> {
    Ok(Reply::Release(match resume.action {
        ResumeAction::Continue => Release::Continue,
        ResumeAction::Retry => Release::Retry,
        ResumeAction::Abort => Release::Abort,
        ResumeAction::Inject => {
            let code = resume.output.as_ref().and_then(|output| edit::forbidden(output.view()));
            code.map_or(Ok(()), |code| Err(marked(code, "output")))?;
            Release::Inject(resume.output.clone())
        }
    }))
}

fn guarded(guard: &Guard, resume: &ExecResume) -> Result<Reply, Refusal> {
    let allowed = Actions::EACH.into_iter().filter(|action| match action {
        ResumeAction::Continue | ResumeAction::Retry => guard.allow.has(*action),
        ResumeAction::Inject => false,
        ResumeAction::Abort => true,
    });
    if !allowed.clone().any(|action| action == resume.action) {
        return Err(unsupported(resume.action, allowed));
    }
    if resume.input.is_some() {
        return Err(Refusal::new(RefusalCode::Unsupported, "a guard's hold takes no edited input"));
    }
    let pinless = match resume.action {
        ResumeAction::Continue => guard.approve.is_none(),
        ResumeAction::Retry | ResumeAction::Inject => true,
        ResumeAction::Abort => false,
    };
    if resume.pin.is_some() && pinless {
        return Err(Refusal::new(RefusalCode::Unsupported, "there is nothing to pin here"));
    }
    Ok(match resume.action {
        ResumeAction::Continue if guard.approve.is_some() => Reply::Check(Work::Approve(resume.pin.clone())),
        ResumeAction::Continue => Reply::Release(Release::Continue),
        ResumeAction::Retry => Reply::Release(Release::Retry),
        ResumeAction::Inject | ResumeAction::Abort => Reply::Release(Release::Abort),
    })
}

fn unsupported(action: ResumeAction, left: impl Iterator<Item = ResumeAction>) -> Refusal {
    let left: Vec<&str> = left.map(ResumeAction::as_str).collect();
    let text = format!("{} is not possible here, only {}", action.as_str(), left.join(", "));
    Refusal::new(RefusalCode::Unsupported, &text)
}

fn marked(code: RefusalCode, side: &str) -> Refusal {
    let text = match code {
        RefusalCode::Placeholder => "holds a placeholder of redaction",
        RefusalCode::Truncated => "holds a marker of truncation",
        RefusalCode::Schema | RefusalCode::Shape | RefusalCode::Disabled | RefusalCode::Unsupported => {
            "is nested too deeply"
        }
    };
    Refusal::new(code, &format!("the {side} {text}"))
}
