//! Pages in a real browser, over real rooms: what an operator looks for is found, by mouse, by keyboard and on a phone.

#![expect(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod browser;
mod walks;
mod world;

use std::panic::{AssertUnwindSafe, resume_unwind};

use browser::Browser;
use futures_util::FutureExt as _;
use world::World;

/// Walks through a prepared world, and ends the browser however that ends.
fn walk(steps: impl AsyncFnOnce(&World, &Browser)) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let world = World::prepare().await;
        let browser = Browser::start().await;
        let walked = AssertUnwindSafe(steps(&world, &browser)).catch_unwind().await;
        browser.client.clone().close().await.unwrap();
        world.handle.shutdown().await;
        if let Err(panic) = walked {
            resume_unwind(panic);
        }
    });
}

macro_rules! walks {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            walk(walks::$name);
        }
    )* };
}

walks! {
    within_three_clicks_everything_is_found
    everything_is_reached_by_keyboard
    pages_are_live_and_change_what_they_say
    pages_work_without_scripts
    every_page_is_shown_light_dark_and_on_a_phone
    whoever_comes_without_a_session_logs_in
}
