//! What people type: the verbs, near and far, and what is wrong with what they type.

mod bad_input;
mod belonging;
mod desk;
mod doctor;
mod health;
mod http;
mod migrate;
mod over_http;
mod traces;
