//! Reaching the rooms: those of a data folder through its owner, or the store itself where there is no owner (protocol §7);
//! those of an installation by their URLs.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use api::http::{Http, HttpOptions};
use api::v1::Code;
use api::{Api, Direct, DirectRooms, Problem};
#[cfg(feature = "embedded")]
use durable::{DurableReads, Listing};
use protocol::NoEvents;
use remora::{Client, DataFolder, Ear, RoomUrls, RoomsError, Traced};
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
    /// A server's API, in place of both.
    url: Option<String>,
    opened: OnceCell<(Client, Arc<dyn Target>)>,
    /// What this process tells of the jobs that it submits, itself, to a store.
    traced: OnceLock<Traced>,
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
        let url = arguments.url.clone().filter(|url| !url.is_empty() && !arguments.direct);
        let (opened, traced) = (OnceCell::new(), OnceLock::new());
        Ok(Self { dir: arguments.dir.clone(), rooms, url, opened, traced })
    }

    /// Whether a server is asked, on whatever machine it runs.
    pub(crate) fn is_remote(&self) -> bool {
        self.url.is_some()
    }

    /// Whether anybody makes jobs go on.
    pub(crate) async fn runs(&self) -> Result<bool, Failure> {
        Ok(self.is_remote() || self.connect().await?.is_some())
    }

    /// The server that is asked, for what the rooms have no port for.
    pub(crate) fn server(&self) -> Result<Option<Http>, Failure> {
        self.url.as_deref().map(remote).transpose()
    }

    /// Who answers what is only read.
    pub(crate) async fn api(&self) -> Result<Arc<dyn Api>, Failure> {
        if let Some(http) = self.server()? {
            return Ok(Arc::new(http));
        }
        match self.connect().await? {
            Some(client) => self.direct(&client).await,
            #[cfg(feature = "embedded")]
            None => match server::read_only(&DataFolder::new(&self.dir)) {
                Ok(reads) => {
                    let reads = Arc::new(reads);
                    let listing = Arc::clone(&reads) as Arc<dyn Listing>;
                    self.without_owner(listing, reads, Offline::default()).await
                }
                Err(error) => Err(Failure::from(error).hint(hint_for_folder(&self.dir))),
            },
            #[cfg(not(feature = "embedded"))]
            None => Err(no_owner(&self.dir)),
        }
    }

    /// Who makes changes: the owner, or the store of a data folder itself, where nobody owns it. `make`: also where there
    /// is no data folder yet.
    pub(crate) async fn api_to_change(&self, make: bool) -> Result<Arc<dyn Api>, Failure> {
        if let Some(http) = self.server()? {
            return Ok(Arc::new(http));
        }
        match self.connect().await? {
            Some(client) => self.direct(&client).await,
            #[cfg(feature = "embedded")]
            None if make || DataFolder::new(&self.dir).database().is_file() => {
                let write = server::OfflineWrite::open(&DataFolder::new(&self.dir))?;
                let room = Arc::clone(&write.room);
                let heard = self.traced().over_durable(Arc::clone(&room) as Arc<_>, Ear::Own);
                let changes = heard as Arc<dyn durable::Durable>;
                let offline = Offline { changes: Some(changes), held: Some(Arc::new(write)) };
                self.without_owner(Arc::clone(&room) as Arc<dyn Listing>, room, offline).await
            }
            None => Err(no_owner(&self.dir)),
        }
    }

    /// Over a client of the rooms.
    pub(crate) async fn direct(&self, client: &Client) -> Result<Arc<dyn Api>, Failure> {
        let rooms = DirectRooms::of(client.durable(), client.coordination(), self.target().await?);
        Ok(Arc::new(Direct::new(rooms)))
    }

    #[cfg(feature = "embedded")]
    async fn without_owner(
        &self,
        listing: Arc<dyn Listing>,
        reads: Arc<dyn DurableReads>,
        offline: Offline,
    ) -> Result<Arc<dyn Api>, Failure> {
        let rooms = DirectRooms {
            listing,
            reads,
            durable: offline.changes,
            coordination: None,
            target: self.target().await?,
            examine: None,
            held: offline.held,
        };
        Ok(Arc::new(Direct::new(rooms)))
    }

    fn traced(&self) -> &Traced {
        self.traced.get_or_init(|| Traced::begin("remora-cli"))
    }

    async fn opened(&self, rooms: &RoomUrls) -> Result<&(Client, Arc<dyn Target>), Failure> {
        let open = || async {
            let rooms = rooms.open(&NoEvents::shared()).await.map_err(explain)?;
            let rooms = self.traced().over(rooms, Ear::Own);
            Ok::<_, Failure>((Client::of(&rooms), rooms.target))
        };
        self.opened.get_or_try_init(open).await
    }

    /// A client of the rooms; `None` for a data folder without an owner.
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

/// The way to change the store of a data folder that nobody owns.
#[cfg(feature = "embedded")]
#[derive(Default)]
struct Offline {
    changes: Option<Arc<dyn durable::Durable>>,
    /// The folder's lock.
    held: Option<Arc<dyn std::any::Any + Send + Sync>>,
}

/// The API of a server.
fn remote(url: &str) -> Result<Http, Failure> {
    let token = std::env::var("REMORA_API_TOKEN").ok().filter(|token| !token.is_empty());
    let options = HttpOptions { token, ..HttpOptions::new(url) };
    Http::new(options).map_err(problem)
}

/// What the API answered instead.
pub(crate) fn problem(problem: Problem) -> Failure {
    let code = match problem.code {
        Code::NotFound => code::NOT_FOUND,
        Code::Refused | Code::KeyReused => code::REFUSED,
        Code::Invalid | Code::BadBody | Code::TooLarge => code::USAGE,
        _ => code::FAILED,
    };
    let hint = problem.hint.as_ref().map(ToString::to_string);
    let hint = hint.or_else(|| match problem.code {
        Code::Unauthenticated => {
            Some("REMORA_API_TOKEN holds the token; `remora token create` makes one".to_owned())
        }
        _ => None,
    });
    Failure { error: problem.into(), hint, code }
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
