//! A plan of places that a person chooses from.

/// A plan of places, such as the seats of a hall.
#[derive(Debug, Clone)]
pub struct Plan {
    pub argument: &'static str,
    pub label: String,
    /// What is in front of the first row.
    pub front: String,
    pub rows: Vec<PlanRow>,
}

#[derive(Debug, Clone)]
pub struct PlanRow {
    pub label: String,
    /// `None`: a gap.
    pub places: Vec<Option<Place>>,
}

#[derive(Debug, Clone)]
pub struct Place {
    /// What the argument gets.
    pub value: String,
    /// Short, to fit into the place.
    pub label: String,
    /// What a person should know about the place, such as its kind.
    pub note: String,
    pub state: PlaceState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceState {
    Free,
    /// For a while.
    Held,
    Taken,
}
