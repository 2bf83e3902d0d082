//! Search in the messages of one room or all.

use jiff::Timestamp;
use kit::{Param, Result, Sql};

use super::{
    pages, rows,
    tables::{count, number},
};
use crate::{
    model::{answer_size::bytes_in_answer, message::MessageLine, names::RoomName},
    store::searching::{Hit, Search, SearchCursor, SearchHits},
};

/// How many hits are read at a time.
const AT_ONCE: usize = 64;

/// The matching messages, newest first, up to the limit and a page's size.
pub fn search(sql: &mut dyn Sql, only: Option<&RoomName>, search: &Search) -> Result<SearchHits> {
    let only = match only {
        Some(name) => Some(rows::room(sql, name)?.id),
        None => None,
    };
    let mut after = match &search.after {
        Some(after) => Some(known(sql, after)?),
        None => None,
    };
    let mut found = SearchHits::default();
    let at_once = AT_ONCE.min(search.limit + 1);
    loop {
        let statement = statement(only, search, after.as_ref(), number(at_once));
        let rows = sql.query(&statement.text, &statement.params())?;
        let mut last = None;
        for row in &rows {
            let (time, room, at) = (row.int(0)?, row.text(1)?, count(row.int(2)?));
            let text = row.text(3)?;
            let bytes = bytes_in_answer(text.as_bytes());
            let Some(mut line) = MessageLine::parse(text.as_bytes()) else {
                continue;
            };
            // Lines of other programs may lack it.
            line.room_name.clone_from(&room);
            last = Some(Place { time, room, at });
            let hit = Hit {
                line,
                number: at,
                time,
                bytes,
            };
            if !found.add(hit, search.limit) {
                return Ok(found);
            }
        }
        if rows.len() < at_once || last.is_none() {
            return Ok(found);
        }
        after = last;
    }
}

/// A hit that was shown. Later ones follow it in the order of the answer.
struct Place {
    time: i64,
    room: String,
    at: usize,
}

/// Where a cursor stands; an error if its message is gone.
fn known(sql: &mut dyn Sql, cursor: &SearchCursor) -> Result<Place> {
    let room = "SELECT id FROM rooms_rooms WHERE name = $1";
    let found = match sql.query_one(room, &[(&cursor.room).into()])? {
        Some(row) => pages::locate(sql, row.int(0)?, &cursor.message)?,
        // Of a room that was deleted; others go on.
        None => Some(0),
    };
    Ok(Place {
        time: cursor.time,
        room: cursor.room.clone(),
        at: count(found.ok_or_else(kit::page::unknown_cursor)?),
    })
}

/// A statement with its parameters, which it owns.
struct Statement {
    text: String,
    values: Vec<Value>,
}

enum Value {
    Int(i64),
    Text(String),
}

impl Statement {
    fn params(&self) -> Vec<Param<'_>> {
        let mut params = Vec::with_capacity(self.values.len());
        for value in &self.values {
            params.push(match value {
                Value::Int(value) => Param::Int(*value),
                Value::Text(text) => Param::Text(text),
            });
        }
        params
    }

    fn place(&mut self, value: Value) -> usize {
        self.values.push(value);
        self.values.len()
    }
}

fn statement(only: Option<i64>, search: &Search, after: Option<&Place>, limit: i64) -> Statement {
    let mut statement = Statement {
        text: String::new(),
        values: Vec::new(),
    };
    let mut conditions = Vec::new();
    if let Some(room) = only {
        let room = statement.place(Value::Int(room));
        conditions.push(format!("x.room = ${room}"));
    }
    if let Some(agent) = &search.agent {
        let agent = statement.place(Value::Text(agent.clone()));
        conditions.push(format!("x.agent = ${agent}"));
    }
    for (time, sign) in [(search.since, ">="), (search.until, "<=")] {
        if let Some(time) = time.map(Timestamp::as_millisecond) {
            let time = statement.place(Value::Int(time));
            conditions.push(format!("x.sent_at {sign} ${time}"));
        }
    }
    for word in &search.words {
        let word = statement.place(Value::Text(pattern(word)));
        conditions.push(format!("x.folded LIKE ${word} ESCAPE '!'"));
    }
    let wanted = match conditions.is_empty() {
        true => String::new(),
        false => format!("WHERE {}", conditions.join(" AND ")),
    };
    let shown = after.map_or_else(String::new, |after| {
        let time = statement.place(Value::Int(after.time));
        let room = statement.place(Value::Text(after.room.clone()));
        let at = statement.place(Value::Int(number(after.at)));
        format!(
            "WHERE sent < ${time} OR (sent = ${time} AND (name > ${room} \
             OR (name = ${room} AND number < ${at})))"
        )
    });
    let limit = statement.place(Value::Int(limit));
    // A hit counts as no newer than the ones before it in its room.
    statement.text = format!(
        "SELECT sent, name, number, line FROM (
             SELECT r.name, x.number, x.line,
                 COALESCE(MIN(x.sent_at) OVER (PARTITION BY x.room ORDER BY x.number DESC),
                     9223372036854775807) AS sent
             FROM rooms_messages x JOIN rooms_rooms r ON r.id = x.room {wanted}
         ) AS hits {shown}
         ORDER BY sent DESC, name, number DESC LIMIT ${limit}"
    );
    statement
}

/// The pattern of texts that contain a word.
fn pattern(word: &str) -> String {
    let mut pattern = String::from("%");
    for character in word.chars() {
        if matches!(character, '%' | '_' | '!') {
            pattern.push('!');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}
