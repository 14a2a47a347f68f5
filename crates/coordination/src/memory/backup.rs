//! The room as a restored backup would leave it: an old state that comes back (rule 9). For tests.

use super::MemoryRoom;
use super::pool::Pool;

/// The state of the room at one moment.
pub struct Backup(Pool);

impl Backup {
    /// The epoch at that moment; 0 for an empty store.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.0.epoch.number
    }
}

impl MemoryRoom {
    /// The epoch now; 0 while the store is empty.
    pub fn epoch(&self) -> u64 {
        self.lock().pool.epoch.number
    }

    /// What the room holds now.
    pub fn snapshot(&self) -> Backup {
        Backup(self.lock().pool.clone())
    }

    /// The room holds that again, and nothing that came after it.
    pub fn restore(&self, backup: &Backup) {
        self.lock().pool = backup.0.clone();
    }
}
