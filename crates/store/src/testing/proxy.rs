//! A TCP proxy that makes things go wrong between a program and its PostgreSQL.

use std::{
    io::{Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

/// How often a connection looks whether it may go on.
const LOOK: Duration = Duration::from_millis(5);

/// Stops when it goes out of scope.
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

/// Where a connection breaks, once it sends COMMIT.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitFault {
    /// The server never gets it.
    BeforeServer,
    /// The server commits, and the answer is lost.
    AfterServer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Pass,
    /// Nothing arrives, and nobody is told: as on a network that drops packets.
    Hold,
    /// Connections end at once.
    Refuse,
}

struct Shared(Mutex<State>);

struct State {
    mode: Mode,
    delay: Duration,
    target: SocketAddr,
    fault: Option<CommitFault>,
    faults_met: usize,
    links: Vec<Arc<Link>>,
    stopped: bool,
}

/// A connection: both of its sockets.
struct Link {
    client: TcpStream,
    server: TcpStream,
    held: Mutex<bool>,
}

impl Link {
    fn cut(&self) {
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
        // What was held goes nowhere now.
        self.set_held(false);
    }

    fn set_held(&self, held: bool) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = held;
    }

    fn is_held(&self) -> bool {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Proxy {
    /// Passes connections on to this port of this machine.
    pub fn start(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let own = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared(Mutex::new(State {
            mode: Mode::Pass,
            delay: Duration::ZERO,
            target: SocketAddr::from(([127, 0, 0, 1], port)),
            fault: None,
            faults_met: 0,
            links: Vec::new(),
            stopped: false,
        })));
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &accepting));
        Self { port: own, shared }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Nothing arrives any more, on no connection, and nobody is told.
    pub fn hold(&self) {
        self.shared.lock().mode = Mode::Hold;
    }

    /// The same for the connections that exist. New ones work.
    pub fn hold_existing(&self) {
        for link in &self.shared.lock().links {
            link.set_held(true);
        }
    }

    /// Ends all connections, and every new one at once.
    pub fn refuse(&self) {
        self.shared.lock().mode = Mode::Refuse;
        self.cut();
    }

    /// Everything arrives again. Held connections go on where they were.
    pub fn pass(&self) {
        let mut state = self.shared.lock();
        state.mode = Mode::Pass;
        for link in &state.links {
            link.set_held(false);
        }
    }

    /// Ends all connections.
    pub fn cut(&self) {
        for link in self.shared.lock().links.drain(..) {
            link.cut();
        }
    }

    /// Delays what is sent, in both directions.
    pub fn delay(&self, delay: Duration) {
        self.shared.lock().delay = delay;
    }

    /// New connections go to this port.
    pub fn target(&self, port: u16) {
        self.shared.lock().target.set_port(port);
    }

    /// Breaks the next connection that sends COMMIT.
    pub fn break_next_commit(&self, fault: CommitFault) {
        self.shared.lock().fault = Some(fault);
    }

    /// How many connections were broken that way.
    pub fn broken_commits(&self) -> usize {
        self.shared.lock().faults_met
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.cut();
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for client in listener.incoming() {
        let (stopped, mode, target) = {
            let state = shared.lock();
            (state.stopped, state.mode, state.target)
        };
        if stopped {
            return;
        }
        let Ok(client) = client else { continue };
        if mode == Mode::Refuse {
            continue;
        }
        let Ok(server) = TcpStream::connect(target) else {
            continue;
        };
        let _ = client.set_nodelay(true);
        let _ = server.set_nodelay(true);
        let link = Arc::new(Link {
            client,
            server,
            held: Mutex::new(false),
        });
        shared.lock().links.push(Arc::clone(&link));
        for to_server in [true, false] {
            let (link, shared) = (Arc::clone(&link), Arc::clone(shared));
            thread::spawn(move || {
                let _ = pump(&link, &shared, to_server);
                link.cut();
                shared
                    .lock()
                    .links
                    .retain(|other| !Arc::ptr_eq(other, &link));
            });
        }
    }
}

/// Passes on what one side sends, until it ends.
fn pump(link: &Link, shared: &Shared, to_server: bool) -> std::io::Result<()> {
    let (mut from, mut to) = match to_server {
        true => (&link.client, &link.server),
        false => (&link.server, &link.client),
    };
    let mut buffer = [0; 64 * 1024];
    // The answer to a COMMIT that is to be lost.
    let mut awaited = false;
    loop {
        let length = from.read(&mut buffer)?;
        let Some(bytes) = buffer.get(..length).filter(|bytes| !bytes.is_empty()) else {
            return Ok(());
        };
        while shared.lock().mode == Mode::Hold || link.is_held() {
            thread::sleep(LOOK);
        }
        let delay = shared.lock().delay;
        if !delay.is_zero() {
            thread::sleep(delay);
        }
        if to_server && bytes.ends_with(b"COMMIT\0") {
            let mut state = shared.lock();
            match state.fault.take() {
                Some(CommitFault::BeforeServer) => {
                    state.faults_met += 1;
                    return Ok(());
                }
                Some(CommitFault::AfterServer) => {
                    state.faults_met += 1;
                    drop(state);
                    awaited = true;
                }
                None => {}
            }
        }
        if awaited {
            link.set_held(true);
            to.write_all(bytes)?;
            // The server has time to commit; its answer is held by the other direction.
            thread::sleep(Duration::from_millis(50));
            return Ok(());
        }
        to.write_all(bytes)?;
    }
}
