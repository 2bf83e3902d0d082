//! Ids that cannot be guessed: whoever has one may act on what it names.

/// 130 bits.
const LENGTH: usize = 26;
const WAITING: &str = "wtg_";

/// Of a reservation or a hold.
pub fn reservation() -> String {
    kit::ids::random("rsv_", LENGTH)
}

/// Of a party on a waiting list.
pub fn waiting() -> String {
    kit::ids::random(WAITING, LENGTH)
}

pub fn is_waiting(id: &str) -> bool {
    id.starts_with(WAITING)
}
