//! A thread for a session's work, so that shrinking, redacting and sending events never stands in the way of a frame.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::thread::{Builder, JoinHandle};

use tokio::runtime;

/// The work, under way.
pub(crate) enum Link {
    Thread(JoinHandle<io::Result<()>>),
    /// No thread was to be had; it shares ours.
    Task(tokio::task::JoinHandle<()>),
}

impl Link {
    /// Begins. Must be called on a runtime, as the work may have to fall back to it.
    pub(crate) fn start(running: Pin<Box<dyn Future<Output = ()> + Send>>) -> Link {
        let (hand, work) = std::sync::mpsc::sync_channel(1);
        let started = Builder::new().name("link".to_owned()).spawn(move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
            if let Ok(running) = work.recv() {
                runtime.block_on(running);
            }
            Ok(())
        });
        match started {
            Ok(thread) => match hand.send(running) {
                Ok(()) => Link::Thread(thread),
                Err(back) => Link::Task(tokio::spawn(back.0)),
            },
            Err(_) => Link::Task(tokio::spawn(running)),
        }
    }

    /// Waits for its end, which the session has been asked for.
    pub(crate) async fn end(self) {
        match self {
            // Nothing else is left to do on this thread, so it may as well stand still.
            Link::Thread(thread) => drop(thread.join()),
            Link::Task(task) => drop(task.await),
        }
    }
}
