//! Real binaries against each other and against real peers.
