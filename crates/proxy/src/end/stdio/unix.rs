//! Which kind of stream stdin and stdout are, and how each is read or written without blocking anything else.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as StdStream;

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::super::{End, widen};
use super::thread::Reader;

/// How the streams were before, for whoever shares them with us.
pub(crate) struct Restore(Vec<(OwnedFd, OFlags)>);

impl Restore {
    /// Puts them back.
    pub(crate) fn now(self) {
        for (stream, flags) in self.0 {
            // The other end may be gone; then nobody minds.
            fcntl_setfl(&stream, flags).ok();
        }
    }
}

/// Our stdin and stdout.
pub(crate) fn own() -> (End, Restore) {
    let (stdin, stdout) = (io::stdin(), io::stdout());
    let mut former = Vec::new();
    let reader = reader(stdin.as_fd(), &mut former);
    let writer = writer(stdout.as_fd(), &mut former);
    let end = End {
        reader: reader.unwrap_or_else(|_| Box::new(Reader::stdin())),
        writer: writer.unwrap_or_else(|_| Box::new(tokio::io::stdout())),
    };
    (end, Restore(former))
}

type Former = Vec<(OwnedFd, OFlags)>;

fn reader(stream: BorrowedFd<'_>, former: &mut Former) -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    match kind(stream)? {
        FileType::Fifo => Ok(Box::new(pipe::Receiver::from_owned_fd(remembered(stream, former)?)?)),
        FileType::Socket => Ok(Box::new(socket(remembered(stream, former)?)?)),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

fn writer(stream: BorrowedFd<'_>, former: &mut Former) -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    match kind(stream)? {
        FileType::Fifo => Ok(Box::new(pipe::Sender::from_owned_fd(remembered(stream, former)?)?)),
        FileType::Socket => Ok(Box::new(socket(remembered(stream, former)?)?)),
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Not every stream can be made non-blocking: what stderr is too is written to by others, who expect to wait.
fn kind(stream: BorrowedFd<'_>) -> io::Result<FileType> {
    let about = fstat(stream)?;
    let same = |other: rustix::fs::Stat| (other.st_dev, other.st_ino) == (about.st_dev, about.st_ino);
    if fstat(io::stderr().as_fd()).is_ok_and(same) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    Ok(FileType::from_raw_mode(about.st_mode))
}

fn remembered(stream: BorrowedFd<'_>, former: &mut Former) -> io::Result<OwnedFd> {
    former.push((stream.try_clone_to_owned()?, fcntl_getfl(stream)?));
    widen(&stream);
    stream.try_clone_to_owned()
}

fn socket(own: OwnedFd) -> io::Result<UnixStream> {
    let stream = StdStream::from(own);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}
