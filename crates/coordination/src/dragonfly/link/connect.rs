//! One connection: made, and asked who is at its other end.
//!
//! Promises: a connection is to a master that evicts nothing; with Sentinels, to the one that most recently they name.
//! Does not limit time: whoever asks does.

use std::path::Path;

use redis::aio::MultiplexedConnection;
use redis::io::tcp::TcpSettings;
use redis::{
    AsyncConnectionConfig, Client, ClientTlsConfig, ConnectionAddr, IntoConnectionInfo, RedisConnectionInfo,
    RedisError, TlsCertificates,
};

use super::address::{Address, Host, Login, Place, Tls};
use super::info::Info;

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoConnection {
    #[error("connect to {0}")]
    Connect(String, #[source] RedisError),
    #[error("read {0}")]
    File(String, #[source] std::io::Error),
    #[error("no sentinel names a master for {0}")]
    NoMaster(String, #[source] Option<RedisError>),
    #[error("{0} is a replica")]
    Replica(String),
    #[error(
        "{0} may evict any key (maxmemory_policy is {1}): leases would vanish; set it to noeviction, or add \
         `eviction=allow` to the url"
    )]
    Evicts(String, String),
}

/// A connection, and who is at its other end.
pub(super) struct Made {
    pub(super) connection: MultiplexedConnection,
    pub(super) identity: String,
}

/// Makes a connection.
pub(super) async fn connect(address: &Address) -> Result<Made, NoConnection> {
    let (client, shown) = client(address).await?;
    let failed = |error| NoConnection::Connect(shown.clone(), error);
    let mut connection = open(&client).await.map_err(failed)?;
    let info = match redis::cmd("INFO").query_async::<String>(&mut connection).await {
        Ok(text) => Info::read(&text),
        // Without the permission nothing is known of it; the epoch alone must do.
        Err(error) if error.code() == Some("NOPERM") => Info::default(),
        Err(error) => return Err(NoConnection::Connect(shown, error)),
    };
    if info.is_replica() {
        return Err(NoConnection::Replica(shown));
    }
    match info.evicts() {
        Some(policy) if !address.eviction_allowed => Err(NoConnection::Evicts(shown, policy.to_owned())),
        _ => Ok(Made { connection, identity: info.identity().to_owned() }),
    }
}

async fn open(client: &Client) -> Result<MultiplexedConnection, RedisError> {
    let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// The client of the master, and its name to show.
pub(crate) async fn client(address: &Address) -> Result<(Client, String), NoConnection> {
    let addr = match &address.place {
        Place::Tcp(host, port) => (host.clone(), *port),
        Place::Unix(path) => {
            let shown = address.to_string();
            return Ok((prepared(ConnectionAddr::Unix(path.clone()), &address.login, None).await?, shown));
        }
        Place::Sentinel { hosts, master } => ask_sentinels(address, hosts, master).await?,
    };
    let shown = Host(&addr.0, addr.1).to_string();
    Ok((at(addr, &address.login, address.tls.as_ref()).await?, shown))
}

async fn at(addr: (String, u16), login: &Login, tls: Option<&Tls>) -> Result<Client, NoConnection> {
    let (host, port) = addr;
    let addr = match tls {
        None => ConnectionAddr::Tcp(host, port),
        Some(_) => ConnectionAddr::TcpTls { host, port, insecure: false, tls_params: None },
    };
    prepared(addr, login, tls).await
}

async fn prepared(addr: ConnectionAddr, login: &Login, tls: Option<&Tls>) -> Result<Client, NoConnection> {
    let shown = addr.to_string();
    let failed = |error| NoConnection::Connect(shown.clone(), error);
    let mut settings = RedisConnectionInfo::default().set_skip_set_lib_name();
    if let Some(user) = &login.user {
        settings = settings.set_username(user);
    }
    if let Some(password) = &login.password {
        settings = settings.set_password(password);
    }
    let info = addr.into_connection_info().map_err(failed)?;
    let info = info.set_redis_settings(settings).set_tcp_settings(TcpSettings::default().set_nodelay(true));
    let Some(tls) = tls else { return Client::open(info).map_err(failed) };
    // Another part of the program may have chosen one already; any will do.
    drop(rustls::crypto::ring::default_provider().install_default());
    let client_tls = match (&tls.cert, &tls.key) {
        (Some(cert), Some(key)) => {
            Some(ClientTlsConfig { client_cert: read(cert).await?, client_key: read(key).await? })
        }
        _ => None,
    };
    let root_cert = match &tls.ca {
        Some(ca) => Some(read(ca).await?),
        None => None,
    };
    Client::build_with_tls(info, TlsCertificates { client_tls, root_cert }).map_err(failed)
}

async fn read(path: &Path) -> Result<Vec<u8>, NoConnection> {
    tokio::fs::read(path).await.map_err(|error| NoConnection::File(path.display().to_string(), error))
}

/// The master that the first Sentinel with an answer names.
async fn ask_sentinels(
    address: &Address,
    hosts: &[(String, u16)],
    master: &str,
) -> Result<(String, u16), NoConnection> {
    let mut last = None;
    for host in hosts {
        match ask_sentinel(address, host, master).await {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            Err(NoConnection::Connect(_, error)) => last = Some(error),
            Err(other) => return Err(other),
        }
    }
    Err(NoConnection::NoMaster(master.to_owned(), last))
}

async fn ask_sentinel(
    address: &Address,
    host: &(String, u16),
    master: &str,
) -> Result<Option<(String, u16)>, NoConnection> {
    let failed = |error| NoConnection::Connect(Host(&host.0, host.1).to_string(), error);
    let client = at(host.clone(), &address.sentinel_login, address.tls.as_ref()).await?;
    let asking = async {
        let mut connection = open(&client).await?;
        let question = redis::cmd("SENTINEL").arg("get-master-addr-by-name").arg(master).to_owned();
        question.query_async::<Option<(String, u16)>>(&mut connection).await
    };
    // One that hangs must not take the time of the others.
    match tokio::time::timeout(SENTINEL_PATIENCE, asking).await {
        Ok(answer) => answer.map_err(failed),
        Err(elapsed) => Err(failed(std::io::Error::from(elapsed).into())),
    }
}

const SENTINEL_PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);
