//! Rules about the seats of one booking.

use super::{
    hall::{COUPLE, Hall},
    seat::{Seat, side_by_side},
};

/// Seats for couples of which only one half is among `seats`, each with its other
/// half. Seats for couples that stand side by side are paired from the left.
pub fn half_couples(hall: &Hall, seats: &[Seat]) -> Vec<(Seat, Seat)> {
    let couple = hall.seats().filter(|place| place.seat_type == COUPLE);
    let couple: Vec<Seat> = couple.map(|place| place.seat.clone()).collect();
    let mut halves = Vec::new();
    for run in side_by_side(&couple) {
        for pair in run.chunks_exact(2) {
            if let [left, right] = pair {
                match (seats.contains(left), seats.contains(right)) {
                    (true, false) => halves.push((left.clone(), right.clone())),
                    (false, true) => halves.push((right.clone(), left.clone())),
                    _ => {}
                }
            }
        }
    }
    halves
}

#[cfg(test)]
mod tests {
    use super::{
        super::hall::{GENERAL, HallSeat},
        *,
    };

    fn seats(names: &str) -> Vec<Seat> {
        names.split(' ').filter_map(Seat::parse).collect()
    }

    #[test]
    fn half_of_a_couple_seat() {
        let place = |(number, seat_type): (u32, &str)| HallSeat {
            seat: Seat {
                row: "H".into(),
                number,
            },
            seat_type: seat_type.into(),
        };
        let types = [COUPLE, COUPLE, COUPLE, COUPLE, GENERAL];
        let hall = Hall::new((1..).zip(types).map(place).collect());
        for (names, halves) in [
            ("H1 H2", ""),
            ("H3", "H3 H4"),
            ("H2 H3", "H2 H1 H3 H4"),
            ("H5", ""),
        ] {
            let found = half_couples(&hall, &seats(names)).into_iter();
            let found: Vec<Seat> = found.flat_map(|(half, other)| [half, other]).collect();
            assert_eq!(found, seats(halves), "{names}");
        }
    }
}
