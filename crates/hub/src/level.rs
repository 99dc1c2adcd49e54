//! Who may do what (hub §7): principals against actions. The token check came before.

use lockgate_protocol::debug::{Principal, ResumeAction};

/// How far an agent's token reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Level {
    #[default]
    Off,
    Resume,
    Inject,
    Edit,
}

impl Level {
    pub const ALL: [Level; 4] = [Level::Off, Level::Resume, Level::Inject, Level::Edit];

    pub fn as_str(self) -> &'static str {
        match self {
            Level::Off => "off",
            Level::Resume => "resume",
            Level::Inject => "inject",
            Level::Edit => "edit",
        }
    }

    pub fn parse(word: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.as_str() == word)
    }
}

/// Whether reading and the viewer socket are open to everybody on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reads {
    #[default]
    Open,
    /// `--require-token`
    TokenOnly,
}

/// Whether inputs may be edited through this hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Edits {
    #[default]
    Allowed,
    /// `--no-edit-input`
    Refused,
}

/// What somebody wants of a hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    pub action: ResumeAction,
    /// Whether it carries an input.
    pub edit: bool,
    /// Whether it asks to pin what was held.
    pub pin: bool,
    /// Whether the guard holds the call.
    pub guarded: bool,
}

/// Why somebody may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denied {
    Forbidden,
    EditRefused,
}

/// Whether `who` may end a hold so, given how far agents reach.
pub fn resume(who: Principal, wish: Wish, agents: Level, reads: Reads) -> Result<(), Denied> {
    let needs = match wish.action {
        ResumeAction::Continue | ResumeAction::Retry | ResumeAction::Abort => Level::Resume,
        ResumeAction::Inject => Level::Inject,
    };
    let denied = if wish.edit { Denied::EditRefused } else { Denied::Forbidden };
    let gentle = !wish.edit && wish.action == ResumeAction::Abort;
    let may = match who {
        Principal::Viewer => true,
        // Drift and lock are decided by people; anybody may say no.
        Principal::Agent if wish.guarded || wish.pin => gentle && agents >= Level::Resume,
        Principal::Agent => agents >= if wish.edit { Level::Edit } else { needs },
        Principal::Anonymous => {
            reads == Reads::Open && !wish.guarded && !wish.pin && !wish.edit && needs == Level::Resume
        }
    };
    if may { Ok(()) } else { Err(denied) }
}

/// Whether `who` may set breakpoints and step mode.
pub fn arm(who: Principal, agents: Level) -> Result<(), Denied> {
    let may = match who {
        Principal::Viewer => true,
        Principal::Agent => agents >= Level::Resume,
        Principal::Anonymous => false,
    };
    if may { Ok(()) } else { Err(Denied::Forbidden) }
}

#[cfg(test)]
mod tests {
    use super::{Denied, Level, Principal, Reads, ResumeAction, Wish, arm, resume};

    /// One row per principal, one column per action; `y` may, `n` forbidden, `e` edit refused.
    fn table(agents: Level, reads: Reads, wish: Wish) -> String {
        let mut table = String::new();
        for who in Principal::ALL {
            for action in ResumeAction::ALL {
                table.push(match resume(*who, Wish { action: *action, ..wish }, agents, reads) {
                    Ok(()) => 'y',
                    Err(Denied::Forbidden) => 'n',
                    Err(Denied::EditRefused) => 'e',
                });
            }
            table.push(' ');
        }
        table.trim_end().to_owned()
    }

    const PLAIN: Wish = Wish { action: ResumeAction::Continue, edit: false, pin: false, guarded: false };

    #[test]
    fn plain_holds() {
        // Columns: continue retry inject abort; rows: viewer agent anonymous.
        assert_eq!(table(Level::Off, Reads::Open, PLAIN), "yyyy nnnn yyny");
        assert_eq!(table(Level::Resume, Reads::Open, PLAIN), "yyyy yyny yyny");
        assert_eq!(table(Level::Inject, Reads::Open, PLAIN), "yyyy yyyy yyny");
        assert_eq!(table(Level::Edit, Reads::Open, PLAIN), "yyyy yyyy yyny");
        assert_eq!(table(Level::Edit, Reads::TokenOnly, PLAIN), "yyyy yyyy nnnn");
    }

    #[test]
    fn edits() {
        let edit = Wish { edit: true, ..PLAIN };
        assert_eq!(table(Level::Inject, Reads::Open, edit), "yyyy eeee eeee");
        assert_eq!(table(Level::Edit, Reads::Open, edit), "yyyy yyyy eeee");
    }

    #[test]
    fn guarded_holds_are_for_people() {
        let guarded = Wish { guarded: true, ..PLAIN };
        assert_eq!(table(Level::Off, Reads::Open, guarded), "yyyy nnnn nnnn");
        assert_eq!(table(Level::Resume, Reads::Open, guarded), "yyyy nnny nnnn");
        assert_eq!(table(Level::Edit, Reads::Open, guarded), "yyyy nnny nnnn");
        assert_eq!(table(Level::Edit, Reads::Open, Wish { edit: true, ..guarded }), "yyyy eeee eeee");
        assert_eq!(table(Level::Edit, Reads::Open, Wish { pin: true, ..PLAIN }), "yyyy nnny nnnn");
    }

    #[test]
    fn breakpoints() {
        let row = |level| Principal::ALL.iter().map(|who| arm(*who, level).is_ok()).collect::<Vec<_>>();
        assert_eq!(row(Level::Off), [true, false, false]);
        assert_eq!(row(Level::Resume), [true, true, false]);
    }

    #[test]
    fn words() {
        for level in Level::ALL {
            assert_eq!(Level::parse(level.as_str()), Some(level));
        }
        assert_eq!(Level::parse("Edit"), None);
    }
}
