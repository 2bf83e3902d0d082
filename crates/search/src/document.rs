//! What is indexed.

/// A product. Text fields may hold anything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Document {
    pub id: i64,
    pub sku: String,
    pub name: String,
    /// Its names in other languages.
    pub other_names: Vec<String>,
    pub description: String,
    pub category: Option<String>,
    pub brand: Option<String>,
    pub keywords: Vec<String>,
    /// In whole yen.
    pub price: i64,
    pub in_stock: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// Adds the product, or replaces the one with the same id.
    Put(Document),
    Remove(i64),
}
