//! Puts a path together: which policies stand at the gate, where events go.
