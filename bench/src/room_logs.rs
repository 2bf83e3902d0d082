//! Rooms full of messages, written as files rather than sent.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{BufWriter, Write as _},
    path::Path,
};

use anyhow::Result;
use serde_json::{Map, json};

const AUTHORS: usize = 10;
/// Every so many messages one mentions somebody.
const MENTION_EVERY: usize = 50;
const TIME: &str = "2026-01-20T10:30:00.123Z";

/// A data directory with these rooms and so many messages in each.
pub fn write(data: &Path, rooms: &[(String, usize)]) -> Result<()> {
    let mut registry = Map::new();
    for (room, count) in rooms {
        let folder = data.join("rooms").join(room);
        fs::create_dir_all(&folder)?;
        fs::write(
            folder.join("presence.json"),
            serde_json::to_vec_pretty(&json!({"roomName": room, "users": {}}))?,
        )?;
        write_log(&folder.join("messages.jsonl"), room, *count)?;
        registry.insert(
            room.clone(),
            json!({"createdAt": TIME, "messageCount": count, "userCount": 0}),
        );
    }
    let registry = serde_json::to_vec_pretty(&json!({"rooms": registry}))?;
    fs::write(data.join("rooms.json"), registry)?;
    Ok(())
}

pub fn id(room: &str, number: usize) -> String {
    format!("msg_{room}_{number:010}")
}

fn write_log(path: &Path, room: &str, count: usize) -> Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut line = String::new();
    for number in 0..count {
        let id = id(room, number);
        let author = number % AUTHORS;
        let mentions = if number.is_multiple_of(MENTION_EVERY) {
            r#""agent0""#
        } else {
            ""
        };
        line.clear();
        writeln!(
            line,
            r#"{{"id":"{id}","roomName":"{room}","agentName":"agent{author}","message":"This is message {number}, which is about as long as messages between agents are.","mentions":[{mentions}],"timestamp":"{TIME}","metadata":{{}}}}"#
        )?;
        file.write_all(line.as_bytes())?;
    }
    // Nobody's writes are to wait for these later on.
    file.into_inner()?.sync_all()?;
    Ok(())
}
