//! The walks, each from a fresh world.

use api::v1::{Scope, TokenRequest};
use fantoccini::Locator;
use fantoccini::key::Key;
use serde_json::json;
use web::{Options, make_token};

use super::browser::Browser;
use super::world::{World, open};

pub(crate) async fn within_three_clicks_everything_is_found(world: &World, browser: &Browser) {
    browser.open(&world.url("/")).await;
    assert!(browser.text("#oldest").await.contains("backup.sh"));
    browser.click("#why-oldest").await;
    browser.until("document.querySelector('h1').innerText.includes('backup.sh')").await;
    let why = browser.text("#why").await;
    assert!(why.contains("2 of 2") || why.contains("limit"), "{why}");
    browser.is_sound().await;

    browser.open(&world.url("/")).await;
    browser.click("nav a[href='/jobs']").await;
    browser.until("location.pathname === '/jobs'").await;
    browser.click(&format!("a.jobname[href='/jobs/{}']", world.fenced)).await;
    browser.until("document.querySelector('.fencedby')").await;
    let ledger = browser.text("#attempt-1").await;
    assert!(ledger.contains("fenced by attempt 2") && ledger.contains("lost"), "{ledger}");
    let second = browser.text("#attempt-2").await;
    assert!(second.contains("bert") && second.contains("checkpoint"), "{second}");
    browser.is_sound().await;

    browser.open(&world.url("/")).await;
    browser.click("a.tile.succeeded").await;
    browser.until("location.search === '?phase=succeeded'").await;
    browser.click(&format!("a.jobname[href='/jobs/{}']", world.succeeded)).await;
    browser.until("document.querySelector('#result')").await;
    browser.click("#result a[href$='/film.txt']").await;
    browser.until("document.querySelector('pre.log')").await;
    assert!(browser.text("pre.log").await.starts_with("frame 1"));
    browser.is_sound().await;
}

/// Presses a key wherever the focus is.
async fn press(browser: &Browser, keys: &str) {
    browser.client.active_element().await.unwrap().send_keys(keys).await.unwrap();
}

/// Goes on with the tabulator until what has the focus is what is looked for.
async fn tab_to(browser: &Browser, css: &str) {
    for _ in 0..80 {
        press(browser, &Key::Tab.to_string()).await;
        if browser.ask(&format!("return document.activeElement.matches(`{css}`)")).await == json!(true) {
            let seen = "return getComputedStyle(document.activeElement).outlineStyle !== 'none' || \
                        getComputedStyle(document.activeElement.nextElementSibling).outlineStyle !== 'none'";
            assert_eq!(browser.ask(seen).await, json!(true), "the focus on {css} is not seen");
            return;
        }
    }
    panic!("{css} is not reached by the tabulator");
}

pub(crate) async fn everything_is_reached_by_keyboard(world: &World, browser: &Browser) {
    let enter = Key::Enter.to_string();
    browser.open(&world.url("/")).await;
    tab_to(browser, ".skip").await;
    press(browser, &enter).await;
    browser.until("location.hash === '#main'").await;
    tab_to(browser, "#why-oldest").await;
    press(browser, &enter).await;
    browser.until("location.hash === '#why'").await;
    browser.open(&world.url("/jobs")).await;
    tab_to(browser, "#text").await;
    press(browser, &format!("backup{enter}")).await;
    browser.until("location.search.startsWith('?text=backup')").await;
    tab_to(browser, "input[name=job]").await;
    press(browser, " ").await;
    browser.until("document.querySelector('#chosen').textContent === '1 chosen'").await;
    browser.client.find(Locator::Css("#text")).await.unwrap().click().await.unwrap();
    tab_to(browser, "#bulk-cancel").await;
    press(browser, &enter).await;
    browser.until("location.pathname === '/jobs/cancel'").await;
    assert!(browser.text("main").await.contains("1 job: all done."));
    browser.open(&world.url(&format!("/jobs/{}", world.waiting))).await;
    assert!(browser.text("#state").await.contains("cancelled"));
}

pub(crate) async fn pages_are_live_and_change_what_they_say(world: &World, browser: &Browser) {
    let job = world.running.job;
    browser.open(&world.url(&format!("/jobs/{job}"))).await;
    assert!(browser.text("#state").await.contains("1,204 of 7,200"));
    browser.until("document.querySelector('#live').textContent === 'live'").await;
    browser.until("document.querySelector('#logtext').textContent.includes('frame 1204')").await;
    world.go_on(3_600, "pass 2").await;
    browser.until("document.querySelector('#state').innerText.includes('3,600 of 7,200 (50 %)')").await;
    world.place.write_log(&world.running, "frame 3600 fps 30\n").await;
    browser.until("document.querySelector('#logtext').textContent.includes('frame 3600')").await;
    browser.click("#actions .danger").await;
    browser.until("document.querySelector('.notice.good')").await;
    assert!(browser.text("#state").await.contains("cancelling"));
    browser.is_sound().await;

    browser.open(&world.url("/queues")).await;
    browser.click("form[action='/queues/pause'] button").await;
    browser.until("document.querySelector('form[action=\"/queues/resume\"]')").await;
    browser.open(&world.url("/")).await;
    assert!(browser.text("#notices").await.contains("Paused"));
    browser.open(&world.url("/limits")).await;
    let field = browser.client.find(Locator::Css("#global")).await.unwrap();
    field.clear().await.unwrap();
    field.send_keys("9").await.unwrap();
    browser.click("form[action='/limits'] button").await;
    browser.until("location.search === '?saved=1'").await;
    assert!(browser.text("#pool").await.contains("of 9 in use"));
    browser.open(&world.url(&format!("/jobs/{}", world.failed))).await;
    browser.click("#actions button").await;
    browser.until("location.search === '?did=repeated'").await;
    assert!(browser.text("main").await.contains("This new job repeats the other one."));
}

pub(crate) async fn pages_work_without_scripts(world: &World, browser: &Browser) {
    browser.own("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    browser.open(&world.url("/jobs")).await;
    browser.click(&format!("input[value='{}']", world.waiting)).await;
    browser.click("#bulk-cancel").await;
    assert!(browser.text(".badge.succeeded").await.contains("done"));
    browser.open(&world.url(&format!("/jobs/{}", world.running.job))).await;
    assert!(browser.text("#logtext").await.contains("frame 1204"));
    browser.click("#actions .danger").await;
    assert!(browser.text(".notice.good").await.contains("The cancel was taken."));
}

pub(crate) async fn every_page_is_shown_light_dark_and_on_a_phone(world: &World, browser: &Browser) {
    let job = |job| format!("/jobs/{job}");
    let pages = [
        ("overview", "/".to_owned()),
        ("jobs", "/jobs".to_owned()),
        ("jobs-filtered", "/jobs?phase=failed&kind=exec".to_owned()),
        ("jobs-nothing", "/jobs?text=nowhere".to_owned()),
        ("job-waiting", job(world.waiting)),
        ("job-running", job(world.running.job)),
        ("job-fenced", job(world.fenced)),
        ("job-failed", job(world.failed)),
        ("job-succeeded", job(world.succeeded)),
        ("job-odd", job(world.odd)),
        ("file-text", format!("/jobs/{}/files/film.txt", world.succeeded)),
        ("file-picture", format!("/jobs/{}/files/dot.png", world.succeeded)),
        ("file-odd", format!("/jobs/{}/files/%22%3E%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", world.odd)),
        ("workers", "/workers".to_owned()),
        ("queues", "/queues".to_owned()),
        ("limits", "/limits".to_owned()),
        ("login", "/login?failed=1".to_owned()),
        ("nothing", "/nonsense".to_owned()),
    ];
    for (kind, dark, width, height) in
        [("light", false, 1_280, 900), ("dark", true, 1_280, 900), ("phone", false, 360, 740)]
    {
        browser.is_dark(dark).await;
        browser.width(width, height).await;
        for (name, path) in &pages {
            browser.open(&world.url(path)).await;
            browser.until("document.querySelector('h1') && [...document.images].every((one) => one.complete && one.naturalWidth > 0)").await;
            browser.fits().await;
            browser.is_sound().await;
            browser.shoot(&format!("{kind}-{name}")).await;
        }
    }
    let paper = "return getComputedStyle(document.body).backgroundColor";
    let light = browser.ask(paper).await;
    browser.is_dark(true).await;
    assert!(light != browser.ask(paper).await, "dark is as light");
}

pub(crate) async fn whoever_comes_without_a_session_logs_in(world: &World, browser: &Browser) {
    let asked = TokenRequest { name: "olga".to_owned(), scopes: vec![Scope::Read], lasts_ms: None };
    let made = make_token(world.place.durable.as_ref(), asked).await.unwrap().unwrap();
    let handle = open(&world.place, Options::default()).await;
    let url = |path: &str| format!("{}{path}", handle.url());
    browser.open(&url("/queues?x=1")).await;
    browser.until("location.pathname === '/login'").await;
    let enter = async |text: &str| {
        let field = browser.client.find(Locator::Css("#token")).await.unwrap();
        field.send_keys(text).await.unwrap();
        browser.click("form[action='/login'] button").await;
    };
    enter("remora_wrong").await;
    browser.until("location.search === '?failed=1'").await;
    assert!(browser.text("[role=alert]").await.contains("not known"));
    browser.open(&url("/queues?x=1")).await;
    browser.until("location.pathname === '/login'").await;
    enter(&made.token).await;
    browser.until("location.pathname === '/queues'").await;
    assert!(browser.text(".who").await.contains("olga"));
    assert_eq!(browser.ask("return document.querySelectorAll('main form').length").await, json!(0));
    browser.open(&url("/nonsense")).await;
    assert!(browser.text("h1").await.contains("Nothing here"));
    browser.shoot("light-nothing-for-olga").await;
    browser.is_sound().await;
    handle.shutdown().await;
}
