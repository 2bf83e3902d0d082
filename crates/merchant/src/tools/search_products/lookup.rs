//! What a search reads from the database.

use kit::{Result, sql::Budget};

use crate::{
    state::CounterState,
    store::{self, Product},
};

pub struct Lookup<'a> {
    pub state: &'a CounterState,
    pub now: i64,
    pub budget: Budget,
}

impl Lookup<'_> {
    /// The candidates that exist, each with its position.
    pub async fn products(&self, ids: Vec<i64>) -> Result<Vec<(usize, Product)>> {
        let now = self.now;
        self.state
            .store
            .query(self.budget.clone(), move |sql| {
                let mut found = store::products(sql, &ids, now)?;
                Ok(ids
                    .iter()
                    .enumerate()
                    .filter_map(|(at, id)| Some((at, found.remove(id)?)))
                    .collect())
            })
            .await
    }
}
