//! A switch that cuts one link: `DropLink` and `RestoreLink` for tests of faults.

use tokio::sync::watch;

/// Cuts and restores one client's link.
#[derive(Debug, Clone)]
pub struct LinkSwitch {
    cut: watch::Sender<bool>,
}

impl LinkSwitch {
    pub(super) fn new() -> Self {
        Self { cut: watch::Sender::new(false) }
    }

    /// `DropLink`: the connection breaks, and none is made until [`LinkSwitch::restore`].
    #[doc(alias = "DropLink")]
    pub fn cut(&self) {
        self.cut.send_replace(true);
    }

    /// `RestoreLink`: connecting is allowed again.
    #[doc(alias = "RestoreLink")]
    pub fn restore(&self) {
        self.cut.send_replace(false);
    }

    pub(super) fn is_cut(&self) -> bool {
        *self.cut.borrow()
    }

    /// Ends when the switch stands so.
    pub(super) async fn is(&self, cut: bool) {
        // The sender lives in `self`, so waiting cannot fail.
        drop(self.cut.subscribe().wait_for(|now| *now == cut).await);
    }
}
