//! Wider pipes: a long frame then crosses with fewer switches between processes. Only Linux can be asked for them.

use std::os::fd::AsFd;

/// Asks for the widest pipe that everybody may have. What is no pipe, or has no more room, stays as it is.
#[cfg(target_os = "linux")]
pub(crate) fn widen(pipe: &impl AsFd) {
    let narrow = rustix::pipe::fcntl_getpipe_size(pipe).is_ok_and(|size| size < WIDE);
    if narrow {
        rustix::pipe::fcntl_setpipe_size(pipe, WIDE).ok();
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn widen(_pipe: &impl AsFd) {}

/// The limit for ordinary users, unless a machine was set up otherwise.
#[cfg(target_os = "linux")]
const WIDE: usize = 1 << 20;
