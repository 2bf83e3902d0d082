//! Small documents that are always read and written whole: the price list and the
//! place. The demo's are kept apart from the operator's.

use kit::{Error, Param, Result, Sql};
use serde::{Serialize, de::DeserializeOwned};

use crate::model::{digest, place::Place, prices::PriceList};

/// A value that is kept as a document.
pub trait Document: Serialize + DeserializeOwned {
    const NAME: &'static str;
}

impl Document for PriceList {
    const NAME: &'static str = "prices";
}

impl Document for Place {
    const NAME: &'static str = "place";
}

pub fn save_document<D: Document>(sql: &mut dyn Sql, document: &D, demo: bool) -> Result<()> {
    let body = serde_json::to_string(document).map_err(Error::internal)?;
    sql.execute(
        "INSERT INTO cinema_documents (name, is_demo, body, digest) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (name, is_demo) DO UPDATE SET body = excluded.body, digest = excluded.digest",
        &[
            Param::Text(D::NAME),
            Param::Int(demo.into()),
            Param::Text(&body),
            Param::Int(digest(body.bytes())),
        ],
    )?;
    Ok(())
}

/// The operator's document, or the demo's.
pub fn document<D: Document>(sql: &mut dyn Sql, demo: bool) -> Result<Option<D>> {
    let found = sql.query_one(
        "SELECT body FROM cinema_documents WHERE name = $1 AND is_demo = $2",
        &[Param::Text(D::NAME), Param::Int(demo.into())],
    )?;
    let read = |body: String| serde_json::from_str(&body).map_err(Error::internal);
    found.map(|row| read(row.text(0)?)).transpose()
}

/// The operator's document, or else the demo's.
pub fn any_document<D: Document>(sql: &mut dyn Sql) -> Result<Option<D>> {
    match document(sql, false)? {
        Some(document) => Ok(Some(document)),
        None => document(sql, true),
    }
}

/// The names of the documents that exist.
pub fn document_names(sql: &mut dyn Sql) -> Result<Vec<String>> {
    let rows = sql.query("SELECT DISTINCT name FROM cinema_documents", &[])?;
    rows.iter().map(|row| row.text(0)).collect()
}
