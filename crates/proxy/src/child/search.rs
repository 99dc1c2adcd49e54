//! Windows finds a program without its ending only if that is `.exe`; `npx` and its kind are batch files. This looks for a
//! command as a shell there does. Starts nothing.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The file a command means, looked for in the folders of `path` unless it names one itself; `None`: let the system look.
pub(super) fn search(command: &OsStr, path: &OsStr) -> Option<PathBuf> {
    let command = Path::new(command);
    command.file_name()?;
    if command.components().count() > 1 {
        return candidate(command);
    }
    let folders = std::env::split_paths(path).filter(|folder| !folder.as_os_str().is_empty());
    folders.filter_map(|folder| candidate(&folder.join(command))).next()
}

/// A name that says what it is is taken at its word first. One that does not is never taken as it is: beside `npx.cmd` lies
/// a script `npx` for other systems.
fn candidate(path: &Path) -> Option<PathBuf> {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    let as_it_is = ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)).then(|| path.to_owned());
    let with_ending = ENDINGS.iter().map(|known| {
        let mut name: OsString = path.into();
        name.push(".");
        name.push(known);
        PathBuf::from(name)
    });
    as_it_is.into_iter().chain(with_ending).find(|file| is_file(file))
}

/// Programs from the store are links that nobody can look behind.
fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_dir())
}

/// What can be started, in the order in which it is looked for.
const ENDINGS: [&str; 4] = ["com", "exe", "bat", "cmd"];

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Two folders on the search path.
    struct Disk(tempfile::TempDir);

    impl Disk {
        fn with(files: &[&str]) -> Disk {
            let root = tempfile::tempdir().expect("a folder");
            for folder in ["a", "b c"] {
                fs::create_dir(root.path().join(folder)).expect("made");
            }
            for file in files {
                fs::write(root.path().join(file), "").expect("written");
            }
            Disk(root)
        }

        fn path(&self) -> OsString {
            let folders = ["a", "b c"].map(|folder| self.0.path().join(folder));
            std::env::join_paths(folders).expect("a search path")
        }

        #[track_caller]
        fn check(&self, command: &str, expected: Option<&str>) {
            let found = search(OsStr::new(command), &self.path());
            assert_eq!(found, expected.map(|file| self.0.path().join(file)), "{command}");
        }
    }

    #[test]
    fn a_batch_file_is_found_by_its_name_and_the_script_beside_it_is_not_taken() {
        let disk = Disk::with(&["a/npx", "a/npx.ps1", "a/npx.cmd", "b c/uvx.exe", "b c/run.bat", "b c/run.cmd"]);
        disk.check("npx", Some("a/npx.cmd"));
        disk.check("npx.cmd", Some("a/npx.cmd"));
        disk.check("uvx", Some("b c/uvx.exe"));
        disk.check("run", Some("b c/run.bat"));
        disk.check("npx.ps1", None);
        disk.check("other", None);
        disk.check("", None);
    }

    #[test]
    fn the_first_folder_counts_then_the_kind() {
        let disk = Disk::with(&["a/tool.cmd", "b c/tool.exe", "b c/both.cmd", "b c/both.exe"]);
        disk.check("tool", Some("a/tool.cmd"));
        disk.check("tool.exe", Some("b c/tool.exe"));
        disk.check("both", Some("b c/both.exe"));
    }

    #[test]
    fn a_dot_in_a_name_is_no_ending_and_a_folder_no_program() {
        let disk = Disk::with(&["b c/python3.12.exe", "b c/odd.exe.cmd"]);
        fs::create_dir(disk.0.path().join("a/python3.12.exe")).expect("made");
        disk.check("python3.12", Some("b c/python3.12.exe"));
        disk.check("odd.exe", Some("b c/odd.exe.cmd"));
    }

    #[test]
    fn who_names_a_folder_means_it() {
        let disk = Disk::with(&["a/tool.exe", "b c/server.cmd"]);
        let named = |file: &str| search(disk.0.path().join(file).as_os_str(), &disk.path());
        assert_eq!(named("b c/server"), Some(disk.0.path().join("b c/server.cmd")));
        assert_eq!(named("b c/tool"), None);
    }
}
