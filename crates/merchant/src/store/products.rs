//! The catalogue.

use std::collections::{BTreeMap, HashMap};

use kit::{Error, Param, Result, Row, Sql, sql::values, text::fold};

use super::{
    change_numbers::number_changes,
    sql_text::{ROWS_PER_INSERT, VALUES_PER_LIST, placeholders},
    stock::RESERVED,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    pub id: i64,
    pub sku: String,
    pub name: String,
    /// The names in other languages, by language code.
    pub names: BTreeMap<String, String>,
    pub description: String,
    pub price_yen: i64,
    /// What may be sold now; when saved, the whole stock.
    pub stock: i64,
    pub category: Option<String>,
    pub brand: Option<String>,
    pub image_url: Option<String>,
    pub refund_period_days: i64,
    pub keywords: Vec<String>,
}

const COLUMNS: &str = "p.id, p.sku, p.name, p.description, p.price_yen, p.category, p.brand, \
     p.image_url, p.refund_period_days, p.keywords, p.names";

/// The column of the stock in a row that begins with [`COLUMNS`].
const STOCK: usize = 11;

fn read(row: &Row) -> Result<Product> {
    Ok(Product {
        id: row.int(0)?,
        sku: row.text(1)?,
        name: row.text(2)?,
        description: row.text(3)?,
        price_yen: row.int(4)?,
        category: row.opt_text(5)?,
        brand: row.opt_text(6)?,
        image_url: row.opt_text(7)?,
        refund_period_days: row.int(8)?,
        keywords: row.text(9)?.lines().map(str::to_owned).collect(),
        names: match row.opt_text(10)? {
            Some(names) => serde_json::from_str(&names).map_err(Error::internal)?,
            None => BTreeMap::new(),
        },
        stock: row.int(STOCK)?.max(0),
    })
}

/// The products with these ids, with what is available of each, in one query
/// and in no particular order.
pub fn products(sql: &mut dyn Sql, ids: &[i64], now: i64) -> Result<HashMap<i64, Product>> {
    let mut found = HashMap::with_capacity(ids.len());
    for chunk in ids.chunks(VALUES_PER_LIST) {
        let mut params = vec![Param::Int(now)];
        params.extend(chunk.iter().map(|id| Param::Int(*id)));
        let text = format!(
            "SELECT {COLUMNS}, p.stock - {RESERVED} FROM merchant_products p WHERE p.id IN ({})",
            placeholders(2, chunk.len())
        );
        for row in sql.query(&text, &params)? {
            let product = read(&row)?;
            found.insert(product.id, product);
        }
    }
    Ok(found)
}

#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub categories: Vec<String>,
    pub brands: Vec<String>,
    pub min_price: Option<i64>,
    pub max_price: Option<i64>,
    pub include_sold_out: bool,
}

impl Filter {
    pub fn is_empty(&self) -> bool {
        self.categories.is_empty()
            && self.brands.is_empty()
            && self.min_price.is_none()
            && self.max_price.is_none()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    Oldest,
    Newest,
    Cheapest,
    Dearest,
    Name,
}

/// Products in stock, or all, a page of them.
pub fn list(
    sql: &mut dyn Sql,
    filter: &Filter,
    order: Order,
    (offset, limit): (usize, usize),
    now: i64,
) -> Result<Vec<Product>> {
    let categories = labels(sql, "category", &filter.categories)?;
    let brands = labels(sql, "brand", &filter.brands)?;
    let mut params = vec![Param::Int(now)];
    let mut wanted = vec![match filter.include_sold_out {
        false => format!("p.stock > 0 AND p.stock > {RESERVED}"),
        true => "TRUE".to_owned(),
    }];
    for (column, among) in [("category", &categories), ("brand", &brands)] {
        if let Some(among) = among {
            if among.is_empty() {
                return Ok(Vec::new());
            }
            let list = placeholders(params.len() + 1, among.len());
            wanted.push(format!("p.{column} IN ({list})"));
            params.extend(among.iter().map(|value| Param::Text(value)));
        }
    }
    for (sign, bound) in [(">=", filter.min_price), ("<=", filter.max_price)] {
        if let Some(bound) = bound {
            params.push(Param::Int(bound));
            wanted.push(format!("p.price_yen {sign} ${}", params.len()));
        }
    }
    let order = match order {
        Order::Oldest => "p.id",
        Order::Newest => "p.id DESC",
        Order::Cheapest => "p.price_yen, p.id",
        Order::Dearest => "p.price_yen DESC, p.id DESC",
        Order::Name => "p.name, p.id",
    };
    params.push(Param::Int(i64::try_from(limit).map_err(Error::internal)?));
    params.push(Param::Int(i64::try_from(offset).map_err(Error::internal)?));
    let text = format!(
        "SELECT {COLUMNS}, p.stock - {RESERVED} FROM merchant_products p WHERE {} \
         ORDER BY {order} LIMIT ${} OFFSET ${}",
        wanted.join(" AND "),
        params.len() - 1,
        params.len(),
    );
    sql.query(&text, &params)?.iter().map(read).collect()
}

/// The labels of the catalogue that match: `Sora` finds SORA, as in a search. `None`
/// for any label.
fn labels(sql: &mut dyn Sql, column: &str, wanted: &[String]) -> Result<Option<Vec<String>>> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let mut meant = Vec::new();
    let mut unknown = Vec::new();
    for label in wanted {
        let known = format!("SELECT 1 FROM merchant_products WHERE {column} = $1 LIMIT 1");
        match sql.query_one(&known, &[Param::Text(label)])? {
            Some(_) => meant.push(label.clone()),
            None => unknown.push(fold(label)),
        }
    }
    unknown.retain(|label| !label.is_empty());
    if !unknown.is_empty() {
        let all =
            format!("SELECT DISTINCT {column} FROM merchant_products WHERE {column} IS NOT NULL");
        for row in sql.query(&all, &[])? {
            let label = row.text(0)?;
            if unknown.contains(&fold(&label)) {
                meant.push(label);
            }
        }
    }
    Ok(Some(meant))
}

pub fn is_empty(sql: &mut dyn Sql) -> Result<bool> {
    let found = sql.query("SELECT 1 FROM merchant_products LIMIT 1", &[])?;
    Ok(found.is_empty())
}

pub fn count(sql: &mut dyn Sql) -> Result<i64> {
    sql.query_one("SELECT COUNT(*) FROM merchant_products", &[])?
        .map_or(Ok(0), |row| row.int(0))
}

pub fn count_demo(sql: &mut dyn Sql) -> Result<i64> {
    sql.query_one(
        "SELECT COUNT(*) FROM merchant_products WHERE is_demo = 1",
        &[],
    )?
    .map_or(Ok(0), |row| row.int(0))
}

/// Which product has each of these SKUs.
pub fn sku_owners(sql: &mut dyn Sql, skus: &[&str]) -> Result<HashMap<String, i64>> {
    let mut owners = HashMap::new();
    for chunk in skus.chunks(VALUES_PER_LIST) {
        let params: Vec<Param<'_>> = chunk.iter().map(|sku| Param::Text(sku)).collect();
        let text = format!(
            "SELECT sku, id FROM merchant_products WHERE sku IN ({})",
            placeholders(1, chunk.len())
        );
        for row in sql.query(&text, &params)? {
            owners.insert(row.text(0)?, row.int(1)?);
        }
    }
    Ok(owners)
}

/// Up to 200 SKUs that begin like this one.
pub fn similar_skus(sql: &mut dyn Sql, sku: &str) -> Result<Vec<String>> {
    let begin: String = sku.chars().take(4).collect();
    let end = format!("{begin}\u{10ffff}");
    sql.query(
        "SELECT sku FROM merchant_products WHERE sku >= $1 AND sku < $2 ORDER BY sku LIMIT 200",
        &[Param::Text(&begin), Param::Text(&end)],
    )?
    .iter()
    .map(|row| row.text(0))
    .collect()
}

/// Whose products are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The shop's own. They replace demo products with the same id.
    Shop,
    /// Sample data. It never replaces a product.
    Demo,
}

/// Writes products, each id once, and numbers the changes for search. Returns
/// how many were written.
pub fn save(sql: &mut dyn Sql, products: &[Product], owner: Owner) -> Result<u64> {
    let mut written = 0;
    for chunk in products.chunks(ROWS_PER_INSERT) {
        let first = number_changes(sql, chunk.len())?;
        let keywords: Vec<String> = chunk.iter().map(|p| p.keywords.join("\n")).collect();
        let names: Vec<Option<String>> = chunk.iter().map(names_column).collect();
        let mut params = Vec::with_capacity(chunk.len() * 14);
        let texts = keywords.iter().zip(&names);
        for ((number, product), (keywords, names)) in (first..).zip(chunk).zip(texts) {
            params.extend([
                Param::Int(product.id),
                Param::Text(&product.sku),
                Param::Text(&product.name),
                Param::Text(&product.description),
                Param::Int(product.price_yen),
                Param::Int(product.stock),
                Param::from(product.category.as_deref()),
                Param::from(product.brand.as_deref()),
                Param::from(product.image_url.as_deref()),
                Param::Int(product.refund_period_days),
                Param::Text(keywords),
                Param::from(names.as_deref()),
                Param::Int((owner == Owner::Demo).into()),
                Param::Int(number),
            ]);
        }
        let conflict = match owner {
            Owner::Demo => "NOTHING",
            Owner::Shop => {
                "UPDATE SET sku = excluded.sku, name = excluded.name, \
                 description = excluded.description, price_yen = excluded.price_yen, \
                 stock = excluded.stock, category = excluded.category, brand = excluded.brand, \
                 image_url = excluded.image_url, \
                 refund_period_days = excluded.refund_period_days, \
                 keywords = excluded.keywords, names = excluded.names, is_demo = excluded.is_demo, \
                 change_number = excluded.change_number"
            }
        };
        written += sql.execute(
            &format!(
                "INSERT INTO merchant_products (id, sku, name, description, price_yen, stock, \
                 category, brand, image_url, refund_period_days, keywords, names, is_demo, \
                 change_number) VALUES {} ON CONFLICT (id) DO {conflict}",
                values(chunk.len(), 14)
            ),
            &params,
        )?;
        let ids: Vec<Param<'_>> = chunk.iter().map(|product| Param::Int(product.id)).collect();
        sql.execute(
            &format!(
                "DELETE FROM merchant_removed_products WHERE id IN ({})",
                placeholders(1, ids.len())
            ),
            &ids,
        )?;
    }
    Ok(written)
}

fn names_column(product: &Product) -> Option<String> {
    let names = &product.names;
    (!names.is_empty()).then(|| serde_json::json!(names).to_string())
}

/// Removes the sample data and numbers the changes for search. Returns how many
/// products were removed.
pub fn remove_demo(sql: &mut dyn Sql) -> Result<usize> {
    let ids: Vec<i64> = sql
        .query(
            "DELETE FROM merchant_products WHERE is_demo = 1 RETURNING id",
            &[],
        )?
        .iter()
        .map(|row| row.int(0))
        .collect::<Result<_>>()?;
    for chunk in ids.chunks(ROWS_PER_INSERT) {
        let first = number_changes(sql, chunk.len())?;
        let mut params = Vec::with_capacity(chunk.len() * 2);
        for (number, id) in (first..).zip(chunk) {
            params.extend([Param::Int(*id), Param::Int(number)]);
        }
        sql.execute(
            &format!(
                "INSERT INTO merchant_removed_products (id, change_number) VALUES {} \
                 ON CONFLICT (id) DO UPDATE SET change_number = excluded.change_number",
                values(chunk.len(), 2)
            ),
            &params,
        )?;
    }
    Ok(ids.len())
}

pub(super) fn changed_after(
    sql: &mut dyn Sql,
    position: i64,
    limit: i64,
) -> Result<Vec<(i64, Product)>> {
    sql.query(
        &format!(
            "SELECT {COLUMNS}, p.stock, p.change_number FROM merchant_products p \
             WHERE p.change_number > $1 ORDER BY p.change_number LIMIT $2"
        ),
        &[Param::Int(position), Param::Int(limit)],
    )?
    .iter()
    .map(|row| Ok((row.int(STOCK + 1)?, read(row)?)))
    .collect()
}
