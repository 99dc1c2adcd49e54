//! Files by which other programs of the same user find a running hub and its tokens (hub §7). Without them the hub runs all
//! the same.

use std::fs;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use lockgate_protocol::json::Raw;

use crate::credentials::{Tokens, random_hex};

/// The files of one hub.
#[derive(Debug)]
pub(crate) struct RunFiles {
    page: PathBuf,
    /// Each with the token that shows it is still ours.
    files: Vec<(PathBuf, String)>,
}

impl RunFiles {
    /// Writes them below `home`; a failure is logged and costs only comfort.
    pub(crate) fn write(home: &Path, address: SocketAddr, tokens: &Tokens, version: &str) -> Option<RunFiles> {
        match write(&home.join("run"), address, tokens, version) {
            Ok(files) => Some(files),
            Err(error) => {
                tracing::warn!(%error, "no run files: control from the command line and the page's link are not available");
                None
            }
        }
    }

    /// The file that opens the page.
    pub(crate) fn page(&self) -> &Path {
        &self.page
    }

    /// Removes what is still ours.
    pub(crate) fn remove(self) {
        for (path, token) in &self.files {
            if fs::read_to_string(path).is_ok_and(|text| text.contains(token))
                && let Err(error) = fs::remove_file(path)
            {
                tracing::debug!(%error, "a run file stays behind");
            }
        }
    }
}

fn write(folder: &Path, address: SocketAddr, tokens: &Tokens, version: &str) -> io::Result<RunFiles> {
    prepare(folder)?;
    let port = address.port();
    let url = format!("http://127.0.0.1:{port}");
    let serve = Raw::object(|w| {
        w.u64("port", u64::from(port)).u64("pid", u64::from(std::process::id())).str("url", &url);
        w.str("agentToken", tokens.agent()).str("version", version);
    });
    let page = folder.join(format!("open-{port}.html"));
    let texts = [
        (folder.join(format!("serve-{port}.json")), format!("{serve:?}\n"), tokens.agent()),
        (page.clone(), opening(&format!("{url}/#token={}", tokens.viewer())), tokens.viewer()),
        (folder.join(format!("viewer-{port}")), format!("{}\n", tokens.viewer()), tokens.viewer()),
    ];
    let mut files = Vec::new();
    for (path, text, token) in texts {
        replace(&path, &text)?;
        files.push((path, token.to_owned()));
    }
    Ok(RunFiles { page, files })
}

/// A page that leads to the real one; the browser is started with its path, so that no token stands in a list of processes.
fn opening(url: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Opening the viewer</title>\n\
         <meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0; url={url}\">\n\
         <script>location.replace(\"{url}\")</script></head>\n\
         <body><a rel=\"noreferrer\" href=\"{url}\">Open the viewer</a></body></html>\n"
    )
}

/// Writes beside and renames, so that nobody reads half a file or writes through a link laid there.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let random = random_hex().map_err(io::Error::other)?;
    let beside = path.with_file_name(format!(".{name}.{random}"));
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&beside).and_then(|mut file| file.write_all(text.as_bytes()));
    written.and_then(|()| fs::rename(&beside, path)).inspect_err(|_| {
        if let Err(error) = fs::remove_file(&beside) {
            tracing::trace!(%error, "nothing to clean up");
        }
    })
}

#[cfg(unix)]
fn prepare(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() {
        return Err(io::Error::other(format!("not a folder of this user: {}", folder.display())));
    }
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn prepare(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::{RunFiles, Tokens};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::path::Path;
    use tempfile::TempDir;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn write(home: &Path) -> (Tokens, Option<RunFiles>) {
        let tokens = Tokens::mint().unwrap();
        let files = RunFiles::write(home, "127.0.0.1:4747".parse().unwrap(), &tokens, "1.2.3");
        (tokens, files)
    }

    #[test]
    fn written_for_the_owner_and_removed_again() {
        let home = TempDir::new().unwrap();
        let (tokens, files) = write(home.path());
        let files = files.unwrap();
        let folder = home.path().join("run");
        assert_eq!(mode(&folder), 0o700);
        let read = |name: &str| {
            assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
            fs::read_to_string(folder.join(name)).unwrap()
        };
        let pid = std::process::id();
        let serve = read("serve-4747.json");
        assert_eq!(
            serve.replace(tokens.agent(), "AGENT").replace(&pid.to_string(), "PID"),
            "{\"port\":4747,\"pid\":PID,\"url\":\"http://127.0.0.1:4747\",\"agentToken\":\"AGENT\",\"version\":\"1.2.3\"}\n"
        );
        assert_eq!(read("viewer-4747").trim(), tokens.viewer());
        let page = read("open-4747.html");
        assert_eq!(page.matches(&format!("http://127.0.0.1:4747/#token={}", tokens.viewer())).count(), 3);
        assert!(page.contains("no-referrer"));
        assert_eq!(files.page(), folder.join("open-4747.html"));
        files.remove();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn a_file_of_the_next_hub_stays() {
        let home = TempDir::new().unwrap();
        let (_, first) = write(home.path());
        let (_, second) = write(home.path());
        first.unwrap().remove();
        assert_eq!(fs::read_dir(home.path().join("run")).unwrap().count(), 3);
        second.unwrap().remove();
    }

    #[test]
    fn a_folder_that_is_none_is_refused() {
        let home = TempDir::new().unwrap();
        let elsewhere = TempDir::new().unwrap();
        symlink(elsewhere.path(), home.path().join("run")).unwrap();
        assert!(write(home.path()).1.is_none());
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        let blocked = TempDir::new().unwrap();
        fs::write(blocked.path().join("run"), "").unwrap();
        assert!(write(blocked.path()).1.is_none());
    }

    #[test]
    fn an_open_folder_is_closed_and_a_link_is_not_followed() {
        let home = TempDir::new().unwrap();
        let folder = home.path().join("run");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        let target = home.path().join("target");
        fs::write(&target, "untouched").unwrap();
        symlink(&target, folder.join("viewer-4747")).unwrap();
        let (_, files) = write(home.path());
        assert!(files.is_some());
        assert_eq!(mode(&folder), 0o700);
        assert_eq!(fs::read_to_string(&target).unwrap(), "untouched");
    }
}
