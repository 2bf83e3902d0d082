//! The first hour with the program: what a person sees on a terminal, and what the
//! commands say when something is missing.

mod addresses;
mod lists;
mod messages;
mod page;
mod progress;
mod tour;

use store::testing::free_port;

/// Ports that nobody uses, for a desk on a terminal.
pub struct FreePorts {
    pub main: u16,
    pub merchant: u16,
    pub innervoice: u16,
}

impl FreePorts {
    pub fn new() -> Self {
        Self {
            main: free_port(),
            merchant: free_port(),
            innervoice: free_port(),
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
