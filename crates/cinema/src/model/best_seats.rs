//! Which free seats of a screening suit a party best.
//!
//! Good seats are in the middle, a little behind the centre of the hall. A block is one
//! run of seats in one row. A party that no row can take, or that need not sit together,
//! gets seats close to each other.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::{
    hall::{COUPLE, GENERAL, HallSeat, SeatMap, WHEELCHAIR, as_i64, has_no_gap},
    seat::{Seat, join, side_by_side},
};

/// What a party needs. Kept as JSON with a party that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Needs {
    pub party_size: usize,
    /// How many of them come in a wheelchair. The others sit beside them.
    #[serde(default)]
    pub wheelchairs: usize,
    /// In seats for couples.
    #[serde(default)]
    pub couple: bool,
    /// One of them at the end of a row or beside an aisle.
    #[serde(default)]
    pub aisle: bool,
    /// Side by side, or not at all.
    pub together: bool,
}

impl Needs {
    /// Ordinary seats side by side.
    pub fn of(party_size: usize) -> Self {
        Self {
            party_size,
            wheelchairs: 0,
            couple: false,
            aisle: false,
            together: true,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    pub seats: Vec<Seat>,
    /// All side by side.
    pub is_together: bool,
    /// A single free seat would be left between taken ones.
    pub leaves_lone_seat: bool,
    /// How far the seats are from the best one on average, in eighths of a seat.
    pub distance: i64,
}

impl Block {
    /// Blocks with a smaller rank are better.
    pub fn rank(&self) -> (bool, bool, i64) {
        (!self.is_together, self.leaves_lone_seat, self.distance)
    }
}

/// The best blocks, the best first. They do not overlap.
pub fn best_blocks(map: &SeatMap<'_>, needs: &Needs, most: usize) -> Vec<Block> {
    let hall = Hall::new(map);
    let mut runs = hall.in_one_row(needs);
    runs.sort_by_key(Run::rank);
    let widest = map.hall().rows().iter().map(Vec::len).max().unwrap_or(0);
    let may_split = !needs.together || needs.party_size > widest;
    if !runs.is_empty() || !may_split {
        let chosen = without_overlaps(runs, most, Run::overlaps);
        return chosen.iter().map(Run::block).collect();
    }
    let mut found = hall.close_together(needs);
    found.sort_by_key(Block::rank);
    without_overlaps(found, most, |block, other| {
        block.seats.iter().any(|seat| other.seats.contains(seat))
    })
}

/// The first `most` that overlap none before them.
fn without_overlaps<T>(found: Vec<T>, most: usize, overlap: impl Fn(&T, &T) -> bool) -> Vec<T> {
    let mut chosen: Vec<T> = Vec::with_capacity(most);
    for one in found {
        if chosen.len() == most {
            break;
        }
        if !chosen.iter().any(|other| overlap(&one, other)) {
            chosen.push(one);
        }
    }
    chosen
}

/// A window of a row that suits the party. A search over many screenings finds thousands and
/// keeps a few, so the seats are copied for those alone.
struct Run<'a> {
    seats: &'a [HallSeat],
    row: usize,
    /// The index in the row of its first seat.
    at: usize,
    leaves_lone_seat: bool,
    distance: i64,
}

impl Run<'_> {
    fn rank(&self) -> (bool, i64) {
        (self.leaves_lone_seat, self.distance)
    }

    /// All runs of a party have the same length.
    fn overlaps(&self, other: &Self) -> bool {
        self.row == other.row && self.at.abs_diff(other.at) < self.seats.len()
    }

    fn block(&self) -> Block {
        Block {
            seats: self.seats.iter().map(|it| it.seat.clone()).collect(),
            is_together: true,
            leaves_lone_seat: self.leaves_lone_seat,
            distance: self.distance,
        }
    }
}

/// A seat map with what the ranking needs to know about it.
struct Hall<'a> {
    map: &'a SeatMap<'a>,
    /// The type of seats for people without special needs.
    ordinary: OrdinarySeats,
    /// The row that people like best.
    best_row: i64,
    /// Twice the number in the middle of a row.
    double_middle: i64,
}

enum OrdinarySeats {
    General,
    /// A hall may have other names for them.
    AllButSpecial,
}

impl<'a> Hall<'a> {
    fn new(map: &'a SeatMap<'a>) -> Self {
        let hall = map.hall();
        let numbers = || hall.seats().map(|place| i64::from(place.seat.number));
        let ends = (numbers().min().unwrap_or(1), numbers().max().unwrap_or(1));
        let has_general = hall.seats().any(|place| place.seat_type == GENERAL);
        Self {
            map,
            ordinary: match has_general {
                true => OrdinarySeats::General,
                false => OrdinarySeats::AllButSpecial,
            },
            best_row: as_i64(hall.rows().len().saturating_sub(1)) * 3 / 5,
            double_middle: ends.0 + ends.1,
        }
    }

    fn is_ordinary(&self, place: &HallSeat) -> bool {
        match self.ordinary {
            OrdinarySeats::General => place.seat_type == GENERAL,
            OrdinarySeats::AllButSpecial => ![COUPLE, WHEELCHAIR].contains(&&*place.seat_type),
        }
    }

    /// Every free run in one row that has what the party needs.
    fn in_one_row(&self, needs: &Needs) -> Vec<Run<'a>> {
        let (size, mut found) = (needs.party_size, Vec::new());
        if size == 0 {
            return found;
        }
        for (index, row) in self.map.hall().rows().iter().enumerate() {
            let free: Vec<bool> = row.iter().map(|it| self.map.is_free(&it.seat)).collect();
            for (at, (seats, free_seats)) in row.windows(size).zip(free.windows(size)).enumerate() {
                let is_free = free_seats.iter().all(|is_free| *is_free);
                let fits = is_free && has_no_gap(seats) && self.has_right_types(row, at, needs);
                if fits && (!needs.aisle || touches_aisle(row, at, size)) {
                    found.push(Run {
                        seats,
                        row: index,
                        at,
                        leaves_lone_seat: !needs.couple
                            && self.leaves_lone_seat(row, &free, at, size),
                        distance: self.distance(index, seats.iter().map(|it| &it.seat)),
                    });
                }
            }
        }
        found
    }

    /// Whether the window of a row that starts at `at` has the types of seats that the
    /// party needs.
    fn has_right_types(&self, row: &[HallSeat], at: usize, needs: &Needs) -> bool {
        let block = row.get(at..at + needs.party_size).unwrap_or_default();
        if needs.couple {
            // Seats for couples are paired from the left, so a block starts with a pair.
            let before = row.get(..at).unwrap_or_default().iter().rev();
            let couples_before = before.take_while(|it| it.seat_type == COUPLE).count();
            return couples_before % 2 == 0 && block.iter().all(|it| it.seat_type == COUPLE);
        }
        let wheelchairs = block.iter().filter(|it| it.seat_type == WHEELCHAIR);
        let ordinary = block.iter().filter(|it| self.is_ordinary(it));
        wheelchairs.count() == needs.wheelchairs
            && ordinary.count() == needs.party_size - needs.wheelchairs.min(needs.party_size)
    }

    fn distance<'s>(&self, row: usize, seats: impl ExactSizeIterator<Item = &'s Seat>) -> i64 {
        let count = as_i64(seats.len().max(1));
        let sideways: i64 = seats
            .map(|seat| (2 * i64::from(seat.number) - self.double_middle).abs())
            .sum();
        // A row counts like two seats sideways.
        let rows = 4 * (as_i64(row) - self.best_row).abs();
        SCALE * rows + SCALE * sideways / count
    }

    /// Whether a single ordinary seat would stay free beside the window of a row, with no
    /// free neighbour.
    fn leaves_lone_seat(&self, row: &[HallSeat], free: &[bool], at: usize, size: usize) -> bool {
        // Whether the seat `steps` to the left or right stays free, without a gap in between.
        let stays_free = |index: Option<usize>, steps: usize, edge: usize| {
            let (Some(index), Some(edge)) = (index, row.get(edge)) else {
                return false;
            };
            row.get(index).is_some_and(|place| {
                free.get(index) == Some(&true)
                    && place.seat.number.abs_diff(edge.seat.number) as usize == steps
                    && self.is_ordinary(place)
            })
        };
        let last = at + size.saturating_sub(1);
        let left = |steps| stays_free(at.checked_sub(steps), steps, at);
        let right = |steps| stays_free(last.checked_add(steps), steps, last);
        (left(1) && !left(2)) || (right(1) && !right(2))
    }

    /// Seats near each other, in several rows or with others in between.
    fn close_together(&self, needs: &Needs) -> Vec<Block> {
        let mut ordinary: Vec<(usize, &HallSeat)> = Vec::new();
        let mut wheelchairs: Vec<(usize, &HallSeat)> = Vec::new();
        for (index, row) in self.map.hall().rows().iter().enumerate() {
            for place in row.iter().filter(|place| self.map.is_free(&place.seat)) {
                if place.seat_type == WHEELCHAIR {
                    wheelchairs.push((index, place));
                } else if self.is_ordinary(place) {
                    ordinary.push((index, place));
                }
            }
        }
        let others = needs.party_size - needs.wheelchairs.min(needs.party_size);
        if needs.couple || wheelchairs.len() < needs.wheelchairs || ordinary.len() < others {
            return Vec::new();
        }
        let centres: Vec<(usize, &HallSeat)> = match needs.wheelchairs {
            0 => ordinary.clone(),
            _ => wheelchairs.clone(),
        };
        // A large hall has too many seats to try each of them as the centre.
        let step = centres.len().div_ceil(MOST_CENTRES).max(1);
        let mut blocks = Vec::new();
        for centre in centres.iter().step_by(step) {
            let mut seats = nearest(&wheelchairs, *centre, needs.wheelchairs);
            seats.extend(nearest(&ordinary, *centre, others));
            blocks.push(self.split_block(seats));
        }
        blocks.retain(|block| !needs.aisle || self.has_aisle_seat(&block.seats));
        let mut known = HashSet::new();
        blocks.retain(|block| known.insert(join(&block.seats)));
        blocks
    }

    fn split_block(&self, mut places: Vec<(usize, Seat)>) -> Block {
        places.sort_by(|(_, a), (_, b)| a.cmp(b));
        let seats: Vec<Seat> = places.iter().map(|(_, seat)| seat.clone()).collect();
        let groups = side_by_side(&seats).len();
        let each = places
            .iter()
            .map(|(row, seat)| self.distance(*row, std::iter::once(seat)));
        let mean = each.sum::<i64>() / as_i64(places.len().max(1));
        Block {
            // Few groups are better than good seats.
            distance: mean + 8 * SCALE * as_i64(groups.saturating_sub(1)),
            is_together: groups == 1,
            leaves_lone_seat: false,
            seats,
        }
    }

    fn has_aisle_seat(&self, seats: &[Seat]) -> bool {
        self.map.hall().rows().iter().any(|row| {
            let places = row.iter().enumerate();
            let mut at = places.filter(|(_, place)| seats.contains(&place.seat));
            at.any(|(at, _)| touches_aisle(row, at, 1))
        })
    }
}

/// Distances are counted in half seats, times this: means are whole numbers.
const SCALE: i64 = 4;
/// Seats of a hall that are tried as the centre of a party.
const MOST_CENTRES: usize = 200;

/// Whether the window of a row reaches an end of the row or a gap in its numbers.
fn touches_aisle(row: &[HallSeat], at: usize, size: usize) -> bool {
    let number = |index: Option<usize>| Some(row.get(index?)?.seat.number);
    let is_edge = |a: Option<u32>, b: Option<u32>| match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) > 1,
        _ => true,
    };
    let (first, last) = (at, at + size.saturating_sub(1));
    is_edge(number(first.checked_sub(1)), number(Some(first)))
        || is_edge(number(Some(last)), number(Some(last + 1)))
}

/// The `count` places nearest to a centre. A row counts like two seats sideways.
fn nearest(
    places: &[(usize, &HallSeat)],
    centre: (usize, &HallSeat),
    count: usize,
) -> Vec<(usize, Seat)> {
    let mut sorted = places.to_vec();
    sorted.sort_by_key(|(row, place)| {
        let sideways = place.seat.number.abs_diff(centre.1.seat.number);
        (
            2 * row.abs_diff(centre.0) + sideways as usize,
            *row,
            place.seat.number,
        )
    });
    let chosen = sorted.into_iter().take(count);
    chosen
        .map(|(row, place)| (row, place.seat.clone()))
        .collect()
}

#[cfg(test)]
mod tests;
