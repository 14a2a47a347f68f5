//! An S3 server over a folder, which keeps its data through `kill -9`: `remora-testbed-s3 PORT FOLDER [BUCKET …]`.

use remora_testbed::s3::{self, Store};

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(port), Some(folder)) = (words.next(), words.next()) else {
        return Err(std::io::Error::other("usage: remora-testbed-s3 PORT FOLDER [BUCKET …]"));
    };
    let port = port.parse().map_err(std::io::Error::other)?;
    let store = Store::open(folder.as_ref(), words)?;
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
        s3::serve(store, listener).await
    })
}
