//! The owner of a data folder (protocol §7): holds the durable and the coordination room, hosts the agents,
//! serves both rooms over a local socket, and keeps worker processes running. And, for the rooms of an installation, the
//! agents alone ([`Replica`]).
//!
//! Promises: one owner a folder, by a lock that ends with the process; a dead worker is started again at
//! once, as a new incarnation; when the owner ends, its workers and their programs do, too. Decides nothing
//! about jobs: the rooms, the agents and the workers do.

mod control;
mod held;
mod http;
mod lock;
mod offline;
mod owner;
mod replica;
mod supervisor;

pub use control::{OwnerInfo, OwnerRequest, WorkerProcessInfo};
pub use held::HeldRooms;
pub use http::{HttpError, HttpServer, Listen, RoomsExamined, listen};
pub use lock::{FolderLock, LockError};
pub use offline::{OfflineError, OfflineWrite, read_only};
pub use owner::{Owner, OwnerError, OwnerOptions};
pub use replica::{Replica, ReplicaError, ReplicaOptions};
pub use supervisor::{ROOMS_WORD, SupervisorOptions, WORKER_WORD};
pub use web::{Handle as HttpHandle, Options as HttpOptions, TlsFiles, make_token};
