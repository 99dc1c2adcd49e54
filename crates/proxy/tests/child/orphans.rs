//! No child process outlives its proxy, whatever happens to either.

use rustix::process::Signal;

use crate::stage::{ASK, Proxy, gone, is_gone, noted, signal};

async fn started(flags: &str, script: &str) -> (Proxy, Vec<i32>, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let pids = folder.path().join("pids");
    let mut proxy = Proxy::new(flags, &format!("{script} --pids {}", pids.display()));
    proxy.host.say(ASK).await;
    proxy.host.hear().await;
    let ids = noted(&pids).await;
    (proxy, ids, folder)
}

#[tokio::test]
async fn what_a_server_started_ends_with_it() {
    let (proxy, ids, _folder) = started("", "--child").await;
    assert_eq!(ids.len(), 2);
    assert!(ids.iter().all(|id| !is_gone(*id)));
    assert_eq!(proxy.end().await.code, Some(0));
    for id in ids {
        assert!(is_gone(id), "{id} is left");
    }
}

#[tokio::test]
async fn what_a_dying_server_left_behind_ends_too() {
    let (proxy, ids, _folder) = started("", "--child --die-after tools/call 5").await;
    assert_eq!(proxy.ended().await.code, Some(5));
    for id in ids {
        assert!(is_gone(id), "{id} is left");
    }
}

#[tokio::test]
async fn a_terminated_proxy_leaves_nobody() {
    let (proxy, ids, _folder) = started("--shim", "--child --ignore-eof --ignore-term").await;
    signal(i32::try_from(proxy.id()).expect("a process id"), Signal::TERM);
    assert_eq!(proxy.ended().await.code, Some(137));
    for id in ids {
        assert!(is_gone(id), "{id} is left");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_killed_proxy_leaves_no_server() {
    let (proxy, ids, _folder) = started("--shim", "--ignore-eof --ignore-term").await;
    signal(i32::try_from(proxy.id()).expect("a process id"), Signal::KILL);
    gone(ids[0]).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_shim_becomes_the_server() {
    let (mut proxy, ids, _folder) = started("--shim", "").await;
    let parent = std::fs::read_to_string(format!("/proc/{}/stat", ids[0])).expect("it runs");
    let parent = parent.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)).expect("a parent");
    assert_eq!(parent, proxy.id().to_string());
    proxy.host.hang_up().await;
    assert_eq!(proxy.ended().await.code, Some(0));
}
