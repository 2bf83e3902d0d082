//! The parts of the command line that the list of counters defines: a flag for
//! each counter's own port, the counters' own flags, and their commands.

use std::{collections::BTreeMap, path::PathBuf};

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand, value_parser};

use crate::counters::{self, OwnCommand, OwnPort, Registration};

/// The ports given for counters that have one of their own, by counter.
#[derive(Debug, Default)]
pub struct OwnPorts(pub BTreeMap<&'static str, u16>);

fn own_ports() -> impl Iterator<Item = &'static OwnPort> {
    let fixture = counters::fixture().and_then(|fixture| fixture.own_port.as_ref());
    counters::ports(counters::all()).chain(fixture)
}

fn own_port_argument(own: &'static OwnPort) -> Arg {
    let argument = Arg::new(own.section.as_str())
        .long(own.flag.trim_start_matches("--"))
        .value_name("PORT")
        .value_parser(value_parser!(u16));
    if counters::fixture().is_some_and(|fixture| fixture.name == own.counter) {
        return argument.hide(true).requires("fixture");
    }
    argument.help(format!(
        "The {} counter's own port; 0 switches it off [default: {}]",
        own.counter, own.port.number
    ))
}

impl Args for OwnPorts {
    fn augment_args(command: Command) -> Command {
        command.args(own_ports().map(own_port_argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OwnPorts {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = own_ports().filter_map(|own| {
            let port = matches.get_one::<u16>(&own.section)?;
            Some((own.counter, *port))
        });
        Ok(Self(given.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The counters' own flags that were given.
#[derive(Debug, Clone, Default)]
pub struct CounterFlags(pub Vec<GivenFlag>);

#[derive(Debug, Clone)]
pub struct GivenFlag {
    pub counter: &'static str,
    /// The key of the counter's settings that it sets.
    pub key: &'static str,
    pub value: PathBuf,
}

impl Args for CounterFlags {
    fn augment_args(command: Command) -> Command {
        let flags = counters::all().iter().flat_map(|counter| &counter.flags);
        command.args(flags.map(|flag| {
            Arg::new(flag.name)
                .long(flag.name)
                .value_name(flag.value)
                .value_parser(value_parser!(PathBuf))
                .help(flag.help)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CounterFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut given = Vec::new();
        for counter in counters::all() {
            for flag in &counter.flags {
                if let Some(value) = matches.get_one::<PathBuf>(flag.name) {
                    given.push(GivenFlag {
                        counter: counter.name,
                        key: flag.key,
                        value: value.clone(),
                    });
                }
            }
        }
        Ok(Self(given))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// What each counter imports.
pub fn import_help() -> String {
    let imports = counters::all()
        .iter()
        .filter_map(|counter| Some(format!("For {}, {}", counter.name, counter.imports?)));
    imports.collect::<Vec<_>>().join(". ")
}

/// A counter's own command with the arguments given to it.
#[derive(Debug)]
pub struct CounterCommand {
    pub counter: &'static str,
    pub command: OwnCommand,
    pub arguments: ArgMatches,
}

fn own_commands() -> impl Iterator<Item = (&'static Registration, OwnCommand)> {
    counters::all()
        .iter()
        .filter_map(|counter| Some((counter, counter.command?)))
}

impl Subcommand for CounterCommand {
    fn augment_subcommands(command: Command) -> Command {
        command.subcommands(
            own_commands().map(|(counter, own)| (own.define)(Command::new(counter.name))),
        )
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        own_commands().any(|(counter, _)| counter.name == name)
    }
}

impl FromArgMatches for CounterCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let called = matches.subcommand().and_then(|(name, arguments)| {
            let (counter, command) = own_commands().find(|(counter, _)| counter.name == name)?;
            Some(Self {
                counter: counter.name,
                command,
                arguments: arguments.clone(),
            })
        });
        called.ok_or_else(|| Error::new(clap::error::ErrorKind::MissingSubcommand))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
