//! `remora token create|list|revoke`: by the API of a server, or in the store itself.
//!
//! Whoever reaches the rooms makes tokens; what was done there stands in the trail as by `local`.

use std::sync::Arc;

use api::http::Http;
use api::v1::{Code, MadeToken, Token, TokenRequest};
use durable::{DurableRoom, Scope, TrailEntry};
#[cfg(feature = "embedded")]
use remora::DataFolder;
use runtime::Runtime;
use server::make_token;

use crate::access::{Site, problem};
use crate::args::{TokenAction, TokenArgs};
use crate::failure::{Failure, code};
use crate::parse::{ms, show_moment};
use crate::printer::Printer;

/// Where the tokens are known.
enum Keys {
    Server(Http),
    Store(Arc<dyn DurableRoom>),
    /// Of a data folder that nobody owns, with its lock.
    #[cfg(feature = "embedded")]
    Folder(server::OfflineWrite),
}

impl Keys {
    async fn of(site: &Site) -> Result<Self, Failure> {
        if let Some(http) = site.server()? {
            return Ok(Self::Server(http));
        }
        match site.connect().await? {
            Some(client) => Ok(Self::Store(client.durable())),
            #[cfg(feature = "embedded")]
            None => Ok(Self::Folder(server::OfflineWrite::open(&DataFolder::new(&site.dir))?)),
            #[cfg(not(feature = "embedded"))]
            None => Ok(Self::Store(site.client().await?.durable())),
        }
    }

    /// The store; who has none asks the server.
    fn store(&self) -> Result<&dyn DurableRoom, &Http> {
        match self {
            Self::Server(http) => Err(http),
            Self::Store(store) => Ok(store.as_ref()),
            #[cfg(feature = "embedded")]
            Self::Folder(folder) => Ok(folder.room.as_ref()),
        }
    }

    async fn make(&self, asked: TokenRequest) -> Result<MadeToken, Failure> {
        let store = match self.store() {
            Ok(store) => store,
            Err(http) => return http.make_token(&asked).await.map_err(problem),
        };
        let made = make_token(store, asked).await?.map_err(problem)?;
        note(store, "make_token", format!("token {} ({})", made.about.id, made.about.name)).await?;
        Ok(made)
    }

    async fn list(&self) -> Result<Vec<Token>, Failure> {
        match self.store() {
            Ok(store) => Ok(store.tokens().await?.tokens.into_iter().map(Token::from).collect()),
            Err(http) => http.tokens().await.map_err(problem),
        }
    }

    /// Whether there was one.
    async fn revoke(&self, id: &str) -> Result<bool, Failure> {
        let store = match self.store() {
            Ok(store) => store,
            Err(http) => {
                return match http.revoke_token(id).await {
                    Ok(()) => Ok(true),
                    Err(unknown) if unknown.code == Code::NotFound => Ok(false),
                    Err(other) => Err(problem(other)),
                };
            }
        };
        let known = store.revoke_token(id).await?;
        if known {
            note(store, "revoke_token", format!("token {id}")).await?;
        }
        Ok(known)
    }
}

pub(crate) async fn run(site: &Site, args: TokenArgs, printer: &Printer) -> Result<u8, Failure> {
    let keys = Keys::of(site).await?;
    match args.action {
        TokenAction::Create { name, scope, expires } => {
            let scopes = scope.into_iter().map(Into::into).collect();
            let made = keys.make(TokenRequest { name, scopes, lasts_ms: expires.map(ms) }).await?;
            show_made(&made, printer)
        }
        TokenAction::List => list(&keys.list().await?, printer),
        TokenAction::Revoke { ids } => revoke(&keys, &ids, printer).await,
    }
}

fn show_made(made: &MadeToken, printer: &Printer) -> Result<u8, Failure> {
    if printer.is_json() {
        printer.json(made)?;
    } else {
        let Token { id, name, .. } = &made.about;
        printer.line(&made.token);
        printer.remark(&format!("token {id} ({name}) may {}; it is not shown again", words(&made.about)));
    }
    Ok(code::OK)
}

fn list(tokens: &[Token], printer: &Printer) -> Result<u8, Failure> {
    if printer.is_json() {
        printer.json(&tokens)?;
        return Ok(code::OK);
    }
    let rows = tokens.iter().map(|token| {
        vec![
            token.id.clone(),
            token.name.clone(),
            words(token),
            show_moment(token.created_at.0),
            token.expires_at.map_or_else(|| "never".to_owned(), |at| show_moment(at.0)),
            token.last_used_at.map_or_else(|| "never".to_owned(), |at| show_moment(at.0)),
        ]
    });
    printer.table(&["id", "name", "scopes", "made", "expires", "used"], rows.collect(), &[]);
    Ok(code::OK)
}

async fn revoke(keys: &Keys, ids: &[String], printer: &Printer) -> Result<u8, Failure> {
    let mut unknown = Vec::new();
    for id in ids {
        if keys.revoke(id).await? {
            printer.remark(&format!("token {id} is revoked"));
        } else {
            unknown.push(format!("`{id}`"));
        }
    }
    if unknown.is_empty() {
        return Ok(code::OK);
    }
    Err(Failure::new(code::NOT_FOUND, format!("there is no token {}", unknown.join(", ")))
        .hint("`remora token list` shows the ids"))
}

/// Writes into the trail what was done from this machine.
async fn note(store: &dyn DurableRoom, action: &str, object: String) -> Result<(), Failure> {
    let entry = TrailEntry {
        id: Runtime::system().new_actor_id().0,
        token: None,
        who: "local".to_owned(),
        origin: "command line".to_owned(),
        scope: Scope::Admin,
        action: action.to_owned(),
        object,
        outcome: "done".to_owned(),
    };
    Ok(store.add_to_trail(&[entry]).await?)
}

fn words(token: &Token) -> String {
    token.scopes.iter().map(|scope| Scope::from(*scope).name()).collect::<Vec<_>>().join(",")
}
