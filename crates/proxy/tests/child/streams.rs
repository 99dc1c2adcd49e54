//! Bytes between processes, over every kind of stream a host may give us.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use tokio::time::timeout;

use crate::stage::{ANSWER, ASK, Proxy, command, stage};

#[tokio::test]
async fn every_byte_comes_back_from_a_server_that_echoes() {
    let mut bytes = Vec::new();
    for round in 0..200_u32 {
        bytes
            .extend_from_slice(b"{\"jsonrpc\": \"2.0\",\"id\":1.50 ,\"method\":\"a\"}\r\n\n\xef\xbb\xbf\xff\x00junk\n");
        bytes.extend(std::iter::repeat_n(b'x', usize::try_from(round).expect("small") * 100));
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(b"{\"no\":\"newline");
    let mut proxy = Proxy::new("", "--echo");
    assert!(proxy.host.say_and_hear(&bytes).await == bytes);
    assert_eq!(proxy.ended().await.code, Some(0));
}

#[tokio::test]
async fn four_megabytes_and_then_twenty() {
    for size in [4 << 20, 20 << 20] {
        let mut proxy = Proxy::new("", &format!("--size {size}"));
        proxy.host.say(ASK).await;
        let heard = proxy.host.hear().await;
        assert_eq!(heard.len(), ANSWER.len() + size);
        assert_eq!(proxy.end().await.code, Some(0));
    }
}

#[tokio::test]
async fn longer_than_the_cap_is_relayed_all_the_same() {
    let mut proxy = Proxy::new("--cap 4096", "--size 1000000");
    proxy.host.say(ASK).await;
    assert_eq!(proxy.host.hear().await.len(), ANSWER.len() + 1_000_000);
    proxy.host.say(ASK).await;
    assert_eq!(proxy.host.hear().await.len(), ANSWER.len() + 1_000_000);
    let ended = proxy.end().await;
    assert_eq!(ended.stderr.matches("longer than may be held").count(), 1, "{}", ended.stderr);
}

#[tokio::test]
async fn stdin_and_stdout_may_be_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::write(&from, format!("{ASK}\n")).expect("a file");
    let mut command = command("", "");
    command.stdin(File::open(&from).expect("a file")).stdout(File::create(&to).expect("a file"));
    let child = command.spawn().expect("it starts");
    let output = child.wait_with_output().await.expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(&to).expect("a file"), format!("{ANSWER}\n"));
}

#[tokio::test]
async fn stdin_and_stdout_may_be_sockets() {
    let (mut ours, theirs) = UnixStream::pair().expect("a pair");
    let mut command = command("", "");
    command
        .stdin(Stdio::from(OwnedFd::from(theirs.try_clone().expect("a copy"))))
        .stdout(Stdio::from(OwnedFd::from(theirs)));
    let child = command.spawn().expect("it starts");
    drop(command);
    let heard = tokio::task::spawn_blocking(move || {
        ours.write_all(format!("{ASK}\n").as_bytes()).expect("it is taken");
        let mut heard = vec![0; ANSWER.len() + 1];
        ours.read_exact(&mut heard).expect("it is answered");
        ours.shutdown(std::net::Shutdown::Write).expect("it is open");
        ours.read_to_end(&mut heard).expect("it is read");
        heard
    });
    assert_eq!(heard.await.expect("no panic"), format!("{ANSWER}\n").as_bytes());
    let output = child.wait_with_output().await.expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn stdout_and_stderr_may_be_one_stream() {
    let (mut ours, theirs) = std::io::pipe().expect("a pipe");
    let mut command = command("--trace", "");
    command.stdout(theirs.try_clone().expect("a copy")).stderr(theirs);
    let mut child = command.spawn().expect("it starts");
    drop(command);
    let mut stdin = child.stdin.take().expect("a pipe");
    tokio::io::AsyncWriteExt::write_all(&mut stdin, format!("{ASK}\n").as_bytes()).await.expect("it is taken");
    drop(stdin);
    let heard = tokio::task::spawn_blocking(move || {
        let mut heard = String::new();
        ours.read_to_string(&mut heard).expect("it is read");
        heard
    });
    let heard = heard.await.expect("no panic");
    assert!(heard.contains(ANSWER) && heard.contains("-> tools/call id 1"), "{heard}");
    assert_eq!(child.wait().await.expect("it ends").code(), Some(0));
}

#[tokio::test]
async fn a_host_that_never_reads_stderr_stops_nothing() {
    let mut command = command("", "--flood 200000");
    let mut child = command.spawn().expect("it starts");
    let _unread = child.stderr.take();
    let (stdin, stdout) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut host = lockgate_testkit::peer::Peer::new(stdout, stdin);
    host.say(ASK).await;
    assert_eq!(host.hear().await, ANSWER);
    host.hang_up().await;
    let status = timeout(Duration::from_secs(30), child.wait()).await.expect("it ends in time").expect("it ends");
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn every_line_of_stderr_reaches_a_host_that_reads() {
    for flags in ["", "--wait", "--inherit"] {
        let ended = Proxy::new(flags, "--flood 3000").end().await;
        assert_eq!(ended.stderr.matches("flood ").count(), 3_000, "{flags}");
        assert_eq!(ended.code, Some(0));
    }
}

#[tokio::test]
async fn stdout_carries_what_the_server_said_and_nothing_else() {
    let mut proxy = Proxy::new("--trace", "--noise hello --stderr careful");
    proxy.host.say(ASK).await;
    assert_eq!(proxy.host.hear().await, "hello");
    assert_eq!(proxy.host.hear().await, ANSWER);
    let ended = proxy.end().await;
    assert_eq!(ended.stdout, b"");
    for line in [
        "careful\n",
        "stage: -> tools/call id 1 (69 bytes)\n",
        "stage: <- no message (6 bytes)\n",
        "stage: the server wrote something that is no message to stdout: \"hello\"\n",
        "stage: session over: 1 line of stdout noise\n",
    ] {
        assert!(ended.stderr.contains(line), "no {line} in {}", ended.stderr);
    }
}

#[tokio::test]
async fn a_quiet_session_says_nothing() {
    let mut proxy = Proxy::new("", "");
    proxy.host.say(ASK).await;
    proxy.host.hear().await;
    let ended = proxy.end().await;
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[tokio::test]
async fn after_a_while_people_are_told_where_to_look() {
    let mut proxy = Proxy::new("", "");
    proxy.host.say(ASK).await;
    proxy.host.hear().await;
    tokio::time::sleep(Duration::from_millis(1_700)).await;
    assert_eq!(proxy.end().await.stderr, "stage: nobody is attached\n");
}

#[tokio::test]
async fn the_servers_own_flags_are_left_alone() {
    let mut command = tokio::process::Command::new(stage());
    command.args(["proxy", "--", "echo", "--help", "--trace", "--"]);
    let output = command.stdin(Stdio::null()).output().await.expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "--help --trace --\n");
}
