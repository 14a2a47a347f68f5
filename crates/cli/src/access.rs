//! Reaching the rooms: those of a data folder through its owner, or the store itself where there is no owner (protocol §7);
//! those of an installation by their URLs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use durable::{DurableReads, Listing};
use protocol::NoEvents;
use remora::{Client, DataFolder, RoomUrls, RoomsError};
use target::Target;
use target::file::FileTarget;
use tokio::sync::OnceCell;
use wire::client::ConnectError;

use crate::args::Arguments;
use crate::failure::{Failure, code};

/// Where the rooms are.
pub(crate) struct Site {
    /// The data folder; with rooms of an installation, what this machine alone needs.
    pub(crate) dir: PathBuf,
    /// The rooms of an installation, where there is one.
    pub(crate) rooms: Option<RoomUrls>,
    opened: OnceCell<(Client, Arc<dyn Target>)>,
}

impl Site {
    /// What the words and the environment name. `DATABASE_URL` and `REDIS_URL` stand in for a room that is not named,
    /// once another one is: alone they may be anybody's.
    pub(crate) fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let given = [&arguments.durable, &arguments.coordination, &arguments.target];
        // A variable that is set to nothing names nothing.
        let [durable, coordination, target] = given.map(|url| url.clone().filter(|url| !url.is_empty()));
        let named = durable.is_some() || coordination.is_some() || target.is_some();
        let other = |name: &str| std::env::var(name).ok().filter(|url| named && !url.is_empty());
        let rooms = RoomUrls::of(
            durable.or_else(|| other("DATABASE_URL")),
            coordination.or_else(|| other("REDIS_URL")),
            target,
        )
        .map_err(|error| Failure::from(error).with_code(code::USAGE))?;
        Ok(Self { dir: arguments.dir.clone(), rooms, opened: OnceCell::new() })
    }

    async fn opened(&self, rooms: &RoomUrls) -> Result<&(Client, Arc<dyn Target>), Failure> {
        let open = || async {
            let rooms = rooms.open(&NoEvents::shared()).await.map_err(explain)?;
            Ok::<_, Failure>((Client::of(&rooms), rooms.target))
        };
        self.opened.get_or_try_init(open).await
    }

    /// A client; `None` for a data folder without an owner.
    pub(crate) async fn connect(&self) -> Result<Option<Client>, Failure> {
        if let Some(rooms) = &self.rooms {
            return Ok(Some(self.opened(rooms).await?.0.clone()));
        }
        match Client::connect(&self.dir, "cli").await {
            Ok(client) => Ok(Some(client)),
            Err(ConnectError::NoOwner { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A client, for what only an owner or the rooms themselves can do.
    pub(crate) async fn client(&self) -> Result<Client, Failure> {
        self.connect().await?.ok_or_else(|| no_owner(&self.dir))
    }

    /// Who answers reading commands.
    pub(crate) async fn readers(&self) -> Result<Readers, Failure> {
        match self.connect().await? {
            Some(client) => Ok(Readers::Client(client)),
            #[cfg(feature = "embedded")]
            None => match server::read_only(&DataFolder::new(&self.dir)) {
                Ok(reads) => Ok(Readers::Store(Box::new(reads))),
                Err(error) => Err(Failure::from(error).hint(hint_for_folder(&self.dir))),
            },
            #[cfg(not(feature = "embedded"))]
            None => Err(no_owner(&self.dir)),
        }
    }

    /// Where results and logs are.
    pub(crate) async fn target(&self) -> Result<Arc<dyn Target>, Failure> {
        match &self.rooms {
            Some(rooms) => Ok(Arc::clone(&self.opened(rooms).await?.1)),
            None => Ok(Arc::new(FileTarget::new(DataFolder::new(absolute(&self.dir)?).target()))),
        }
    }

    /// The data folder, for a verb that rooms of an installation have no part in.
    pub(crate) fn folder_only(&self, verb: &str) -> Result<&Path, Failure> {
        match &self.rooms {
            None => Ok(&self.dir),
            Some(_) => Err(Failure::usage(format!(
                "`{verb}` is for a data folder, not for --durable, --coordination and --target"
            ))),
        }
    }
}

/// A URL that is wrong is wrong usage; a store that is away is not.
pub(crate) fn explain(error: RoomsError) -> Failure {
    let code = if error.is_usage() { code::USAGE } else { code::FAILED };
    let hint = error.hint();
    let failure = Failure::from(error).with_code(code);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

/// The durable store alone.
#[cfg(feature = "fleet")]
pub(crate) fn durable_url(named: Option<String>) -> Option<String> {
    named.or_else(|| std::env::var("DATABASE_URL").ok()).filter(|url| !url.is_empty())
}

/// Who answers reading commands.
pub(crate) enum Readers {
    /// The living owner, or the rooms themselves.
    Client(Client),
    /// The store of a data folder, read only.
    #[cfg(feature = "embedded")]
    Store(Box<durable::sqlite::SqliteReads>),
}

impl Readers {
    /// The client, where there is one.
    pub(crate) fn client(&self) -> Option<&Client> {
        match self {
            Self::Client(client) => Some(client),
            #[cfg(feature = "embedded")]
            Self::Store(_) => None,
        }
    }

    pub(crate) fn listing(&self) -> Arc<dyn Listing> {
        match self {
            Self::Client(client) => client.durable(),
            #[cfg(feature = "embedded")]
            Self::Store(reads) => Arc::new(reads.as_ref().clone()),
        }
    }

    pub(crate) fn reads(&self) -> Arc<dyn DurableReads> {
        match self {
            Self::Client(client) => client.durable(),
            #[cfg(feature = "embedded")]
            Self::Store(reads) => Arc::new(reads.as_ref().clone()),
        }
    }
}

fn no_owner(dir: &Path) -> Failure {
    if let Some(hint) = no_folder(dir) {
        return Failure::new(code::FAILED, format!("{} is no data folder", dir.display())).hint(hint);
    }
    Failure::new(code::FAILED, format!("nobody owns the data folder {}", dir.display()))
        .hint("start `remora dev`, or name another folder with --dir")
}

/// What stands where a data folder was meant.
fn no_folder(dir: &Path) -> Option<String> {
    let is_other = dir.exists() && !dir.is_dir();
    is_other.then(|| format!("{} is a file; name a folder with --dir", dir.display()))
}

#[cfg(feature = "embedded")]
fn hint_for_folder(dir: &Path) -> String {
    if let Some(hint) = no_folder(dir) {
        hint
    } else if dir.is_dir() {
        "name another data folder with --dir".to_owned()
    } else {
        format!(
            "there is no data folder {} yet; `remora run -- COMMAND` or `remora dev` makes one",
            dir.display()
        )
    }
}

/// The folder's absolute path: workers and results are named by it.
pub(crate) fn absolute(dir: &Path) -> Result<PathBuf, Failure> {
    Ok(std::path::absolute(dir)?)
}
