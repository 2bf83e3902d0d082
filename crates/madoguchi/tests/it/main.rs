//! End-to-end tests: the program as its users meet it, driven from outside by
//! real clients. `harness` starts it; each other module is one side of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests"
)]

mod abuse;
mod agents;
mod approvals;
mod apps;
mod architecture;
mod arguments;
mod audit;
mod authorization;
mod backup;
mod balancer;
mod box_office;
mod cinema_files;
mod cinema_tickets;
mod cli;
mod cluster;
mod codes;
mod concurrency;
mod conformance;
mod console;
mod cross_origin;
mod dashboard;
mod defaults;
mod direct_path;
mod disks;
mod documents;
mod empty_stores;
mod first_hour;
mod fuzz;
mod guide;
mod hardening;
mod harness;
mod innervoice;
mod innervoice_calendar;
mod innervoice_clients;
mod install;
mod instructions;
mod keys;
mod ledger;
mod limits;
mod lost_database;
mod machine;
mod merchant;
mod merchant_carts;
mod merchant_index;
mod merchant_mandates;
mod mistakes;
mod moving;
mod older_clients;
mod own_port;
mod packaging;
mod pages;
mod postgres;
mod power_loss;
mod probes;
mod prompts;
mod proxies;
mod python_client;
mod rooms;
mod secrets;
mod sessions;
mod shutdown;
mod stations;
mod stdio;
mod strangers;
mod streamable_http;
mod telemetry;
mod tls;
mod todo;
mod trouble;
mod typescript_client;
mod unknown_arguments;
mod watching;
mod websocket;
