//! How changes are written to the index: as they come, or many at once.

use search::{Bulk, Change, Document, Error, Index};

use crate::store::{Changed, Product};

pub struct ChangeBatch {
    pub changes: Vec<(i64, Changed)>,
    /// The number of the last one.
    pub last: i64,
}

/// What a batch is written to.
pub enum Writing {
    Index(Index),
    Bulk(Bulk),
}

impl Writing {
    pub fn write(&mut self, batch: ChangeBatch) -> Result<(), Error> {
        let changes = batch.changes.into_iter().map(|(_, change)| match change {
            Changed::Put(product) => Change::Put(document(*product)),
            Changed::Removed(id) => Change::Remove(id),
        });
        let position = batch.last.unsigned_abs();
        match self {
            Self::Index(index) => index.apply(changes, position),
            Self::Bulk(bulk) => bulk.apply(changes, position),
        }
    }
}

fn document(product: Product) -> Document {
    Document {
        id: product.id,
        sku: product.sku,
        name: product.name,
        other_names: product.names.into_values().collect(),
        description: product.description,
        category: product.category,
        brand: product.brand,
        keywords: product.keywords,
        price: product.price_yen,
        in_stock: product.stock > 0,
    }
}
