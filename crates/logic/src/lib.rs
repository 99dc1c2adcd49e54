//! JSON Logic: yes or no from data, with variables answered by whoever asks.
