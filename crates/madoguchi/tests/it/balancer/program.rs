//! The load balancers that `scripts/test` installs.

use std::{
    fs,
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use store::testing::free_port;

use crate::harness::{Place, try_request};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    HaProxy,
    Caddy,
}

/// Ended when it goes out of scope.
pub struct Balancer {
    pub port: u16,
    child: Child,
    _place: Place,
}

impl Balancer {
    /// With the example's configuration, but the addresses of the test.
    pub async fn start(kind: Kind, desks: [u16; 2]) -> Self {
        let (name, program, listens) = match kind {
            Kind::HaProxy => (
                "haproxy.cfg",
                // Not in the PATH of every user.
                "/usr/sbin/haproxy",
                ("bind *:8080", "bind 127.0.0.1:PORT"),
            ),
            Kind::Caddy => (
                "Caddyfile",
                "caddy",
                ("desk.example.com {", "http://:PORT {\n\tbind 127.0.0.1"),
            ),
        };
        let port = free_port();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples");
        let mut config = fs::read_to_string(example.join(name)).unwrap();
        for (shown, real) in [
            (listens.0, listens.1.replace("PORT", &port.to_string())),
            ("10.0.0.11:8010", format!("127.0.0.1:{}", desks[0])),
            ("10.0.0.12:8010", format!("127.0.0.1:{}", desks[1])),
        ] {
            assert!(config.contains(shown), "{name} has no {shown}");
            config = config.replace(shown, &real);
        }
        let place = Place::new();
        let path = place.file(name, &config);
        let path = path.to_str().unwrap();
        let mut command = std::process::Command::new(program);
        place.enter(&mut command);
        match kind {
            Kind::HaProxy => command.args(["-db", "-f", path]),
            Kind::Caddy => command.args(["run", "--adapter", "caddyfile", "--config", path]),
        };
        let log = fs::File::create(place.path().join("log")).unwrap();
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap_or_else(|error| panic!("{program}: {error}; scripts/test installs it"));
        let mut balancer = Self {
            port,
            child,
            _place: place.clone(),
        };
        let began = Instant::now();
        loop {
            let answer = try_request(port, "GET", "/readyz", &[], "").await;
            if answer.is_ok_and(|answer| answer.status == 200) {
                return balancer;
            }
            let has_ended = balancer.child.try_wait().unwrap().is_some();
            if has_ended || began.elapsed() > Duration::from_secs(20) {
                let log = fs::read_to_string(place.path().join("log")).unwrap();
                panic!("{program} did not start:\n{log}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
