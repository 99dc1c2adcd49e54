//! Takes in debug events, keeps runs, serves viewers and control.
