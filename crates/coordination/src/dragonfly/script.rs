//! The scripts: one Lua file per action, `common.lua` before each.
//!
//! Promises: the text that is loaded is a fixed concatenation, made once; nothing is put into it at run time.

use std::sync::LazyLock;

const COMMON: &str = include_str!("lua/common.lua");

/// What is loaded for each script: its text, and the hash that the server calls it by.
static LOADED: LazyLock<Vec<Loaded>> = LazyLock::new(|| Script::ALL.iter().map(|one| one.load()).collect());

struct Loaded {
    text: String,
    hash: String,
}

macro_rules! scripts {
    ($($name:ident = $file:literal;)*) => {
        /// A script.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Script { $(#[doc = $file] $name,)* }

        impl Script {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// Its file's name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $file,)* }
            }

            /// Its own text, without what is common.
            fn own(self) -> &'static str {
                match self { $(Self::$name => include_str!(concat!("lua/", $file, ".lua")),)* }
            }
        }
    };
}

scripts! {
    Account = "account";
    ActivateAttempt = "activate_attempt";
    ClaimRefused = "claim_refused";
    CleanTerminalCoordination = "clean_terminal_coordination";
    Configure = "configure";
    Deregister = "deregister";
    Doctor = "doctor";
    Enqueue = "enqueue";
    ExpireLease = "expire_lease";
    FalseSuspicion = "false_suspicion";
    Holdings = "holdings";
    InstallEpoch = "install_epoch";
    Lose = "lose";
    OpenEpoch = "open_epoch";
    Pool = "pool";
    Progress = "progress";
    PublishCancelNotice = "publish_cancel_notice";
    ReapObserve = "reap_observe";
    Register = "register";
    ReleaseLease = "release_lease";
    ReleaseReservation = "release_reservation";
    RenewLease = "renew_lease";
    RenewReservation = "renew_reservation";
    ReportProgress = "report_progress";
    RequestDrain = "request_drain";
    Reserve = "reserve";
    RestoreLease = "restore_lease";
    Settle = "settle";
    SweptEpoch = "swept_epoch";
    Windows = "windows";
    Workers = "workers";
}

impl Script {
    fn load(self) -> Loaded {
        let text = format!("{COMMON}\n{}", self.own());
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Loaded { text, hash }
    }

    fn loaded(self) -> &'static Loaded {
        let place = Self::ALL.iter().position(|one| *one == self);
        &LOADED[place.expect("every script is in the list of all")]
    }

    /// The whole text.
    #[must_use]
    pub fn text(self) -> &'static str {
        &self.loaded().text
    }

    /// The SHA-1 of the text, by which `EVALSHA` calls it.
    #[must_use]
    pub fn hash(self) -> &'static str {
        &self.loaded().hash
    }
}
