//! What only the program around the desk knows, and the console shows.

use futures::future::BoxFuture;

/// Set when the console is put up.
pub struct Facts {
    /// The settings in force, in the order of the configuration file.
    pub settings: Vec<Setting>,
    /// Finds out how each client is connected. Reads files.
    pub clients: Box<dyn Fn() -> Vec<ClientSetup> + Send + Sync>,
    /// Looks at the machine: the disk, the ports, the certificate.
    pub machine: MachineChecks,
}

pub type MachineChecks = Box<dyn Fn() -> BoxFuture<'static, Vec<Finding>> + Send + Sync>;

impl Default for Facts {
    fn default() -> Self {
        Self {
            settings: Vec::new(),
            clients: Box::new(Vec::new),
            machine: Box::new(|| Box::pin(std::future::ready(Vec::new()))),
        }
    }
}

/// What a check of the desk found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at, in a word.
    pub what: String,
    pub is_good: bool,
    pub message: String,
}

impl Finding {
    pub fn good(what: &str, message: impl Into<String>) -> Self {
        Self {
            what: what.to_owned(),
            is_good: true,
            message: message.into(),
        }
    }

    pub fn bad(what: &str, message: impl Into<String>) -> Self {
        Self {
            is_good: false,
            ..Self::good(what, message)
        }
    }
}

/// How a client is connected to this desk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSetup {
    pub title: &'static str,
    /// Whether it is on this machine.
    pub is_present: bool,
    /// The command that connects it.
    pub command: String,
    /// Its file, and what the command adds to it.
    pub file: String,
    pub snippet: String,
    /// What the person does next.
    pub next: &'static str,
    /// How the names begin that it gives itself, in lower case without signs.
    pub names: &'static [&'static str],
}

impl ClientSetup {
    /// Whether a client that gives itself this name is this one.
    pub fn is_named(&self, name: &str) -> bool {
        let name = name.chars().filter(|c| c.is_alphanumeric());
        let name: String = name.flat_map(char::to_lowercase).collect();
        self.names.iter().any(|begin| name.starts_with(begin))
    }
}

/// One setting in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// `section.key`.
    pub key: String,
    /// Without secrets.
    pub value: String,
    pub origin: Origin,
}

/// Where the value of a setting comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Default,
    File,
    Environment,
    CommandLine,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_the_beginning_of_its_name() {
        let setup = ClientSetup {
            title: "VS Code",
            is_present: true,
            command: String::new(),
            file: String::new(),
            snippet: String::new(),
            next: "",
            names: &["visualstudiocode"],
        };
        assert!(setup.is_named("Visual Studio Code - Insiders"));
        assert!(!setup.is_named("code"));
        assert!(!setup.is_named(""));
    }
}
