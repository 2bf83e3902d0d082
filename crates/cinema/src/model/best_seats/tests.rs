use proptest::prelude::*;

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
    assert_eq!(best("C1", &aisle), "C9, C10");
    assert_eq!(best("C10", &aisle), "C1, C2");
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

proptest! {
    /// The definition, over all free seats of the row, for every block that is proposed.
    #[test]
    fn a_lone_seat_is_a_free_one_without_free_neighbours(
        taken in proptest::collection::hash_set((0..5u8, 1..=10u32), 0..40),
        party_size in 1..5usize,
    ) {
        let plan = plan();
        let taken: HashSet<Seat> = taken
            .into_iter()
            .map(|(row, number)| Seat { row: char::from(b'A' + row).to_string(), number })
            .collect();
        let map = SeatMap::new(&plan, taken.clone());
        for block in best_blocks(&map, &Needs::of(party_size), 50) {
            let left: Vec<Seat> = plan
                .seats()
                .filter(|it| it.seat_type == GENERAL && !taken.contains(&it.seat))
                .map(|it| it.seat.clone())
                .filter(|seat| !block.seats.contains(seat))
                .collect();
            let touches = |alone: &Seat| block.seats.iter().any(|seat| {
                seat.row == alone.row && seat.number.abs_diff(alone.number) == 1
            });
            let expected = side_by_side(&left)
                .iter()
                .any(|run| matches!(run.as_slice(), [alone] if touches(alone)));
            prop_assert_eq!(block.leaves_lone_seat, expected, "{}", join(&block.seats));
        }
    }
}
