//! Serving a [`Store`] over HTTP.

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use tokio::net::TcpListener;

use super::{ACCESS_KEY, BUCKET, SECRET_KEY, Store};
use crate::Folder;

/// Answers for ever.
///
/// # Errors
/// When no more connections can be accepted.
pub async fn serve(store: Store, listener: TcpListener) -> std::io::Result<()> {
    let mut builder = S3ServiceBuilder::new(store);
    builder.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
    let service = builder.build();
    loop {
        let (socket, _) = listener.accept().await?;
        let service = service.clone();
        tokio::spawn(async move {
            // A peer that went away is its own affair.
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await;
        });
    }
}

/// A server inside of this process, on threads of its own; ends with the value, and its folder goes.
#[derive(Debug)]
pub struct InProcess {
    runtime: Option<tokio::runtime::Runtime>,
    port: u16,
    folder: Folder,
}

impl InProcess {
    /// Starts one with an empty bucket.
    ///
    /// # Panics
    /// When there is no folder or no port to be had.
    #[must_use]
    pub fn start() -> Self {
        let folder = Folder::new("s3");
        let store = Store::open(folder.path(), [BUCKET.to_owned()]).unwrap();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        // Not asked of the runtime: it may be started inside of another, where waiting is forbidden.
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        runtime.spawn(async move { serve(store, TcpListener::from_std(listener).unwrap()).await });
        Self { runtime: Some(runtime), port, folder }
    }

    /// Where it answers: `http://127.0.0.1:<port>`.
    #[must_use]
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it keeps its data.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        // It may be dropped inside of another runtime, where waiting is forbidden.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
