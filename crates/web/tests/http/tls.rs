//! TLS, in front of everything.

use api::Api as _;
use api::http::{Http, HttpOptions};
use durable::Scope;
use reqwest::Method;
use web::{Options, ServeError, TlsFiles, serve};

use crate::help::{Site, client, loopback, served};

fn files(folder: &std::path::Path) -> (TlsFiles, String) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let files = TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("key.pem") };
    let pem = made.cert.pem();
    std::fs::write(&files.certificate, &pem).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    (files, pem)
}

#[tokio::test]
async fn a_server_with_a_certificate_speaks_tls_only_and_its_cookie_is_secure() {
    let site = Site::open().await;
    let (files, pem) = files(site.place.folder());
    let options = Options { tls: Some(files), ..Options::default() };
    let handle = serve(loopback().await, served(&site.place), options).await.unwrap();
    assert!(handle.url().starts_with("https://127.0.0.1:"));
    let (_, secret) = site.token(&[Scope::Read]).await;
    let http = HttpOptions {
        token: Some(secret.clone()),
        roots: Some(pem.clone().into_bytes()),
        ..HttpOptions::new(handle.url())
    };
    assert!(Http::new(http).unwrap().pool().await.is_ok());
    let untrusting =
        Http::new(HttpOptions { token: Some(secret.clone()), ..HttpOptions::new(handle.url()) }).unwrap();
    let refused = untrusting.pool().await.err().unwrap();
    assert!(refused.detail.contains("certificate") && !refused.detail.contains(&secret), "{refused}");
    let plain = client().get(format!("http://{}/healthz", handle.address())).send().await;
    assert!(plain.is_err(), "no plain text");
    let root = reqwest::Certificate::from_pem(pem.as_bytes()).unwrap();
    let trusting = reqwest::Client::builder().add_root_certificate(root).build().unwrap();
    let login = trusting.request(Method::POST, format!("{}/login", handle.url()));
    let login = login.header("content-type", "application/json").body(format!(r#"{{"token":"{secret}"}}"#));
    let answer = login.send().await.unwrap();
    assert_eq!(answer.status(), 204);
    assert!(answer.headers()["set-cookie"].to_str().unwrap().ends_with("; Secure"));
}

#[tokio::test]
async fn files_that_are_no_certificate_are_named() {
    let site = Site::open().await;
    let (good, _) = files(site.place.folder());
    let empty = site.place.folder().join("empty.pem");
    std::fs::write(&empty, "").unwrap();
    let wrong = [
        (TlsFiles { certificate: "/nowhere.pem".into(), ..good.clone() }, "/nowhere.pem"),
        (TlsFiles { certificate: empty.clone(), ..good.clone() }, "there is no certificate in"),
        (TlsFiles { key: empty, ..good }, "cannot read a key from"),
    ];
    for (tls, text) in wrong {
        let options = Options { tls: Some(tls), ..Options::default() };
        let refused = serve(loopback().await, served(&site.place), options).await.unwrap_err();
        assert!(matches!(refused, ServeError::Tls(_)) && refused.to_string().contains(text), "{refused}");
    }
}
