//! Halls with their seat plans. A JSON row has a whole plan; a CSV has a line for each
//! row of seats, or for a part of one.

use serde_json::Value;

use super::{
    fields::{Fields, Problem, numbers},
    records::HALL_ID,
    source::Origin,
};
use crate::model::{
    hall::{GENERAL, Hall, HallSeat},
    seat::Seat,
};

const MOST_SEATS: usize = 5_000;

/// A hall as files have it.
#[derive(Debug, Clone)]
pub struct HallRecord {
    pub id: String,
    pub name: String,
    pub seats: Vec<HallSeat>,
    /// The first line about it.
    pub origin: Origin,
    /// Further lines may add seats.
    is_part: bool,
}

impl HallRecord {
    pub fn new(id: &str, name: &str, seats: Vec<HallSeat>, origin: &Origin) -> Self {
        Self {
            id: id.to_owned(),
            name: match name {
                "" => id.to_owned(),
                name => name.to_owned(),
            },
            seats,
            origin: origin.clone(),
            is_part: false,
        }
    }

    pub fn plan(&self) -> Hall {
        Hall::new(self.seats.clone())
    }
}

pub fn hall(fields: &Fields<'_>, origin: &Origin) -> Result<HallRecord, Problem> {
    fields.ignore(&["seat_count", "total_seats"]);
    let mut seats = Vec::new();
    let parts = fields.value(&["rows", "seats", "seat_plan"]);
    let is_part = parts.is_none();
    match parts {
        Some((_, Value::Array(rows))) => {
            for row in rows {
                let row = row.as_object().ok_or("a row of seats is not an object")?;
                seats.extend(row_of_seats(&Fields::new(row))?);
            }
        }
        Some((name, _)) => return Err(format!("{name} is not a list of rows")),
        None => seats = row_of_seats(fields)?,
    }
    let id = fields.required(HALL_ID, 100)?;
    let name = fields.text(&["name", "theater_name", "hall_name"], 300)?;
    let mut record = HallRecord::new(&id, &name, Vec::new(), origin);
    record.is_part = is_part;
    add(&mut record, seats)?;
    Ok(record)
}

/// `{"row": "A", "numbers": "1-14", "seat_type": "一般"}`
fn row_of_seats(fields: &Fields<'_>) -> Result<Vec<HallSeat>, Problem> {
    let row = fields.required(&["row", "seat_row"], 10)?;
    let seat_type = fields.text(&["seat_type", "type"], 50)?;
    let value = fields.value(&["numbers", "number", "seat_number"]);
    let (_, value) = value.ok_or("there are no numbers")?;
    let mut seats = Vec::new();
    for number in numbers(value)? {
        let name = format!("{row}{number}");
        seats.push(HallSeat {
            seat: Seat::parse(&name).ok_or_else(|| format!("`{name}` is not a seat"))?,
            seat_type: match seat_type.as_str() {
                "" => GENERAL.to_owned(),
                known => known.to_owned(),
            },
        });
    }
    Ok(seats)
}

fn add(record: &mut HallRecord, seats: Vec<HallSeat>) -> Result<(), Problem> {
    for place in seats {
        if record.seats.iter().any(|known| known.seat == place.seat) {
            return Err(format!(
                "seat {} of hall {} is named twice",
                place.seat, record.id
            ));
        }
        record.seats.push(place);
    }
    match record.seats.len() {
        0 => Err(format!("hall {} has no seats", record.id)),
        count if count > MOST_SEATS => Err(format!(
            "hall {} has more than {MOST_SEATS} seats",
            record.id
        )),
        _ => Ok(()),
    }
}

/// Adds a hall, or the line of a hall that is known from an earlier line.
pub fn collect(halls: &mut Vec<HallRecord>, record: HallRecord) -> Result<(), Problem> {
    match halls.iter_mut().find(|known| known.id == record.id) {
        Some(known) if known.is_part && record.is_part => add(known, record.seats),
        Some(known) => Err(format!(
            "hall {} is already in {}",
            known.id,
            known.origin.in_words()
        )),
        None => {
            halls.push(record);
            Ok(())
        }
    }
}
