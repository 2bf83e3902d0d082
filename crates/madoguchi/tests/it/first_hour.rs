//! The first hour with the program: what a person sees on a terminal, and what the
//! commands say when something is missing.

mod addresses;
mod lists;
mod messages;
mod page;
mod progress;
mod tour;

use std::net::TcpListener;

/// Ports that nobody uses, for a desk on a terminal.
pub struct FreePorts {
    pub main: u16,
    pub merchant: u16,
    pub innervoice: u16,
}

impl FreePorts {
    pub fn new() -> Self {
        let bound = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [main, merchant, innervoice] =
            bound.map(|listener| listener.local_addr().unwrap().port());
        Self {
            main,
            merchant,
            innervoice,
        }
    }

    /// The arguments of a desk on these ports.
    pub fn serve(&self) -> Vec<String> {
        let ports = [
            ("--port", self.main),
            ("--merchant-port", self.merchant),
            ("--innervoice-port", self.innervoice),
        ];
        let ports = ports
            .iter()
            .flat_map(|(flag, port)| [(*flag).to_owned(), port.to_string()]);
        std::iter::once("serve".to_owned()).chain(ports).collect()
    }
}
