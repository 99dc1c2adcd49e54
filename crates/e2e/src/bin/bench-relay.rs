//! The floor of the bench: starts a command and copies bytes both ways in two threads. Looks at none of them.

use std::{
    env,
    io::{self, Read, Write},
    process::{Command, ExitCode, Stdio},
    thread,
};

fn main() -> ExitCode {
    match relay() {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("bench-relay: {error}");
            ExitCode::FAILURE
        }
    }
}

fn relay() -> io::Result<u8> {
    let mut words = env::args_os().skip(1);
    let program = words.next().ok_or_else(|| io::Error::other("names no command"))?;
    let mut child = Command::new(program).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut down = child.stdin.take().ok_or_else(|| io::Error::other("no pipe to the command"))?;
    let mut up = child.stdout.take().ok_or_else(|| io::Error::other("no pipe from the command"))?;
    // dropping its end of the pipe is what tells the command to end
    thread::spawn(move || copy(&mut io::stdin().lock(), &mut down));
    copy(&mut up, &mut io::stdout().lock())?;
    let status = child.wait()?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..read])?;
        to.flush()?;
    }
}
