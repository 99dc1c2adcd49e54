//! The terminal: taken over, lent to an editor, and given back.

use std::io::{self, IsTerminal as _, Stdout, Write as _, stdin, stdout};
use std::panic;
use std::process::Command;

use crossterm::cursor::Show;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::execute;
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;

use super::draw::draw;
use super::state::State;

/// A terminal in our hands.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal over; a panic gives it back.
    pub(super) fn open() -> io::Result<Self> {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let _ = execute!(stdout(), DisableBracketedPaste, Show);
            before(info);
        }));
        let terminal = ratatui::try_init()?;
        execute!(stdout(), EnableBracketedPaste)?;
        Ok(Self { terminal })
    }

    pub(super) fn is_there() -> bool {
        stdin().is_terminal() && stdout().is_terminal()
    }

    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    pub(super) fn draw(&mut self, state: &State) -> io::Result<()> {
        self.terminal.draw(|frame| draw(state, frame)).map(|_| ())
    }

    /// Gives the terminal to somebody else for a while.
    pub(super) fn lend() -> io::Result<()> {
        disable_raw_mode()?;
        execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show)
    }

    pub(super) fn take_back(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Clear(ClearType::All))?;
        // A new one knows of nothing on the screen and paints all of it. Clearing the old one would ask the terminal
        // where its cursor is, and the answer gets lost behind a key reader that just ended.
        self.terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
        Ok(())
    }

    pub(super) fn close(self) -> io::Result<()> {
        Self::lend()
    }
}

/// Lets the user's editor work on a text, in a file that nobody else can read. Blocks until the editor is closed.
pub(super) fn edit(text: &str) -> Result<String, String> {
    let words = |error: io::Error| error.to_string();
    let mut file = tempfile::Builder::new().prefix("graphmind-").suffix(".json").tempfile().map_err(words)?;
    file.write_all(text.as_bytes()).and_then(|()| file.flush()).map_err(words)?;
    let set = |name: &&str| std::env::var(name).ok().filter(|set| !set.trim().is_empty());
    let editor = ["VISUAL", "EDITOR"].iter().find_map(set).unwrap_or_else(|| EDITOR.to_owned());
    let status = command(&editor).arg(file.path()).status().map_err(|error| format!("{editor}: {error}"))?;
    match status.code() {
        Some(0) => {}
        Some(NOT_FOUND) if cfg!(unix) => return Err(format!("there is no editor `{editor}`; set EDITOR")),
        _ => return Err(format!("{editor} ended with {status}")),
    }
    // By name: many editors write a new file and put it in the old one's place.
    std::fs::read_to_string(file.path()).map_err(words)
}

/// What people put into EDITOR is a shell's words: a path in quotes, flags.
#[cfg(unix)]
fn command(editor: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{editor} \"$@\""), editor]);
    shell
}

/// A path, whatever is in it, or words of which the first may stand in quotes.
#[cfg(not(unix))]
fn command(editor: &str) -> Command {
    if std::path::Path::new(editor).is_file() {
        return Command::new(editor);
    }
    let quoted = editor.strip_prefix('"').and_then(|rest| rest.split_once('"'));
    let (program, flags) = quoted.or_else(|| editor.split_once(' ')).unwrap_or((editor, ""));
    let mut command = Command::new(program);
    command.args(flags.split_whitespace());
    command
}

/// What a shell answers when it finds no such program.
const NOT_FOUND: i32 = 127;
/// Where nobody set one: every system of its kind has it.
const EDITOR: &str = if cfg!(windows) { "notepad" } else { "vi" };

#[cfg(all(test, unix))]
mod tests {
    use super::command;

    #[test]
    fn an_editor_is_what_a_shell_makes_of_its_words() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("my editor");
        std::fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\" > \"$2\"\n").expect("written");
        let out = folder.path().join("a text.json");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&program, mode).expect("set");
        let status = command(&format!("'{}' --wait", program.display())).arg(&out).status().expect("runs");
        assert!(status.success());
        assert_eq!(std::fs::read_to_string(&out).expect("edited"), format!("--wait|{}|", out.display()));
        assert_eq!(command("no-such-editor").arg(&out).status().expect("a shell").code(), Some(super::NOT_FOUND));
    }
}
