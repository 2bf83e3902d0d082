//! What somebody is charged for, as a receipt.

use super::cells::Cell;

#[derive(Debug, Clone)]
pub struct Receipt {
    pub seller: String,
    /// Such as its number and when it expires.
    pub facts: Vec<(String, Cell)>,
    pub lines: Vec<ReceiptLine>,
    /// Between the lines and the total: each with its amount.
    pub sums: Vec<(String, String)>,
    pub total: (String, String),
}

#[derive(Debug, Clone)]
pub struct ReceiptLine {
    pub label: String,
    /// Such as the number of pieces and the price of one.
    pub note: String,
    pub amount: String,
}
