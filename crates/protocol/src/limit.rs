//! Sizes and numbers that the manual states and the door checks (protocol §5).

/// Args, in bytes of JSON text.
pub const ARGS_BYTES: u64 = 1024 * 1024;
/// Checkpoint state, in bytes.
pub const STATE_BYTES: u64 = 64 * 1024 * 1024;
/// A manifest or state above this goes to the target; the row keeps its digest.
pub const INLINE_BYTES: u64 = 64 * 1024;
/// A progress message, in bytes.
pub const PROGRESS_MESSAGE_BYTES: u64 = 1024;
/// Error text that is kept, in bytes; longer is cut between characters.
pub const ERROR_BYTES: usize = 8 * 1024;
/// Errors kept of one job: its last so many attempts'.
pub const ERRORS_KEPT: u32 = 20;
/// Kind, queue and worker names, in bytes.
pub const NAME_BYTES: u64 = 128;
/// Idempotency key, in bytes.
pub const IDEMPOTENCY_KEY_BYTES: u64 = 256;
/// Jobs in one batch of submissions.
pub const BATCH_JOBS: u64 = 10_000;
/// Log of one attempt, in bytes: head and tail are kept, the cut is marked.
pub const LOG_BYTES: u64 = 8 * 1024 * 1024;
/// Files in one result.
pub const RESULT_FILES: u64 = 1_000_000;
/// Entries in one coordination window.
pub const WINDOW_ENTRIES: usize = 2_000;
/// Entries in all windows of a pool.
pub const POOL_ENTRIES: usize = 200_000;
/// Windows that one `Reserve` may name.
pub const RESERVE_WINDOWS: usize = 32;
/// Attempts of one job.
pub const MAX_ATTEMPTS: u32 = 32_767;
/// Words and environment of a command, in bytes, all together.
pub const COMMAND_BYTES: u64 = 1024 * 1024;
