//! A browser of one's own, driven by chromedriver.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine as _;
use fantoccini::wd::{Capabilities, WebDriverCompatibleCommand};
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use testbed::{Folder, Server, free_port};
use url::{ParseError, Url};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// A command of the browser's own protocol.
#[derive(Debug)]
struct Own(&'static str, Value);

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({ "cmd": self.0, "params": self.1 }).to_string()))
    }
}

pub(crate) struct Browser {
    pub(crate) client: Client,
    shots: PathBuf,
    _driver: Server,
    _folder: Folder,
}

fn capabilities(folder: &Folder) -> Capabilities {
    let profile = format!("--user-data-dir={}", folder.path().join("profile").display());
    let words = [
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-extensions",
        "--no-first-run",
        "--hide-scrollbars",
        // The browser ends with whoever holds the other end.
        "--remote-debugging-pipe",
        "--window-size=1280,900",
        profile.as_str(),
    ];
    let options = json!({ "args": words, "binary": "/usr/bin/chromium" });
    let all = json!({ "goog:chromeOptions": options, "unhandledPromptBehavior": "ignore" });
    serde_json::from_value(all).unwrap()
}

impl Browser {
    pub(crate) async fn start() -> Self {
        let folder = Folder::new("browser");
        let port = free_port();
        let words = vec!["chromedriver".to_owned(), format!("--port={port}")];
        let driver = Server::start(words, folder.path().join("log"));
        let address = format!("http://127.0.0.1:{port}");
        let client = tokio::time::timeout(PATIENCE, async {
            loop {
                let mut builder = ClientBuilder::new(HttpConnector::new());
                match builder.capabilities(capabilities(&folder)).connect(&address).await {
                    Ok(client) => break client,
                    Err(
                        fantoccini::error::NewSessionError::Lost(_)
                        | fantoccini::error::NewSessionError::Failed(_)
                        | fantoccini::error::NewSessionError::FailedC(_),
                    ) => {
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                    Err(error) => panic!("no browser: {error}: {}", driver.log()),
                }
            }
        });
        let client = client.await.unwrap_or_else(|_| panic!("no browser in time: {}", driver.log()));
        let shots = std::env::var_os("REMORA_SCREENSHOTS").map_or_else(default_shots, PathBuf::from);
        fs::create_dir_all(&shots).unwrap();
        let browser = Self { client, shots, _driver: driver, _folder: folder };
        let watch = "window.broken = []; addEventListener('securitypolicyviolation', (event) => \
                     broken.push(`${event.violatedDirective} ${event.blockedURI}`)); \
                     addEventListener('error', (event) => broken.push(String(event.message)));";
        browser.own("Page.addScriptToEvaluateOnNewDocument", json!({ "source": watch })).await;
        browser
    }

    /// Asks the browser in its own protocol.
    pub(crate) async fn own(&self, command: &'static str, params: Value) -> Value {
        self.client.issue_cmd(Own(command, params)).await.unwrap()
    }

    pub(crate) async fn open(&self, url: &str) {
        self.client.goto(url).await.unwrap();
    }

    pub(crate) async fn is_dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.own("Emulation.setEmulatedMedia", json!({ "features": features })).await;
    }

    pub(crate) async fn width(&self, width: u32, height: u32) {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600
        });
        self.own("Emulation.setDeviceMetricsOverride", metrics).await;
    }

    pub(crate) async fn text(&self, css: &str) -> String {
        self.client
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::Css(css))
            .await
            .unwrap()
            .text()
            .await
            .unwrap()
    }

    pub(crate) async fn click(&self, css: &str) {
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await;
        found.unwrap_or_else(|error| panic!("no {css}: {error}")).click().await.unwrap();
    }

    pub(crate) async fn ask(&self, script: &str) -> Value {
        self.client.execute(script, vec![]).await.unwrap()
    }

    /// Waits until a script says true.
    pub(crate) async fn until(&self, condition: &str) {
        let script = format!("return Boolean({condition})");
        let comes = async {
            // While a page goes away there is nobody to ask.
            while self.client.execute(&script, vec![]).await.ok() != Some(Value::Bool(true)) {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        if tokio::time::timeout(PATIENCE, comes).await.is_err() {
            let page = self.ask("return location.href + '\\n' + document.body.innerText").await;
            panic!("`{condition}` did not come true; the page is {page}");
        }
    }

    /// That nothing was refused by the page's policy, failed, or asked for what a job wrote.
    pub(crate) async fn is_sound(&self) {
        assert_eq!(
            self.ask("return window.broken").await,
            json!([]),
            "at {}",
            self.client.current_url().await.unwrap()
        );
        let asked = "return performance.getEntriesByType('resource').map((one) => one.name).filter((name) => name.endsWith('/x'))";
        assert_eq!(self.ask(asked).await, json!([]));
        assert_eq!(
            self.ask("return document.querySelectorAll('img[src=x], [onerror]').length").await,
            json!(0)
        );
        assert_eq!(
            self.ask("return document.querySelectorAll('a[href^=\"javascript\"]').length").await,
            json!(0)
        );
        assert!(self.client.get_alert_text().await.is_err(), "a dialog is open");
    }

    /// That nothing must be scrolled sideways.
    pub(crate) async fn fits(&self) {
        let over = self
            .ask("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            .await;
        let wide = "return [...document.querySelectorAll('main *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1 && !one.closest('pre')).map((one) => one.outerHTML.slice(0, 120)).slice(0, 3)";
        assert_eq!(over, json!(0), "{}: {}", self.client.current_url().await.unwrap(), self.ask(wide).await);
    }

    /// Keeps a picture of the whole page.
    pub(crate) async fn shoot(&self, name: &str) {
        let size = self.own("Page.getLayoutMetrics", json!({})).await["cssContentSize"].clone();
        let clip = json!({ "x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1 });
        let all = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        let shot = self.own("Page.captureScreenshot", all).await;
        let bytes = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        assert!(bytes.len() > 1_000);
        fs::write(self.shots.join(format!("{name}.png")), bytes).unwrap();
    }
}

fn default_shots() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")), PathBuf::from);
    target.join("pages-screenshots")
}
