//! The rows of all segments, newest first, some at a time.

use kit::{Result, Sql};

use crate::audit::{
    position::{ArgumentsOfLine, Position, TrailLine},
    store::CHECKPOINTS,
};

/// A page of the console is shorter than this.
const ROWS: usize = 200;

/// Reads the rows before a position.
pub type ReadRows<'a> = Box<dyn Fn(Position) -> Result<Vec<TrailLine>> + 'a>;

pub struct Rows<'a> {
    read: ReadRows<'a>,
    before: Position,
    rows: std::vec::IntoIter<TrailLine>,
    is_at_end: bool,
}

impl<'a> Rows<'a> {
    pub fn new(before: Option<Position>, read: ReadRows<'a>) -> Self {
        Self {
            read,
            before: before.unwrap_or_else(|| Position::at(i64::MAX)),
            rows: Vec::new().into_iter(),
            is_at_end: false,
        }
    }

    fn read_more(&mut self) -> Result<()> {
        let rows = (self.read)(self.before.clone())?;
        self.is_at_end = rows.len() < ROWS;
        if let Some(last) = rows.last() {
            self.before = last.position.clone();
        }
        self.rows = rows.into_iter();
        Ok(())
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<TrailLine>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rows.as_slice().is_empty()
            && !self.is_at_end
            && let Err(error) = self.read_more()
        {
            self.is_at_end = true;
            return Some(Err(error));
        }
        self.rows.next().map(Ok)
    }
}

/// The newest rows before a position.
pub fn read(sql: &mut dyn Sql, before: &Position) -> Result<Vec<TrailLine>> {
    sql.query(
        "SELECT at_ms, segment, seq, record FROM desk_audit
         WHERE segment <> $1 AND at_ms <= $2
           AND (at_ms < $2 OR segment < $3 OR (segment = $3 AND seq < $4))
         ORDER BY at_ms DESC, segment DESC, seq DESC LIMIT $5",
        &[
            CHECKPOINTS.into(),
            before.at.into(),
            (&*before.segment).into(),
            i64::try_from(before.seq).unwrap_or(i64::MAX).into(),
            (ROWS as i64).into(),
        ],
    )?
    .iter()
    .map(|row| {
        let position = Position {
            at: row.int(0)?,
            segment: row.text(1)?.into(),
            seq: u64::try_from(row.int(2)?).unwrap_or_default(),
        };
        Ok(TrailLine {
            position,
            line: row.text(3)?,
            arguments: ArgumentsOfLine::NotRead,
        })
    })
    .collect()
}

/// A record, and its arguments.
pub type Row = (String, Option<String>);

pub fn row(sql: &mut dyn Sql, segment: &str, seq: i64) -> Result<Option<Row>> {
    let row = sql.query_one(
        "SELECT record, beside FROM desk_audit WHERE segment = $1 AND seq = $2",
        &[segment.into(), seq.into()],
    )?;
    let row = row.map(|row| Ok((row.text(0)?, row.opt_text(1)?)));
    row.transpose()
}
