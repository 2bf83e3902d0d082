//! A hall's seat plan, and what of it is free at one screening.

use std::collections::{BTreeMap, HashSet};

use super::seat::{Seat, row_order, side_by_side};

/// The type of an ordinary seat.
pub const GENERAL: &str = "一般";
/// The type of a seat for two: each half is a seat of its own.
pub const COUPLE: &str = "カップル";
/// The type of a space for a wheelchair.
pub const WHEELCHAIR: &str = "車椅子";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HallSeat {
    pub seat: Seat,
    /// 一般, カップル, 車椅子 and so on.
    pub seat_type: String,
}

/// A hall's seats, row by row from the screen backwards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hall {
    rows: Vec<Vec<HallSeat>>,
}

impl Hall {
    pub fn new(mut places: Vec<HallSeat>) -> Self {
        places.sort_by(|a, b| a.seat.cmp(&b.seat));
        places.dedup_by(|a, b| a.seat == b.seat);
        let rows = places
            .chunk_by(|a, b| a.seat.row == b.seat.row)
            .map(<[HallSeat]>::to_vec)
            .collect();
        Self { rows }
    }

    pub fn seats(&self) -> impl Iterator<Item = &HallSeat> {
        self.rows.iter().flatten()
    }

    /// From the screen backwards; each row from the left.
    pub(super) fn rows(&self) -> &[Vec<HallSeat>] {
        &self.rows
    }

    pub fn seat_count(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    pub fn seat(&self, seat: &Seat) -> Option<&HallSeat> {
        let row = self.rows.get(self.row_index(&seat.row)?)?;
        let at = row
            .binary_search_by(|place| place.seat.number.cmp(&seat.number))
            .ok()?;
        row.get(at)
    }

    fn row_index(&self, name: &str) -> Option<usize> {
        self.rows
            .binary_search_by(|row| {
                row.first().map_or(std::cmp::Ordering::Less, |place| {
                    row_order(&place.seat.row, name)
                })
            })
            .ok()
    }

    /// `A1-A10, B1-B12`, for a caller who named a seat that does not exist.
    pub fn rows_in_words(&self) -> String {
        let rows: Vec<String> = self
            .rows
            .iter()
            .filter_map(|row| Some(format!("{}-{}", row.first()?.seat, row.last()?.seat)))
            .collect();
        rows.join(", ")
    }

    /// Equal digests mean equal plans.
    pub fn digest(&self) -> i64 {
        let places = self.seats();
        let places = places.map(|place| format!("{}={};", place.seat, place.seat_type));
        super::digest(places.flat_map(String::into_bytes))
    }
}

/// A row and some of its numbers.
pub type RowNumbers = Vec<(String, Vec<u32>)>;

/// A hall at one screening, with the seats that are taken.
pub struct SeatMap<'a> {
    hall: &'a Hall,
    taken: HashSet<Seat>,
}

impl<'a> SeatMap<'a> {
    pub fn new(hall: &'a Hall, taken: impl IntoIterator<Item = Seat>) -> Self {
        Self {
            hall,
            taken: taken.into_iter().collect(),
        }
    }

    pub(super) fn hall(&self) -> &'a Hall {
        self.hall
    }

    pub fn is_free(&self, seat: &Seat) -> bool {
        !self.taken.contains(seat)
    }

    pub fn free_count(&self) -> usize {
        self.hall
            .seats()
            .filter(|place| self.is_free(&place.seat))
            .count()
    }

    /// How many free ordinary seats there are side by side at most.
    pub fn most_together(&self) -> usize {
        let free = self
            .hall
            .seats()
            .filter(|place| place.seat_type == GENERAL && self.is_free(&place.seat));
        let free: Vec<Seat> = free.map(|place| place.seat.clone()).collect();
        side_by_side(&free).iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Rows with their free numbers (`free`) or their taken ones. Rows without any are
    /// left out.
    pub fn rows(&self, free: bool) -> RowNumbers {
        let mut found = Vec::new();
        for row in &self.hall.rows {
            let numbers: Vec<u32> = row
                .iter()
                .filter(|place| self.is_free(&place.seat) == free)
                .map(|place| place.seat.number)
                .collect();
            if let (Some(place), false) = (row.first(), numbers.is_empty()) {
                found.push((place.seat.row.clone(), numbers));
            }
        }
        found
    }

    /// The map as text: a line of numbers, then a line for each row with `○`
    /// for a free seat and `×` for a taken one.
    pub fn text(&self) -> String {
        let numbers: BTreeMap<u32, ()> = self
            .hall
            .seats()
            .map(|place| (place.seat.number, ()))
            .collect();
        let mut text = String::from("  ");
        for number in numbers.keys() {
            text.push_str(&format!("{number:>3}"));
        }
        for row in &self.hall.rows {
            let Some(first) = row.first() else { continue };
            let mut line = format!("\n{:<2}", first.seat.row);
            let mut places = row.iter().peekable();
            for number in numbers.keys() {
                let mark = match places.next_if(|place| place.seat.number == *number) {
                    None => ' ',
                    Some(place) if self.is_free(&place.seat) => '○',
                    Some(_) => '×',
                };
                line.push_str("  ");
                line.push(mark);
            }
            text.push_str(line.trim_end_matches(' '));
        }
        text
    }

    /// As many free seats side by side as were wanted, nearest to the wanted ones. A
    /// row nearer or farther counts like two seats sideways. Only seats of the wanted
    /// types are proposed: nobody gets a wheelchair space unasked.
    pub fn nearest_block(&self, wanted: &[Seat]) -> Option<Vec<Seat>> {
        let types: HashSet<&str> = wanted
            .iter()
            .filter_map(|seat| self.hall.seat(seat))
            .map(|place| place.seat_type.as_str())
            .collect();
        let wanted_row: i64 = wanted
            .iter()
            .filter_map(|seat| self.hall.row_index(&seat.row))
            .map(as_i64)
            .sum();
        let wanted_number: i64 = wanted.iter().map(|seat| i64::from(seat.number)).sum();
        let size = wanted.len();
        if size == 0 {
            return None;
        }
        let mut best: Option<(i64, &[HallSeat])> = None;
        for (index, row) in self.hall.rows.iter().enumerate() {
            for block in row.windows(size) {
                let fits = block.iter().all(|place| {
                    self.is_free(&place.seat) && types.contains(place.seat_type.as_str())
                });
                if !fits || !has_no_gap(block) {
                    continue;
                }
                // Sums instead of means: the same order, without fractions.
                let row_sum = as_i64(index) * as_i64(size);
                let number_sum: i64 = block.iter().map(|p| i64::from(p.seat.number)).sum();
                let distance =
                    2 * (row_sum - wanted_row).abs() + (number_sum - wanted_number).abs();
                if best.is_none_or(|(least, _)| distance < least) {
                    best = Some((distance, block));
                }
            }
        }
        best.map(|(_, block)| block.iter().map(|place| place.seat.clone()).collect())
    }
}

pub(super) fn has_no_gap(block: &[HallSeat]) -> bool {
    block
        .iter()
        .zip(block.iter().skip(1))
        .all(|(left, right)| left.seat.number + 1 == right.seat.number)
}

pub(super) fn as_i64(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hall(rows: &[(&str, &[u32])]) -> Hall {
        let places = rows.iter().flat_map(|(row, numbers)| {
            numbers.iter().map(move |number| HallSeat {
                seat: Seat {
                    row: (*row).to_owned(),
                    number: *number,
                },
                seat_type: GENERAL.to_owned(),
            })
        });
        Hall::new(places.collect())
    }

    fn seats(names: &[&str]) -> Vec<Seat> {
        names
            .iter()
            .map(|name| Seat::parse(name).unwrap())
            .collect()
    }

    #[test]
    fn the_map_is_drawn() {
        let hall = hall(&[("A", &[1, 2, 3]), ("B", &[2, 3, 10])]);
        let map = SeatMap::new(&hall, seats(&["A2", "B10"]));
        assert_eq!(map.text(), "    1  2  3 10\nA   ○  ×  ○\nB      ○  ○  ×");
        assert_eq!(map.free_count(), 4);
        assert_eq!(
            map.rows(false),
            [("A".into(), vec![2]), ("B".into(), vec![10])]
        );
        assert_eq!(
            map.rows(true),
            [("A".into(), vec![1, 3]), ("B".into(), vec![2, 3])]
        );
        assert_eq!(hall.rows_in_words(), "A1-A3, B2-B10");
    }

    #[test]
    fn plans_that_differ_have_different_digests() {
        let one = hall(&[("A", &[1, 2])]);
        assert_eq!(one.digest(), hall(&[("A", &[2, 1])]).digest());
        assert_ne!(one.digest(), hall(&[("A", &[1, 3])]).digest());
    }

    #[test]
    fn a_gap_is_not_side_by_side() {
        let hall = hall(&[("A", &[1, 2, 4]), ("F", &[1, 2])]);
        let map = SeatMap::new(&hall, seats(&["A1"]));
        assert_eq!(
            map.nearest_block(&seats(&["A1", "A2"])),
            Some(seats(&["F1", "F2"]))
        );
    }

    #[test]
    fn special_seats_are_not_proposed_unasked() {
        let mut places: Vec<HallSeat> = hall(&[("A", &[1, 2])]).seats().cloned().collect();
        places[0].seat_type = "車椅子".into();
        let hall = Hall::new(places);
        let map = SeatMap::new(&hall, seats(&["A2"]));
        assert_eq!(map.nearest_block(&seats(&["A2"])), None);
        assert_eq!(map.nearest_block(&seats(&["A1"])), Some(seats(&["A1"])));
    }

    /// By brute force: every choice of taken seats in three rows, and every run of
    /// seats that could be wanted, also across the end of a row.
    #[test]
    fn the_nearest_block_is_free_adjacent_and_nearest() {
        let hall = hall(&[("A", &[1, 2, 3]), ("B", &[1, 2, 3, 4]), ("C", &[1, 2, 3])]);
        let all: Vec<Seat> = hall.seats().map(|place| place.seat.clone()).collect();
        let sums = |seats: &[Seat]| {
            let rows = seats.iter().filter_map(|seat| hall.row_index(&seat.row));
            let numbers = seats.iter().map(|seat| i64::from(seat.number));
            (rows.map(as_i64).sum::<i64>(), numbers.sum::<i64>())
        };
        for choice in 0..1_u32 << all.len() {
            let indexed = all.iter().enumerate();
            let taken = indexed.filter(|(index, _)| choice >> index & 1 == 1);
            let map = SeatMap::new(&hall, taken.map(|(_, seat)| seat.clone()));
            for size in 1..=3 {
                let mut free_blocks = all.windows(size).collect::<Vec<_>>();
                free_blocks.retain(|block| {
                    let in_one_row = block.iter().all(|seat| seat.row == block[0].row);
                    in_one_row && block.iter().all(|seat| map.is_free(seat))
                });
                for wanted in all.windows(size) {
                    let (wanted_rows, wanted_numbers) = sums(wanted);
                    let distance = |block: &[Seat]| {
                        let (rows, numbers) = sums(block);
                        2 * (rows - wanted_rows).abs() + (numbers - wanted_numbers).abs()
                    };
                    let least = free_blocks.iter().map(|block| distance(block)).min();
                    let proposed = map.nearest_block(wanted);
                    assert_eq!(proposed.as_deref().map(distance), least, "{choice}");
                    if let Some(block) = proposed {
                        assert!(free_blocks.contains(&block.as_slice()), "{choice}");
                    }
                }
            }
        }
    }
}
