//! What to say when the shop has no products at all.

use kit::{Error, Result, Sql, context::Language};

use crate::store;

const ENGLISH: &str = "The shop has no products yet. `madoguchi demo load merchant` loads sample \
     products; `madoguchi import merchant FILE` takes your own.";
const JAPANESE: &str = "商品がまだ登録されていません。`madoguchi demo load merchant`でサンプルを読み込むか、\
     `madoguchi import merchant FILE`で取り込んでください。";

pub fn message(language: Language) -> &'static str {
    match language {
        Language::English => ENGLISH,
        Language::Japanese => JAPANESE,
    }
}

/// The error, with this advice if the shop is empty.
pub fn explain(sql: &mut dyn Sql, error: Error) -> Result<Error> {
    Ok(match store::is_empty(sql)? {
        true => error.next(ENGLISH),
        false => error,
    })
}
