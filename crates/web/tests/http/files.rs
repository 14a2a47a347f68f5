//! Results by range, with what a reader needs to trust them.

use base64::Engine as _;
use reqwest::{Method, Response};

use crate::help::{Site, code};

const NAME: &str = "\"><img src=x onerror=alert(1)>é.html";

async fn published(site: &Site) -> String {
    let job = site.place.submit("k").await;
    let stage = site.place.claim(job).await;
    site.place.publish(&stage, &[("lines", b"0123456789"), (NAME, b"<script>alert(1)</script>")]).await;
    format!("/v1/jobs/{job}/result/files/lines")
}

async fn ranged(site: &Site, path: &str, headers: &[(&str, &str)]) -> Response {
    let request = site.request(Method::GET, path);
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send().await.unwrap()
}

#[tokio::test]
async fn a_file_comes_whole_or_by_one_range_with_its_digest() {
    let site = Site::open().await;
    let path = published(&site).await;
    let whole = site.get(&path).await;
    let digest = blake3::hash(b"0123456789");
    let tag = format!("\"blake3-{digest}\"");
    let encoded = base64::engine::general_purpose::STANDARD.encode(digest.as_bytes());
    let headers = whole.headers().clone();
    assert_eq!((whole.status().as_u16(), whole.text().await.unwrap().as_str()), (200, "0123456789"));
    assert_eq!((&headers["etag"], &headers["accept-ranges"]), (&*tag, "bytes"));
    assert_eq!(headers["repr-digest"], format!("blake3=:{encoded}:"));
    assert_eq!((&headers["content-type"], &headers["content-length"]), ("application/octet-stream", "10"));
    for (range, condition, status, text) in [
        ("bytes=2-4", None, 206, "234"),
        ("bytes=-3", None, 206, "789"),
        ("bytes=8-", None, 206, "89"),
        ("bytes=0-99", None, 206, "0123456789"),
        ("bytes=2-4", Some(&*tag), 206, "234"),
        ("bytes=2-4", Some("\"other\""), 200, "0123456789"),
        ("bytes=4-2", None, 200, "0123456789"),
        ("pages=1", None, 200, "0123456789"),
    ] {
        let mut headers = vec![("range", range)];
        headers.extend(condition.map(|tag| ("if-range", tag)));
        let answer = ranged(&site, &path, &headers).await;
        assert_eq!(answer.status().as_u16(), status, "{range}");
        if status == 206 {
            assert!(answer.headers()["content-range"].to_str().unwrap().ends_with("/10"));
        }
        assert_eq!(answer.text().await.unwrap(), text, "{range}");
    }
    for range in ["bytes=10-", "bytes=0-1,4-5", "bytes=-0"] {
        let answer = ranged(&site, &path, &[("range", range)]).await;
        assert_eq!(answer.headers()["content-range"], "bytes */10", "{range}");
        assert_eq!(code(answer).await, (416, "invalid".into()), "{range}");
    }
    let known = ranged(&site, &path, &[("if-none-match", &tag)]).await;
    assert_eq!((known.status().as_u16(), known.text().await.unwrap().as_str()), (304, ""));
}

#[tokio::test]
async fn head_tells_the_length_and_no_more() {
    let site = Site::open().await;
    let path = published(&site).await;
    let head = site.request(Method::HEAD, &path).send().await.unwrap();
    assert_eq!((head.status().as_u16(), &head.headers()["content-length"]), (200, &"10".parse().unwrap()));
    assert!(head.bytes().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_file_that_a_job_named_is_saved_and_never_shown() {
    let site = Site::open().await;
    let path =
        published(&site).await.replace("lines", "%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%C3%A9.html");
    let answer = site.get(&path).await;
    assert_eq!(answer.status(), 200);
    let headers = answer.headers();
    let disposition = headers["content-disposition"].to_str().unwrap();
    assert!(disposition.starts_with("attachment; filename=\""), "{disposition}");
    assert!(
        disposition
            .ends_with("filename*=UTF-8''%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert%281%29%3E%C3%A9.html")
    );
    assert_eq!(
        (&headers["content-type"], &headers["x-content-type-options"]),
        ("application/octet-stream", "nosniff")
    );
    assert!(headers["content-security-policy"].to_str().unwrap().contains("default-src 'none'"));
}
