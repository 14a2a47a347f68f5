//! Real faults on real processes: starts `remora dev` in a folder of its own, kills, freezes and thaws its
//! processes, loses coordination, and looks at what was published and what was left behind.
//!
//! For tests alone. Promises: whatever a test does, panics included, no process that it started outlives it;
//! every wait has a deadline and says what it waited for.

pub mod campaign;
mod dev;
pub mod figures;
pub mod fleet;
mod jobs;
mod leftovers;
mod processes;
mod proxy;
mod seed;
mod storm;
mod wait;

pub use dev::{Dev, DevOptions, Said, WorkerSeen};
pub use jobs::{count, count_result, count_script, shell};
pub use leftovers::Leftovers;
pub use processes::{
    Found, below, exists, freeze, is_zombie, kill, of_folder, resident_bytes, send, thaw, tree,
    virtual_bytes, with_text,
};
pub use proxy::{Link, Proxy};
pub use seed::{Scale, Seed};
pub use storm::{Blown, Storm};
pub use wait::{eventually, within};
