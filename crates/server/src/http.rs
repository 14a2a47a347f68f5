//! The HTTP API of a process that holds the rooms, or reaches them.
//!
//! Promises: an address that is in use is an error, or, where that was asked for, the next free port is taken and said.
//! Does not decide what is served: `web` and `api` do.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;

use agents::AgentRooms;
use api::{Api, Direct, DirectRooms, Examine};
use async_trait::async_trait;
use protocol::{Finding, told};
use remora::RoomUrls;
use thiserror::Error;
use tokio::net::TcpListener;
use web::{Handle, Options, ServeError, Served, serve};

use crate::held::HeldRooms;

/// Ports that are tried after one that is in use.
const TRIED: u16 = 100;

/// Where to listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// Nowhere.
    None,
    /// At this address.
    At(SocketAddr),
}

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::None);
        }
        let localhost = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        let address = localhost.as_deref().unwrap_or(text).parse();
        address.map(Self::At).map_err(|_| {
            format!("`{text}` is no address to listen at; write it like 127.0.0.1:7373, [::1]:7373 or none")
        })
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::At(address) => address.fmt(f),
        }
    }
}

/// Why the API is not served.
#[derive(Debug, Error)]
pub enum HttpError {
    /// The address cannot be had.
    #[error("cannot listen at {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// It would not be safe, or cannot be done.
    #[error(transparent)]
    Serve(#[from] ServeError),
}

/// A listener that nobody is answered on yet.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    /// The address that was asked for, where it was in use.
    pub in_use: Option<SocketAddr>,
}

/// Listens at an address; where it is in use and `or_next`, at the next free port.
///
/// # Errors
/// Names the address.
pub async fn listen(at: SocketAddr, or_next: bool) -> Result<HttpServer, HttpError> {
    let failed = |source| HttpError::Listen { address: at, source };
    let in_use = match TcpListener::bind(at).await {
        Ok(listener) => return Ok(HttpServer { listener, in_use: None }),
        Err(error) if or_next && error.kind() == io::ErrorKind::AddrInUse => Some(at),
        Err(error) => return Err(failed(error)),
    };
    for step in 1..=TRIED {
        let Some(port) = at.port().checked_add(step) else { break };
        if let Ok(listener) = TcpListener::bind((at.ip(), port)).await {
            return Ok(HttpServer { listener, in_use });
        }
    }
    let any: (IpAddr, u16) = (at.ip(), 0);
    Ok(HttpServer { listener: TcpListener::bind(any).await.map_err(failed)?, in_use })
}

impl HttpServer {
    /// Answers from the rooms, tells their numbers at `/metrics`, and shows pages where they are built in.
    ///
    /// # Errors
    /// When it would not be safe, or cannot be done.
    pub async fn serve(
        self,
        rooms: &HeldRooms,
        examine: Option<Arc<dyn Examine>>,
        mut options: Options,
    ) -> Result<Handle, HttpError> {
        let (durable, coordination) = (Arc::clone(&rooms.durable), Arc::clone(&rooms.coordination));
        let examine = examine.unwrap_or_else(|| Arc::new(HeldExamined((**rooms).clone())));
        let direct = DirectRooms::of(durable, coordination, Arc::clone(&rooms.target));
        let direct = DirectRooms { examine: Some(examine), ..direct };
        let api: Arc<dyn Api> = Arc::new(Direct::new(direct));
        options.extra = options.extra.merge(metrics::router(Arc::clone(&api), Arc::clone(rooms.metrics())));
        options.hearing = Some(web::Hearing(rooms.metrics().http()));
        #[cfg(feature = "ui")]
        let options = with_pages(options, &api);
        let served = Served { api, access: Arc::clone(&rooms.durable) as Arc<dyn durable::Access> };
        Ok(serve(self.listener, served, options).await?)
    }
}

/// With the pages beside the API.
#[cfg(feature = "ui")]
fn with_pages(mut options: Options, api: &Arc<dyn Api>) -> Options {
    options.extra = options.extra.merge(pages::router(Arc::clone(api)));
    options.public.extend(pages::PUBLIC.map(str::to_owned));
    options.problem_page = Some(pages::problem_page);
    options
}

/// Examines the rooms that this process holds, for `doctor`.
struct HeldExamined(AgentRooms);

#[async_trait]
impl Examine for HeldExamined {
    async fn examine(&self) -> Vec<(&'static str, Vec<Finding>)> {
        let row = self.0.durable.pool().await;
        let durable = match &row {
            Ok(row) => Finding::ok("answer", format!("the pool is in epoch {}", row.epoch)),
            Err(fault) => Finding::bad("answer", told(fault)),
        };
        let coordination = match self.0.coordination.pool().await {
            Ok(state) if row.is_ok_and(|row| row.epoch == state.mark.epoch) && state.open => {
                Finding::ok("answer", format!("{} leases, {} reservations", state.leases, state.reservations))
            }
            Ok(state) => Finding::warn("answer", format!("epoch {} is being rebuilt", state.mark.epoch)),
            Err(fault) => Finding::bad("answer", told(&fault)),
        };
        vec![("durable", vec![durable]), ("coordination", vec![coordination])]
    }
}

/// Examines the rooms of an installation, for `doctor`.
pub struct RoomsExamined(pub RoomUrls);

#[async_trait]
impl Examine for RoomsExamined {
    async fn examine(&self) -> Vec<(&'static str, Vec<Finding>)> {
        self.0.doctor().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_and_what_is_none_is_refused_by_name() {
        for text in ["none", "127.0.0.1:7373", "[::1]:1", "0.0.0.0:80"] {
            assert_eq!(text.parse::<Listen>().unwrap().to_string(), text);
        }
        assert_eq!("localhost:5".parse::<Listen>().unwrap().to_string(), "127.0.0.1:5");
        for text in ["", "7373", ":7373", "example.org:80", "127.0.0.1"] {
            assert!(text.parse::<Listen>().unwrap_err().contains("is no address to listen at"), "{text}");
        }
    }

    #[tokio::test]
    async fn an_address_in_use_is_an_error_or_the_next_port_is_taken_and_said() {
        let first = listen("127.0.0.1:0".parse().unwrap(), false).await.unwrap();
        let taken = first.listener.local_addr().unwrap();
        let refused = listen(taken, false).await.unwrap_err();
        assert!(refused.to_string().contains(&taken.to_string()), "{refused}");
        let next = listen(taken, true).await.unwrap();
        assert_eq!(next.in_use, Some(taken));
        assert!(next.listener.local_addr().unwrap().port() != taken.port());
    }
}
