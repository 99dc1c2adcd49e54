//! How sessions end: exit codes, reasons, and what is said about servers that die or cannot be started.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tokio::process::Command;

use crate::stage::{ANSWER, ASK, Proxy, gone, noted, run, signal, stage};

#[tokio::test]
async fn the_exit_code_is_the_servers() {
    let mut proxy = Proxy::new("", "--die-after tools/call 3");
    proxy.host.say(ASK).await;
    assert_eq!(proxy.host.hear().await, ANSWER);
    let ended = proxy.ended().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(3), ""));
}

#[tokio::test]
async fn a_server_that_dies_during_a_call_owes_an_answer() {
    let mut proxy = Proxy::new("", "--die-during tools/call 4");
    proxy.host.say(r#"{"id":0,"method":"initialize"}"#).await;
    proxy.host.hear().await;
    proxy.host.say(ASK).await;
    let ended = proxy.ended().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(4), "stage: session over: 1 unanswered request\n"));
}

#[tokio::test]
async fn a_server_that_dies_early_is_quoted() {
    let ended = Proxy::new("", "--stderr first --flood 50 --stderr last --die-before 3").ended().await;
    assert_eq!(ended.code, Some(3));
    let said: Vec<&str> = ended.stderr.lines().filter(|line| line.starts_with("stage:")).collect();
    assert_eq!(said[0], "stage: the server ended with exit code 3 before its first message");
    assert_eq!(said[1], "stage: its last lines on stderr (12 lines before them omitted):");
    assert_eq!((said[2], said[41]), ("stage:   flood 10", "stage:   flood 49"));
    assert_eq!(said.len(), 42, "{}", ended.stderr);
}

#[tokio::test]
async fn a_server_that_dies_early_with_a_request_open_is_an_error_even_at_zero() {
    let mut proxy = Proxy::new("", "--die-during tools/call 0");
    proxy.host.say(ASK).await;
    let ended = proxy.ended().await;
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("ended with exit code 0 before its first message"), "{}", ended.stderr);
}

#[tokio::test]
async fn commands_that_cannot_start_are_named_with_a_hint() {
    let folder = tempfile::tempdir().expect("a folder");
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "no program").expect("a file");
    let orphan = folder.path().join("orphan");
    std::fs::write(&orphan, "#!/no/such/interpreter\n").expect("a file");
    std::fs::set_permissions(&orphan, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    for flags in [&["proxy"][..], &["proxy", "--shim"]] {
        for (program, expected) in [
            ("no-such-command", "cannot start the server: no-such-command: no such command"),
            (plain.to_str().expect("UTF-8"), "plain: not executable"),
            (orphan.to_str().expect("UTF-8"), ""),
        ] {
            let mut command = Command::new(stage());
            command.args(flags).args(["--", program]);
            let ended = run(command).await;
            assert_eq!((ended.code, ended.stdout.len()), (Some(127), 0), "{flags:?} {program}: {}", ended.stderr);
            assert!(ended.stderr.contains(expected), "{}", ended.stderr);
            assert!(ended.stderr.contains("stage: hint: "), "{flags:?} {program}: {}", ended.stderr);
        }
    }
}

#[tokio::test]
async fn a_server_killed_by_a_signal_is_128_and_its_number() {
    let folder = tempfile::tempdir().expect("a folder");
    let pids = folder.path().join("pids");
    for (kill, code) in [(Signal::TERM, 143), (Signal::KILL, 137)] {
        let mut proxy = Proxy::new("--shim", &format!("--pids {}", pids.display()));
        proxy.host.say(ASK).await;
        proxy.host.hear().await;
        let ids = noted(&pids).await;
        std::fs::remove_file(&pids).expect("it was noted");
        signal(ids[0], kill);
        assert_eq!(proxy.ended().await.code, Some(code));
    }
}

#[tokio::test]
async fn a_server_deaf_to_the_end_of_its_input_is_terminated() {
    let began = Instant::now();
    let mut proxy = Proxy::new("", "--ignore-eof");
    proxy.host.say(ASK).await;
    proxy.host.hear().await;
    assert_eq!(proxy.end().await.code, Some(143));
    let took = began.elapsed();
    assert!(took > Duration::from_millis(4_900) && took < Duration::from_secs(12), "{took:?}");
}

#[tokio::test]
async fn a_server_deaf_to_everything_is_killed() {
    let began = Instant::now();
    let mut proxy = Proxy::new("", "--ignore-eof --ignore-term");
    proxy.host.say(ASK).await;
    proxy.host.hear().await;
    assert_eq!(proxy.end().await.code, Some(137));
    let took = began.elapsed();
    assert!(took > Duration::from_millis(6_900) && took < Duration::from_secs(14), "{took:?}");
}

#[tokio::test]
async fn signals_to_us_are_the_servers() {
    let folder = tempfile::tempdir().expect("a folder");
    for (kill, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 143)] {
        let pids = folder.path().join(format!("pids{}", kill.as_raw()));
        let mut proxy = Proxy::new("", &format!("--pids {}", pids.display()));
        proxy.host.say(ASK).await;
        proxy.host.hear().await;
        let ids = noted(&pids).await;
        signal(i32::try_from(proxy.id()).expect("a process id"), kill);
        assert_eq!(proxy.ended().await.code, Some(code), "{kill:?}");
        gone(ids[0]).await;
    }
}

#[tokio::test]
async fn strict_and_guarded_sessions() {
    let mut proxy = Proxy::new("--strict", "");
    proxy.host.say(r#"{"id":1,"method":"a","params":{"x":1,"x":2}}"#).await;
    assert!(proxy.host.hear().await.contains("duplicate-member"));
    assert_eq!(proxy.end().await.code, Some(0));

    let mut proxy = Proxy::new("--guard --cap 4096", "--ignore-eof");
    proxy.host.say(ASK).await;
    proxy.host.hear().await;
    proxy.host.say(&"x".repeat(10_000)).await;
    let ended = proxy.ended().await;
    assert_eq!(ended.code, Some(1));
    assert!(ended.stderr.contains("stage: session ended: a frame is too long to be judged"), "{}", ended.stderr);
}
