//! Makes things go wrong.

use std::{sync::Arc, time::Duration};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::json;

use super::history::World;
use crate::harness::{Desk, FakeClock, Place};

const DESKS: usize = 2;
/// Beyond the end of every hold, and of every offer to a party that waits.
const JUMP_SECONDS: i64 = 11 * 60;

pub struct Nemesis {
    place: Place,
    url: Option<String>,
    /// The files that the clocks of the desks follow. On SQLite all desks are on one
    /// machine and have one clock. On PostgreSQL each has its own, and none matters.
    clocks: [FakeClock; DESKS],
    desks: Vec<Desk>,
    dice: StdRng,
}

impl Nemesis {
    pub async fn open(place: &Place, url: Option<&str>, seed: u64) -> Self {
        let clock = |number: usize| {
            let number = if url.is_some() { number } else { 0 };
            FakeClock::new(place, &format!("clock-{number}"), "+0s")
        };
        let mut nemesis = Self {
            clocks: std::array::from_fn(clock),
            place: place.clone(),
            url: url.map(str::to_owned),
            desks: Vec::new(),
            dice: StdRng::seed_from_u64(seed),
        };
        place.load_demo(&nemesis.environment());
        for number in 0..DESKS {
            let desk = nemesis.start(number).await;
            nemesis.desks.push(desk);
        }
        nemesis
    }

    fn environment(&self) -> Vec<(String, String)> {
        let url = self.url.iter();
        url.map(|url| ("MADOGUCHI_DATABASE__URL".to_owned(), url.clone()))
            .collect()
    }

    async fn start(&self, number: usize) -> Desk {
        let mut setup = Desk::setup().place(&self.place).clock(&self.clocks[number]);
        for (name, value) in self.environment() {
            setup = setup.env(&name, &value);
        }
        setup.start().await
    }

    /// Two screenings of the last day that the sample cinema covers, so that the clock can
    /// move on for days.
    pub async fn world(&self) -> Arc<World> {
        let mut shows = Vec::new();
        for day in (1..=8).rev() {
            let date =
                jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::get("Asia/Tokyo").unwrap());
            let date = date
                .date()
                .checked_add(jiff::Span::new().days(day))
                .unwrap();
            let arguments = json!({"movie_id": "", "date": date.to_string()});
            let programme = self.desks[0]
                .ok("cinema", "get_show_schedule", arguments)
                .await;
            let listed = programme["schedules"].as_array().unwrap().iter();
            let free = listed.filter(|show| show["available_seats_count"].as_i64() > Some(40));
            shows = free
                .take(2)
                .map(|show| show["schedule_id"].as_str().unwrap().to_owned())
                .collect();
            if shows.len() == 2 {
                break;
            }
        }
        assert_eq!(shows.len(), 2);
        let world = World::new(shows);
        *world.ports.lock().unwrap() = self.desks.iter().map(|desk| desk.port).collect();
        Arc::new(world)
    }

    /// Kills so many desks, and moves the clock now and then.
    pub async fn rage(&mut self, world: &World, kills: u64) {
        for kill in 0..kills {
            self.pause(100..500).await;
            if kill % 4 == 3 {
                self.jump(world);
                self.pause(50..200).await;
            }
            let victim = self.dice.random_range(0..DESKS);
            self.desks[victim].signal("KILL");
            self.pause(0..100).await;
            let fresh = self.start(victim).await;
            let gone = std::mem::replace(&mut self.desks[victim], fresh);
            drop(gone);
            let ports = self.desks.iter().map(|desk| desk.port).collect();
            *world.ports.lock().unwrap() = ports;
        }
        self.pause(200..500).await;
    }

    /// On SQLite holds expire by the desks' clock. On PostgreSQL they do not, so the
    /// checker must not notice that it is wrong by hours.
    fn jump(&mut self, world: &World) {
        let (clock, seconds) = match self.url {
            None => (0, world.jump(JUMP_SECONDS)),
            Some(_) => {
                let clock = self.dice.random_range(0..DESKS);
                (clock, self.dice.random_range(-30_000..30_000))
            }
        };
        self.clocks[clock].set(&format!("{seconds:+}s"));
    }

    async fn pause(&mut self, milliseconds: std::ops::Range<u64>) {
        let pause = self.dice.random_range(milliseconds);
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}
