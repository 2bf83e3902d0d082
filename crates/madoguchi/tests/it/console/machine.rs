//! The page about health says what `madoguchi doctor` says.

use serde_json::Value;

use super::visitor::{HTML, Visitor, between};
use crate::harness::{
    Desk, mentions,
    tls::{self, AUTHORITY},
};

/// What `doctor` finds, as a page shows it.
fn found(desk: &Desk) -> Vec<(String, String)> {
    let config = desk.config();
    let port = desk.port.to_string();
    let doctor = ["doctor", "--json", "--config", config.to_str().unwrap()];
    let environment = [("MADOGUCHI_HTTP__PORT", port.as_str())];
    let report = desk.place.run_with(&doctor, &environment).json();
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |finding: &Value, name: &str| {
        let text = finding[name].as_str().unwrap();
        text.replace('&', "&amp;").replace('"', "&quot;")
    };
    let findings = findings.map(|it| (text(it, "what"), text(it, "message")));
    findings.collect()
}

fn message<'f>(findings: &'f [(String, String)], what: &str) -> &'f str {
    let found = findings.iter().find(|(name, _)| name == what);
    &found
        .unwrap_or_else(|| panic!("no {what} in {findings:?}"))
        .1
}

#[tokio::test]
async fn health_tells_of_the_data_the_disk_and_the_ports() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    let page = visitor.page("/console/health").await.text();
    let findings = found(&desk);
    let port = format!("127.0.0.1:{} is served by a desk", desk.port);
    assert_eq!(message(&findings, "port"), port);
    mentions(&page, &[message(&findings, "data"), &port, "switched off"]);
    assert!(message(&findings, "disk").contains(" free; the audit trail takes "));
    mentions(&page, &[" free; the audit trail takes "]);
    assert!(!page.contains(">tls<"), "{page}");
    assert!(!page.contains(">Trouble<"), "{page}");
    // What is wrong is said there too.
    let data = desk.place.data();
    std::fs::rename(&data, desk.place.path().join("away")).unwrap();
    std::fs::write(&data, "in the way").unwrap();
    let page = visitor.page("/console/health").await.text();
    mentions(&page, &[">Trouble<", "there is a file of that name"]);
}

#[tokio::test]
async fn health_tells_when_the_certificate_ends() {
    let (desk, authority) = tls::start("").await;
    assert!(desk.place.path().join(AUTHORITY).exists());
    let link = desk.console_link();
    let (_, token) = link.split_once("token=").unwrap();
    let origin = format!("https://127.0.0.1:{}", desk.port);
    let form = ("content-type", "application/x-www-form-urlencoded");
    let headers = [HTML, form, ("origin", origin.as_str())];
    let body = format!("token={token}");
    let entered = authority.request(desk.port, "POST", "/console/open", &headers, body);
    let entered = entered.await;
    let cookie = entered.header("set-cookie").unwrap();
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let text = entered.text();
    let token = between(&text, "data-form=\"", "\"");
    let headers = [HTML, ("cookie", &*cookie), ("x-console-form", token)];
    let page = authority.request(desk.port, "GET", "/console/health", &headers, String::new());
    let page = page.await.text();
    let findings = found(&desk);
    let certificate = message(&findings, "tls");
    assert!(certificate.contains(", ends on "), "{certificate}");
    mentions(&page, &[certificate]);
}
