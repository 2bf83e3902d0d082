//! What people do in Chromium, done in Firefox.

use super::{counter_pages, pages, shop_and_calendar};
use crate::harness::{clients::Browser, skipped};

const FIREFOX: Browser = Browser::Firefox;

fn is_here() -> bool {
    let is_here = FIREFOX.is_here();
    if !is_here {
        skipped("the console in Firefox: this system has no package of it");
    }
    is_here
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_decide_in_firefox() {
    if is_here() {
        super::in_a_browser(FIREFOX, "deciding").await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn concurrent_decisions_are_shown_in_firefox() {
    if is_here() {
        super::in_a_browser(FIREFOX, "meeting").await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_read_in_firefox() {
    if is_here() {
        super::in_a_browser(FIREFOX, "reading").await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_use_the_pages_in_firefox() {
    if is_here() {
        pages::in_a_browser(FIREFOX, "using").await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_talk_with_agents_in_firefox() {
    if is_here() {
        counter_pages::in_a_browser(FIREFOX, "talking").await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_plan_with_agents_in_firefox() {
    if is_here() {
        counter_pages::in_a_browser(FIREFOX, "planning").await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn people_use_the_shop_and_the_calendar_in_firefox() {
    if is_here() {
        shop_and_calendar::in_a_browser(FIREFOX, "using").await;
    }
}
