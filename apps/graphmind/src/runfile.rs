//! The note a running hub leaves for this user's programs: its port and the agent token (hub §7). Read only if nobody else
//! could have read or written it.

use std::env;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Why there is no token to present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoToken {
    Missing(PathBuf),
    Unusable { path: PathBuf, reason: String },
}

impl NoToken {
    /// What to tell someone who was turned away for want of a token.
    pub(crate) fn hint(&self) -> String {
        match self {
            NoToken::Missing(path) => {
                format!("no token at {}: run this as the user who started the hub", path.display())
            }
            NoToken::Unusable { path, reason } => format!("{} {reason}", path.display()),
        }
    }
}

/// Where programs of this user keep their files.
pub(crate) fn home() -> PathBuf {
    let set = env::var_os("GRAPHMIND_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    set.unwrap_or_else(|| env::home_dir().unwrap_or_default().join(".graphmind"))
}

/// The agent token of the hub on `port`.
pub(crate) fn agent_token(port: u16) -> Result<String, NoToken> {
    read(&home().join("run").join(format!("serve-{port}.json")), in_note)
}

/// The ports of all hubs that left a note, of those too that can no longer be reached.
pub(crate) fn ports() -> Vec<u16> {
    let Ok(files) = fs::read_dir(home().join("run")) else { return Vec::new() };
    let port = |name: &str| name.strip_prefix("serve-")?.strip_suffix(".json")?.parse().ok();
    files.flatten().filter_map(|file| port(file.file_name().to_str()?)).collect()
}

/// The viewer token of the hub on `port`.
pub(crate) fn viewer_token(port: u16) -> Result<String, NoToken> {
    read(&home().join("run").join(format!("viewer-{port}")), |text| Some(text.trim().to_owned()))
}

/// The page that opens the viewer of the hub on `port` with its token.
pub(crate) fn page(port: u16) -> PathBuf {
    home().join("run").join(format!("open-{port}.html"))
}

fn read(path: &Path, token: fn(&str) -> Option<String>) -> Result<String, NoToken> {
    let unusable = |reason: &str| NoToken::Unusable { path: path.to_owned(), reason: reason.to_owned() };
    let file = match open(path) {
        Ok(file) => file,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Err(NoToken::Missing(path.to_owned())),
        Err(err) => return Err(unusable(&format!("cannot be read: {}", err.kind()))),
    };
    private(&file).map_err(|reason| unusable(&reason))?;
    let mut text = String::new();
    let read = file.take(MOST).read_to_string(&mut text);
    let printable = |token: &String| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    read.ok()
        .and_then(|_| token(&text))
        .filter(printable)
        .ok_or_else(|| unusable("holds no token; restart the hub to write it anew"))
}

fn in_note(text: &str) -> Option<String> {
    let value: Value = serde_json::from_str(text).ok()?;
    value.get("agentToken").and_then(Value::as_str).map(str::to_owned)
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// The file this handle is on, not whatever bears its name a moment later.
#[cfg(unix)]
fn private(file: &File) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;
    let meta = file.metadata().map_err(|err| format!("cannot be read: {}", err.kind()))?;
    if !meta.is_file() {
        return Err("is no regular file".to_owned());
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err("belongs to another user".to_owned());
    }
    if meta.mode() & 0o077 != 0 {
        return Err("can be read by other users: `chmod 600` it, then restart the hub".to_owned());
    }
    Ok(())
}

#[cfg(not(unix))]
fn private(file: &File) -> Result<(), String> {
    let meta = file.metadata().map_err(|err| format!("cannot be read: {}", err.kind()))?;
    if meta.is_file() { Ok(()) } else { Err("is no regular file".to_owned()) }
}

const MOST: u64 = 64 << 10;

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn check(text: &str, mode: u32, expected: Result<&str, &str>) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("serve-1.json");
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
        let found = read(&path, in_note);
        let expected = expected.map(str::to_owned);
        assert_eq!(found, expected.map_err(|reason| NoToken::Unusable { path, reason: reason.to_owned() }));
    }

    #[test]
    fn only_a_private_file_with_a_token_is_read() {
        check(r#"{"port":1,"agentToken":"gma_1"}"#, 0o600, Ok("gma_1"));
        check(r#"{"agentToken":"gma_1"}"#, 0o400, Ok("gma_1"));
        let shared = "can be read by other users: `chmod 600` it, then restart the hub";
        check(r#"{"agentToken":"gma_1"}"#, 0o640, Err(shared));
        check(r#"{"agentToken":"gma_1"}"#, 0o602, Err(shared));
        let empty = "holds no token; restart the hub to write it anew";
        for text in ["", "{", "[]", r#"{"agentToken":7}"#, r#"{"agentToken":""}"#, r#"{"agentToken":"a b"}"#] {
            check(text, 0o600, Err(empty));
        }
    }

    #[test]
    fn neither_links_nor_folders_nor_pipes() {
        let dir = tempfile::tempdir().expect("a folder");
        let real = dir.path().join("real");
        fs::write(&real, r#"{"agentToken":"x"}"#).expect("written");
        fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).expect("set");
        let link = dir.path().join("link");
        symlink(&real, &link).expect("linked");
        assert!(matches!(read(&link, in_note), Err(NoToken::Unusable { .. })));
        assert!(matches!(read(dir.path(), in_note), Err(NoToken::Unusable { .. })));
        assert_eq!(read(&dir.path().join("none"), in_note), Err(NoToken::Missing(dir.path().join("none"))));
    }
}
