//! The smallest program around the proxy, for tests with real processes and for measuring: it proxies, it plays the server,
//! it is its own shim, and it is the plain relay that the proxy is compared with.

//     stage proxy [--trace] [--shim] [--wait] [--cap N] [--strict] [--inherit] -- COMMAND…
//     stage relay -- COMMAND…
//     stage serve …            what the scripted server takes

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use lockgate_gate::{Gate, GateConfig, Tap, TapLimits};
use lockgate_protocol::debug::{RunId, SdkInfo};
use lockgate_proxy::stdio::{Attach, HoldConfig, StdioConfig, WaitForAttach, run};
use lockgate_proxy::{ChildStderr, Duplicates, FrameCap, Heartbeat, Rules, Shim, Shown, Trace, Trouble};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let rest = |args: std::iter::Skip<std::env::ArgsOs>| args.map(|arg| arg.to_string_lossy().into_owned());
    match args.next().and_then(|first| first.into_string().ok()).as_deref() {
        Some("serve") => lockgate_testkit::script::main(rest(args)),
        Some("proxy") => return proxy(&args.collect::<Vec<_>>()),
        Some("relay") => return relay(args.skip_while(|arg| arg != "--").skip(1).collect()),
        Some("__exec") => return become_command(args.collect()),
        _ => return ExitCode::from(64),
    }
    ExitCode::SUCCESS
}

fn proxy(args: &[OsString]) -> ExitCode {
    let mut flags = args.iter().take_while(|arg| *arg != "--").map(|arg| arg.to_string_lossy());
    let mut command = args.iter().skip_while(|arg| *arg != "--").skip(1).cloned();
    let (tap, mut drain) = Tap::channel(TapLimits { events: 100_000, bytes: 256 << 20 });
    let mut config = StdioConfig {
        program: command.next().unwrap_or_default(),
        args: command.collect(),
        shim: None,
        keeper: None,
        stderr: ChildStderr::Mirrored,
        gate: Gate::new(GateConfig::new(tap.clone())),
        tap,
        run: RunId::new("run_stage").expect("a name"),
        sdk: SdkInfo { name: "mcp-proxy".to_owned(), version: "0".to_owned() },
        rules: Rules { trouble: Trouble::Pass, duplicates: Duplicates::Pass, shown: Shown::ALL },
        cap: FrameCap::default(),
        trace: Trace::Off,
        hold: HoldConfig { heartbeat: Heartbeat::On, limit: None, at_limit: None, place: String::new(), hosts: None },
        attach: Attach {
            wait: WaitForAttach::No,
            ready: Box::new(|limit| Box::pin(tokio::time::sleep(limit))),
            notice: Arc::new(|| "nobody is attached".to_owned()),
        },
        prefix: "stage".to_owned(),
    };
    while let Some(flag) = flags.next() {
        match &*flag {
            "--trace" => config.trace = Trace::On,
            "--wait" => config.attach.wait = WaitForAttach::Yes,
            "--strict" => config.rules.duplicates = Duplicates::Refuse,
            "--guard" => config.rules.trouble = Trouble::Refuse,
            "--inherit" => config.stderr = ChildStderr::Inherited,
            "--shim" => {
                let program = std::env::current_exe().expect("our own path");
                config.shim = Some(Shim { program, args: vec!["__exec".into()] });
            }
            "--cap" => {
                let bytes = flags.next().and_then(|bytes| bytes.parse().ok()).expect("--cap N");
                config.cap = FrameCap::new(bytes).expect("a cap that is large enough");
            }
            other => panic!("what is {other}?"),
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let exited = runtime.block_on(async {
        // What a session does all the time, without a hub: take the events and forget them.
        let drained = tokio::spawn(async move { while drain.next().await.is_some() {} });
        let exited = run(config).await;
        drained.abort();
        exited
    });
    runtime.shutdown_background();
    ExitCode::from(u8::try_from(exited.code & 0xFF).unwrap_or(1))
}

/// A thread for each direction, and nothing in between.
fn relay(command: Vec<OsString>) -> ExitCode {
    use std::process::{Command, Stdio};
    let mut words = command.into_iter();
    let mut child = Command::new(words.next().unwrap_or_default())
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a server");
    let (to, from) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    std::thread::spawn(move || copy(std::io::stdin().lock(), to));
    copy(from, std::io::stdout().lock());
    let status = child.wait().expect("it ends");
    ExitCode::from(u8::try_from(status.code().unwrap_or(1) & 0xFF).unwrap_or(1))
}

fn copy(mut from: impl std::io::Read, mut to: impl std::io::Write) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

#[cfg(target_os = "linux")]
fn become_command(args: Vec<OsString>) -> ExitCode {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};
    use std::os::unix::process::CommandExt;
    let parent = args.iter().skip_while(|arg| *arg != "--parent").nth(1);
    let parent: i32 = parent.and_then(|parent| parent.to_str()?.parse().ok()).expect("--parent PID");
    set_parent_process_death_signal(Some(Signal::KILL)).expect("a note to the kernel");
    if getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(parent) {
        return ExitCode::from(125);
    }
    let mut command = args.into_iter().skip_while(|arg| *arg != "--").skip(1);
    let program = command.next().unwrap_or_default();
    let error = std::process::Command::new(&program).args(command).exec();
    eprintln!("cannot start {}: {error}", program.to_string_lossy());
    ExitCode::from(127)
}

#[cfg(not(target_os = "linux"))]
fn become_command(_: Vec<OsString>) -> ExitCode {
    ExitCode::from(125)
}
