//! What went wrong, told twice: to people in two lines, to programs as one object.

use std::fmt::Display;
use std::io;
use std::path::Path;

use lockgate_protocol::json::Raw;

use crate::code::Code;
use crate::out;
use crate::text::visible;

/// A failed command. `message` says what happened, `hint` what to do.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

/// Who reads what a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    Person,
    Program,
}

impl Fault {
    pub(crate) fn new(code: Code, message: impl Display) -> Fault {
        Fault { code, message: message.to_string(), hint: None }
    }

    pub(crate) fn hint(mut self, hint: impl Display) -> Fault {
        self.hint = Some(hint.to_string());
        self
    }

    /// Something the machine refused, with what we were doing.
    pub(crate) fn io(doing: impl Display, err: &io::Error) -> Fault {
        Fault::new(Code::Unexpected, format!("{doing}: {}", reason(err)))
    }

    /// A file we were pointed at and cannot use.
    pub(crate) fn file(path: &Path, err: &io::Error) -> Fault {
        let fault = Fault::new(Code::BadFile, format!("read {}: {}", path.display(), reason(err)));
        match err.kind() {
            io::ErrorKind::NotFound => fault.hint("check its name, and the folder you are in"),
            io::ErrorKind::PermissionDenied => fault.hint("it must be readable by you"),
            _ => fault,
        }
    }

    /// People get `error:` and `hint:` on stderr, programs one object on stdout.
    pub(crate) fn report(&self, reader: Reader) {
        match reader {
            Reader::Person => {
                out::note(&format!("error: {}", visible(&self.message)));
                if let Some(hint) = &self.hint {
                    out::note(&format!("hint: {}", visible(hint)));
                }
            }
            Reader::Program => {
                let error = Raw::object(|out| {
                    out.object("error", |out| {
                        out.str("code", self.code.word()).str("message", &self.message);
                        match &self.hint {
                            Some(hint) => out.str("hint", hint),
                            None => out.null("hint"),
                        };
                    });
                });
                let _ = out::json(&String::from_utf8_lossy(error.as_bytes()));
            }
        }
    }
}

/// The system's words without its error number, lower-case like ours; what happens most is told on Windows as elsewhere.
fn reason(err: &io::Error) -> String {
    let text = err.to_string();
    let (text, number) = text.split_once(" (os error").map_or((&*text, None), |(text, number)| (text, Some(number)));
    match err.kind() {
        io::ErrorKind::NotFound if cfg!(windows) && number.is_some() => return "no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied if cfg!(windows) && number.is_some() => return "permission denied".to_owned(),
        _ => {}
    }
    let mut letters = text.trim_end_matches('.').chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_speaks_our_way() {
        let err = io::Error::from_raw_os_error(2);
        let fault = Fault::file(Path::new("a.json"), &err);
        assert_eq!(fault.message, "read a.json: no such file or directory");
    }
}
