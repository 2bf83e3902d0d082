//! The desk's row about a booking, as the program writes it beside the booking.

use kit::{Param, ids::CallId, time::Clock};

/// The tables as the program makes them.
pub const TABLES: &str = include_str!("../../../../crates/desk/src/migrations/0001.sql");

pub const INSERT: &str = "INSERT INTO desk_writes \
    (call_id, at_ms, caller, counter, tool, arguments_digest, process, changes) \
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

pub struct DeskRow {
    pub call: String,
    pub at_ms: i64,
    pub caller: &'static str,
    pub counter: &'static str,
    pub tool: &'static str,
    pub digest: &'static str,
    pub process: &'static str,
    pub changes: String,
}

impl DeskRow {
    pub fn new(call: CallId, show: &str) -> Self {
        Self {
            call: call.to_string(),
            at_ms: Clock::system().now().as_millisecond(),
            caller: "local",
            counter: "cinema",
            tool: "reserve_seats",
            digest: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            process: "bench-00000000000000000000",
            changes: format!("cinema://schedules/{show}/seats"),
        }
    }

    pub fn params(&self) -> [Param<'_>; 8] {
        [
            Param::Text(&self.call),
            Param::Int(self.at_ms),
            Param::Text(self.caller),
            Param::Text(self.counter),
            Param::Text(self.tool),
            Param::Text(self.digest),
            Param::Text(self.process),
            Param::Text(&self.changes),
        ]
    }
}
