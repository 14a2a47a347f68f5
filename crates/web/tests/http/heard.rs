//! Whoever counts requests hears of each, under names that are bounded.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::routing::get;
use remora_web::{Hearing, Options};
use reqwest::Method;

use crate::help::Site;

#[tokio::test]
async fn each_answer_is_heard_under_its_routes_template_and_what_the_document_does_not_name_as_other() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keep = Arc::clone(&heard);
    let hearing = Hearing(Arc::new(move |route, method, status, _| {
        keep.lock().unwrap().push((route.to_owned(), method, status));
    }));
    let extra = Router::new().route("/pages/{name}", get(|| async { "page" }));
    let site = Site::with(Options { hearing: Some(hearing), extra, ..Options::default() }).await;
    let job = site.place.submit("k").await;
    site.get(&format!("/v1/jobs/{job}")).await;
    site.get("/v1/jobs/none").await;
    site.get(&format!("/v1/jobs/{job}/result/files/some/file")).await;
    site.get("/pages/one").await;
    site.get("/wp-admin/setup.php").await;
    site.request(Method::DELETE, "/v1/overview").send().await.unwrap();
    site.request(Method::from_bytes(b"BREW").unwrap(), "/v1/overview").send().await.unwrap();
    let heard = heard.lock().unwrap();
    let names: Vec<_> = heard.iter().map(|(route, method, _)| (route.as_str(), *method)).collect();
    assert_eq!(
        names,
        [
            ("/v1/jobs/{job}", "GET"),
            ("/v1/jobs/{job}", "GET"),
            ("/v1/jobs/{job}/result/files/{path}", "GET"),
            ("(other)", "GET"),
            ("(other)", "GET"),
            ("/v1/overview", "DELETE"),
            ("/v1/overview", "other"),
        ]
    );
    assert_eq!((heard[0].2, heard[3].2, heard[4].2), (200, 200, 404));
}
