//! `remora token create|list|revoke`.
//!
//! Whoever reaches the rooms makes tokens; what was done stands in the trail as by `local`.

use durable::{DurableRoom, NewToken, Scope, TOKENS, TokenMade, TokenRow, TrailEntry};
#[cfg(feature = "embedded")]
use remora::DataFolder;
use runtime::Runtime;
use serde_json::{Value, json};
use server::{NewSecret, new_token_id};

use crate::access::Site;
use crate::args::{TokenAction, TokenArgs};
use crate::failure::{Failure, code};
use crate::parse::{moment_value, ms, show_moment};
use crate::printer::Printer;

pub(crate) async fn run(site: &Site, args: TokenArgs, printer: &Printer) -> Result<u8, Failure> {
    match site.connect().await? {
        Some(client) => act(client.durable().as_ref(), args.action, printer).await,
        #[cfg(feature = "embedded")]
        None => {
            let offline = server::OfflineWrite::open(&DataFolder::new(&site.dir))?;
            act(&offline.room, args.action, printer).await
        }
        #[cfg(not(feature = "embedded"))]
        None => act(site.client().await?.durable().as_ref(), args.action, printer).await,
    }
}

async fn act(store: &dyn DurableRoom, action: TokenAction, printer: &Printer) -> Result<u8, Failure> {
    match action {
        TokenAction::Create { name, scope, expires } => {
            let secret = NewSecret::token();
            let new = NewToken {
                id: new_token_id(),
                name,
                scopes: scope,
                digest: secret.digest(),
                lasts_ms: expires.map(ms),
            };
            create(store, &new, (&secret, printer)).await
        }
        TokenAction::List => {
            let tokens = store.tokens().await?.tokens;
            list(&tokens, printer)
        }
        TokenAction::Revoke { ids } => revoke(store, &ids, printer).await,
    }
}

async fn create(
    store: &dyn DurableRoom,
    new: &NewToken,
    (secret, printer): (&NewSecret, &Printer),
) -> Result<u8, Failure> {
    new.validate().map_err(Failure::usage)?;
    let made = match store.make_token(new).await? {
        TokenMade::Made(row) => row,
        TokenMade::IdTaken => return Err(Failure::new(code::FAILED, "the token's id is taken")),
        TokenMade::Full => {
            return Err(Failure::new(code::REFUSED, format!("there are {TOKENS} tokens already"))
                .hint("revoke those that are not used"));
        }
    };
    note(store, "make_token", format!("token {} ({})", made.id, made.name)).await?;
    if printer.is_json() {
        let mut value = shown(&made);
        value["token"] = secret.reveal().into();
        printer.json(&value)?;
    } else {
        printer.line(secret.reveal());
        let words = words(&made);
        printer.remark(&format!("token {} ({}) may {words}; it is not shown again", made.id, made.name));
    }
    Ok(code::OK)
}

fn list(tokens: &[TokenRow], printer: &Printer) -> Result<u8, Failure> {
    if printer.is_json() {
        printer.json(&tokens.iter().map(shown).collect::<Vec<_>>())?;
        return Ok(code::OK);
    }
    let rows = tokens.iter().map(|token| {
        vec![
            token.id.clone(),
            token.name.clone(),
            words(token),
            show_moment(token.created_at),
            token.expires_at.map_or_else(|| "never".to_owned(), show_moment),
            token.last_used_at.map_or_else(|| "never".to_owned(), show_moment),
        ]
    });
    printer.table(&["id", "name", "scopes", "made", "expires", "used"], rows.collect(), &[]);
    Ok(code::OK)
}

async fn revoke(store: &dyn DurableRoom, ids: &[String], printer: &Printer) -> Result<u8, Failure> {
    let mut unknown = Vec::new();
    for id in ids {
        if store.revoke_token(id).await? {
            note(store, "revoke_token", format!("token {id}")).await?;
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

fn words(token: &TokenRow) -> String {
    token.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(",")
}

fn shown(token: &TokenRow) -> Value {
    json!({
        "id": token.id,
        "name": token.name,
        "scopes": token.scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>(),
        "created_at": moment_value(token.created_at),
        "expires_at": token.expires_at.map(moment_value),
        "last_used_at": token.last_used_at.map(moment_value),
    })
}
