//! A board: columns of cards that a person moves from one to another.

use serde_json::Value;

use super::{
    link::{PageLink, Query},
    tag::Tag,
};

#[derive(Debug, Clone)]
pub struct Board {
    pub label: String,
    /// The tool that moves a card.
    pub tool: &'static str,
    pub columns: Vec<Column>,
}

#[derive(Debug, Clone)]
pub struct Column {
    pub title: String,
    /// How many cards it has, shown or not.
    pub count: usize,
    pub cards: Vec<Card>,
    /// To the cards that are not shown.
    pub more: Option<PageLink>,
}

#[derive(Debug, Clone)]
pub struct Card {
    /// Unique on the board, and short.
    pub id: String,
    pub title: String,
    /// Where the title leads.
    pub query: Query,
    pub tags: Vec<Tag>,
    pub moves: Vec<CardMove>,
}

#[derive(Debug, Clone)]
pub struct CardMove {
    /// On the button: where the card goes.
    pub label: String,
    pub arguments: Vec<(&'static str, Value)>,
}
