//! The run model that viewers draw, and the terminal viewer.
