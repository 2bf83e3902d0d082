//! Tables whose cells are more than text.

use serde_json::Value;

use super::cells::Cell;

#[derive(Debug, Clone, Default)]
pub struct CellTable {
    pub columns: Vec<String>,
    pub rows: Vec<CellRow>,
    /// The tool that the buttons in the last column call, if there are any.
    pub tool: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub struct CellRow {
    pub cells: Vec<Cell>,
    pub action: Option<RowAction>,
}

impl CellRow {
    pub fn new(cells: Vec<Cell>) -> Self {
        Self {
            cells,
            action: None,
        }
    }
}

/// What can be done with a row.
#[derive(Debug, Clone)]
pub struct RowAction {
    /// On the button.
    pub label: String,
    /// What it is done to, for those who only hear the button.
    pub about: String,
    pub arguments: Vec<(&'static str, Value)>,
}
