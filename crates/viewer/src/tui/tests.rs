//! What the screen shows, as text. A stage feeds a state with frames as a hub sends them and with keys as a person does.

mod find;
mod keys;
mod screens;
mod socket;
mod stage;
mod storm;
