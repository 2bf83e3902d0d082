//! The films and halls of the sample cinema. All are invented or based on works in
//! the public domain.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::model::{
    hall::{COUPLE, GENERAL, Hall, HallSeat},
    place::Place,
    prices::PriceList,
    seat::Seat,
};

#[derive(Debug, Deserialize)]
pub struct DemoFilm {
    #[serde(rename = "movie_id")]
    pub id: &'static str,
    pub title: &'static str,
    pub reading: &'static str,
    pub english_title: &'static str,
    pub genre: &'static str,
    #[serde(rename = "duration")]
    pub minutes: i64,
    pub rating: f64,
    pub age_class: &'static str,
    pub popularity: i64,
    pub description: &'static str,
    pub english_description: &'static str,
    pub release_date: &'static str,
}

/// Each pair of neighbours shares a hall for a day; see `timetable`.
pub static FILMS: LazyLock<Vec<DemoFilm>> = LazyLock::new(|| read(include_str!("films.json")));
pub static HALLS: LazyLock<Vec<DemoHall>> = LazyLock::new(|| read(include_str!("halls.json")));
pub static PRICES: LazyLock<PriceList> = LazyLock::new(|| read(include_str!("prices.json")));
pub static PLACE: LazyLock<Place> = LazyLock::new(|| read(include_str!("place.json")));

#[derive(Debug, Deserialize)]
pub struct DemoHall {
    #[serde(rename = "theater_id")]
    pub id: &'static str,
    pub name: &'static str,
    /// How many seats each row has, from the screen backwards.
    rows: Vec<u32>,
    /// How many of the last row's seats are for couples, counted from the left.
    couple: u32,
    /// How many places at the left end of the first row are for wheelchairs.
    wheelchair: u32,
}

#[expect(clippy::expect_used, reason = "the tests read all files")]
fn read<T: Deserialize<'static>>(file: &'static str) -> T {
    serde_json::from_str(file).expect("the sample cinema is valid JSON")
}

impl DemoHall {
    pub fn plan(&self) -> Hall {
        let last = self.rows.len().saturating_sub(1);
        let places = self.rows.iter().enumerate().zip('A'..='Z');
        let places = places.flat_map(|((index, size), row)| {
            (1..=*size).map(move |number| HallSeat {
                seat: Seat {
                    row: row.to_string(),
                    number,
                },
                seat_type: if index == 0 && number <= self.wheelchair {
                    "車椅子"
                } else if index == last && number <= self.couple {
                    COUPLE
                } else {
                    GENERAL
                }
                .to_owned(),
            })
        });
        Hall::new(places.collect())
    }
}
