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
    let mut found = hall.in_one_row(needs);
    let widest = map.hall().rows().iter().map(Vec::len).max().unwrap_or(0);
    let may_split = !needs.together || needs.party_size > widest;
    if found.is_empty() && may_split {
        found = hall.close_together(needs);
    }
    found.sort_by_key(Block::rank);
    let mut chosen: Vec<Block> = Vec::new();
    for block in found {
        let overlaps = |other: &Block| block.seats.iter().any(|seat| other.seats.contains(seat));
        if chosen.len() < most && !chosen.iter().any(overlaps) {
            chosen.push(block);
        }
    }
    chosen
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
    fn in_one_row(&self, needs: &Needs) -> Vec<Block> {
        let mut found = Vec::new();
        if needs.party_size == 0 {
            return found;
        }
        for (index, row) in self.map.hall().rows().iter().enumerate() {
            for (at, block) in row.windows(needs.party_size).enumerate() {
                let is_free = block.iter().all(|place| self.map.is_free(&place.seat));
                let fits = is_free && has_no_gap(block) && self.has_right_types(row, at, needs);
                if fits && (!needs.aisle || touches_aisle(row, at, needs.party_size)) {
                    let seats: Vec<Seat> = block.iter().map(|it| it.seat.clone()).collect();
                    found.push(Block {
                        distance: self.distance(index, &seats),
                        is_together: true,
                        leaves_lone_seat: !needs.couple && self.leaves_lone_seat(row, &seats),
                        seats,
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

    fn distance(&self, row: usize, seats: &[Seat]) -> i64 {
        let sideways: i64 = seats
            .iter()
            .map(|seat| (2 * i64::from(seat.number) - self.double_middle).abs())
            .sum();
        // A row counts like two seats sideways.
        let rows = 4 * (as_i64(row) - self.best_row).abs();
        SCALE * rows + SCALE * sideways / as_i64(seats.len().max(1))
    }

    /// Whether a single ordinary seat would stay free beside `seats`, with no free
    /// neighbour.
    fn leaves_lone_seat(&self, row: &[HallSeat], seats: &[Seat]) -> bool {
        let free = row.iter().filter(|place| {
            self.is_ordinary(place) && self.map.is_free(&place.seat) && !seats.contains(&place.seat)
        });
        let free: Vec<Seat> = free.map(|place| place.seat.clone()).collect();
        let touches = |alone: &Seat| seats.iter().any(|it| it.number.abs_diff(alone.number) == 1);
        side_by_side(&free)
            .iter()
            .any(|run| matches!(run.as_slice(), [alone] if touches(alone)))
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
            .map(|(row, seat)| self.distance(*row, std::slice::from_ref(seat)));
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
mod tests {
    use super::{super::hall::Hall as Plan, *};

    /// Rows A to E with ten seats each: A1 and A2 are for wheelchairs, E1 to E4 for
    /// couples.
    fn plan() -> Plan {
        let places = ('A'..='E').flat_map(|row| {
            (1..=10).map(move |number| HallSeat {
                seat: Seat {
                    row: row.to_string(),
                    number,
                },
                seat_type: match (row, number) {
                    ('A', 1..=2) => WHEELCHAIR,
                    ('E', 1..=4) => COUPLE,
                    _ => GENERAL,
                }
                .to_owned(),
            })
        });
        Plan::new(places.collect())
    }

    fn seats(names: &str) -> Vec<Seat> {
        names.split_whitespace().filter_map(Seat::parse).collect()
    }

    fn best(taken: &str, needs: &Needs) -> String {
        let plan = plan();
        let map = SeatMap::new(&plan, seats(taken));
        let blocks = best_blocks(&map, needs, 1);
        blocks.first().map_or(String::new(), |it| join(&it.seats))
    }

    #[test]
    fn the_middle_behind_the_centre_is_best() {
        assert_eq!(best("", &Needs::of(2)), "C5, C6");
        assert_eq!(best("", &Needs::of(4)), "C4, C5, C6, C7");
        assert_eq!(best("C5 C6", &Needs::of(2)), "C3, C4");
    }

    #[test]
    fn no_lone_seat_is_left_if_that_can_be_helped() {
        // C4 is free between C3 and the block C5, C6.
        let taken = "C1 C2 C3 C7 C8 C9 C10";
        let others = "A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 B1 B2 B3 B4 B5 B6 B7 B8 B9 B10 \
            D1 D2 D3 D4 D5 D6 D7 D8 E5 E6 E7 E8 E9 E10";
        let needs = Needs::of(2);
        assert_eq!(best(&format!("{taken} {others}"), &needs), "D9, D10");
        let only_c = format!("{taken} {others} D9 D10");
        assert_eq!(best(&only_c, &needs), "C5, C6");
        let plan = plan();
        let map = SeatMap::new(&plan, seats(&only_c));
        assert!(
            best_blocks(&map, &needs, 5)
                .iter()
                .all(|it| it.leaves_lone_seat)
        );
    }

    #[test]
    fn special_seats_only_for_those_who_need_them() {
        let wheelchair = Needs {
            wheelchairs: 1,
            ..Needs::of(2)
        };
        assert_eq!(best("", &wheelchair), "A2, A3");
        assert_eq!(best("A3", &wheelchair), "", "nobody could sit beside it");
        let apart = Needs {
            together: false,
            ..wheelchair.clone()
        };
        assert_eq!(best("A3", &apart), "A2, A4");
        let couple = Needs {
            couple: true,
            ..Needs::of(2)
        };
        assert_eq!(best("", &couple), "E3, E4");
        assert_eq!(
            best("E3", &couple),
            "E1, E2",
            "never half of one and half of another"
        );
        let aisle = Needs {
            aisle: true,
            ..Needs::of(2)
        };
        assert!(["C1, C2", "C9, C10"].contains(&&*best("", &aisle)));
    }

    #[test]
    fn a_group_that_no_row_can_take_sits_close_together() {
        let group = best("", &Needs::of(30));
        assert_eq!(group.split(", ").count(), 30, "{group}");
        let couple = ["E1", "E2", "E3", "E4", "A1", "A2"];
        assert!(
            couple
                .iter()
                .all(|seat| !group.split(", ").any(|it| it == *seat))
        );
        assert_eq!(best("", &Needs::of(45)), "", "there are 44 ordinary seats");
    }

    #[test]
    fn blocks_do_not_overlap() {
        let plan = plan();
        let map = SeatMap::new(&plan, []);
        let blocks = best_blocks(&map, &Needs::of(3), 5);
        let all: Vec<&Seat> = blocks.iter().flat_map(|block| &block.seats).collect();
        let different: HashSet<&Seat> = all.iter().copied().collect();
        assert_eq!((blocks.len(), different.len()), (5, 15), "{all:?}");
    }
}
