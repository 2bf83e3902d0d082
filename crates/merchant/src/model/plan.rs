//! From what an agent wants to the lines of a cart.

use std::collections::HashMap;

use kit::Result;
use serde_json::{Value, json};

use super::{
    cart::{Article, CartLine},
    decimal::Decimal,
    errors::{self, Shortage},
    limits::MAX_ITEMS,
};

/// The wanted products, each once, in the order of first mention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CartPlan {
    wanted: Vec<PlanItem>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanItem {
    pub product_id: i64,
    pub quantity: i64,
}

impl CartPlan {
    /// Reads `{"items": [{"product_id", "quantity"}]}`. Ids and quantities may be text;
    /// other fields are ignored.
    pub fn parse(plan: &Value) -> Result<Self> {
        let items = match plan.get("items") {
            Some(Value::Array(items)) => items,
            Some(Value::Null) | None if plan.is_object() => return Err(errors::empty_cart()),
            _ => return Err(errors::invalid_cart_plan("cart_plan has no list of items")),
        };
        if items.is_empty() {
            return Err(errors::empty_cart());
        }
        if items.len() > MAX_ITEMS {
            return Err(errors::too_many_items(items.len(), MAX_ITEMS));
        }
        if let Some(at) = items.iter().position(|item| !item.is_object()) {
            return Err(errors::invalid_cart_plan(&format!(
                "cart_plan.items[{at}] is not an object"
            )));
        }
        Self::merge(items)
    }

    fn merge(items: &[Value]) -> Result<Self> {
        let mut plan = Self { wanted: Vec::new() };
        let mut places: HashMap<i64, usize> = HashMap::new();
        let (mut no_ids, mut no_quantities) = (Vec::new(), Vec::new());
        for (index, item) in items.iter().enumerate() {
            let Some(product_id) = product_id(&item["product_id"]) else {
                no_ids.push(json!({ "index": index, "product_id": echo(&item["product_id"]) }));
                continue;
            };
            let place = *places.entry(product_id).or_insert(plan.wanted.len());
            let before = plan.wanted.get(place).map_or(0, |wanted| wanted.quantity);
            let Some(quantity) =
                quantity(&item["quantity"]).and_then(|quantity| quantity.checked_add(before))
            else {
                no_quantities.push(json!({
                    "index": index,
                    "product_id": product_id,
                    "quantity": echo(&item["quantity"]),
                }));
                continue;
            };
            match plan.wanted.get_mut(place) {
                Some(wanted) => wanted.quantity = quantity,
                None => plan.wanted.push(PlanItem {
                    product_id,
                    quantity,
                }),
            }
        }
        if !no_ids.is_empty() {
            return Err(errors::invalid_product_id(no_ids));
        }
        if !no_quantities.is_empty() {
            return Err(errors::invalid_quantity(no_quantities));
        }
        Ok(plan)
    }

    /// The lines of a cart with other quantities. New products come last.
    pub fn changed(lines: &[CartLine], quantities: &NewQuantities) -> Result<Self> {
        let mut wanted: Vec<PlanItem> = lines
            .iter()
            .map(|line| PlanItem {
                product_id: line.product_id,
                quantity: line.quantity,
            })
            .collect();
        for new in &quantities.0 {
            match wanted
                .iter_mut()
                .find(|item| item.product_id == new.product_id)
            {
                Some(item) => item.quantity = new.quantity,
                None => wanted.push(*new),
            }
        }
        wanted.retain(|item| item.quantity > 0);
        match wanted.is_empty() {
            true => Err(errors::nothing_left()),
            false if wanted.len() > MAX_ITEMS => {
                Err(errors::too_many_items(wanted.len(), MAX_ITEMS))
            }
            false => Ok(Self { wanted }),
        }
    }

    /// Whether these lines are what is wanted.
    pub fn is_of(&self, lines: &[CartLine]) -> bool {
        let lines = lines.iter().map(|line| (line.product_id, line.quantity));
        let wanted = self
            .wanted
            .iter()
            .map(|item| (item.product_id, item.quantity));
        wanted.eq(lines)
    }

    pub fn wanted(&self) -> &[PlanItem] {
        &self.wanted
    }

    pub fn product_ids(&self) -> Vec<i64> {
        self.wanted.iter().map(|wanted| wanted.product_id).collect()
    }

    /// The plan with the shop's own names and prices. `articles`: those of
    /// [`CartPlan::product_ids`] that the shop has, in any order. One unknown or
    /// insufficient product refuses the whole cart.
    pub fn lines(&self, articles: &[Article]) -> Result<Vec<CartLine>> {
        let by_id: HashMap<i64, &Article> = articles
            .iter()
            .map(|article| (article.id, article))
            .collect();
        let mut found = Vec::with_capacity(self.wanted.len());
        let mut unknown = Vec::new();
        for wanted in &self.wanted {
            match by_id.get(&wanted.product_id) {
                Some(article) => found.push((*article, wanted.quantity)),
                None => unknown.push(wanted.product_id),
            }
        }
        if !unknown.is_empty() {
            return Err(errors::product_not_found(&unknown));
        }
        let shortages: Vec<Shortage> = found
            .iter()
            .filter(|(article, quantity)| *quantity > article.available)
            .map(|(article, quantity)| Shortage {
                product_id: article.id,
                requested: *quantity,
                available: article.available.max(0),
            })
            .collect();
        if !shortages.is_empty() {
            return Err(errors::insufficient_stock(&shortages));
        }
        found
            .into_iter()
            .map(|(article, quantity)| CartLine::new(article, quantity))
            .collect()
    }
}

/// What a cart should have of some products; 0 removes one.
#[derive(Debug, Default)]
pub struct NewQuantities(Vec<PlanItem>);

impl NewQuantities {
    pub fn parse(items: &[Value]) -> Result<Self> {
        if items.len() > MAX_ITEMS {
            return Err(errors::too_many_items(items.len(), MAX_ITEMS));
        }
        let mut quantities: Vec<PlanItem> = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let Some(product_id) = product_id(&item["product_id"]) else {
                let item = json!({ "index": index, "product_id": echo(&item["product_id"]) });
                return Err(errors::invalid_product_id(vec![item]));
            };
            let quantity = Decimal::from_json(&item["quantity"]).and_then(Decimal::whole);
            let quantity = quantity.ok().filter(|quantity| *quantity >= 0);
            let is_twice = quantities
                .iter()
                .any(|earlier| earlier.product_id == product_id);
            match quantity.filter(|_| !is_twice) {
                Some(quantity) => quantities.push(PlanItem {
                    product_id,
                    quantity,
                }),
                None => {
                    let quantity = echo(&item["quantity"]);
                    let item =
                        json!({ "index": index, "product_id": product_id, "quantity": quantity });
                    return Err(errors::invalid_new_quantity(item));
                }
            }
        }
        Ok(Self(quantities))
    }
}

/// A product id as agents write it: a positive integer, which may be text.
pub fn product_id(value: &Value) -> Option<i64> {
    Decimal::from_json(value)
        .and_then(Decimal::whole)
        .ok()
        // A double cannot hold larger ids, so some readers would see another id.
        .filter(|id| (1..1 << 53).contains(id))
}

fn quantity(value: &Value) -> Option<i64> {
    Decimal::from_json(value)
        .and_then(Decimal::whole)
        .ok()
        .filter(|quantity| *quantity >= 1)
}

/// The given value, if it is short enough to be repeated.
pub fn echo(value: &Value) -> Value {
    match value {
        Value::Bool(_) | Value::Number(_) => value.clone(),
        Value::String(text) if text.chars().count() <= 64 => value.clone(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{money::Yen, testing};

    fn article(id: i64, price: i64, available: i64) -> Article {
        Article {
            available,
            ..testing::article(id, price)
        }
    }

    fn values(list: Value) -> Vec<Value> {
        serde_json::from_value(list).unwrap()
    }

    fn plan(items: Value) -> Result<CartPlan> {
        CartPlan::parse(&json!({ "items": items }))
    }

    #[test]
    fn a_changed_cart_has_a_limit_of_lines_too() {
        let item = |number: usize| PlanItem {
            product_id: number as i64,
            quantity: 1,
        };
        let changed = |lines: usize| {
            let quantities = NewQuantities((0..lines).map(item).collect());
            CartPlan::changed(&[], &quantities)
        };
        assert_eq!(changed(MAX_ITEMS).unwrap().wanted().len(), MAX_ITEMS);
        let refused = changed(MAX_ITEMS + 1).unwrap_err();
        assert_eq!(refused.code, errors::too_many_items(0, 0).code);
        assert_eq!(changed(0).unwrap_err().code, errors::nothing_left().code);
    }

    fn wanted(items: Value) -> Vec<(i64, i64)> {
        plan(items)
            .unwrap()
            .wanted()
            .iter()
            .map(|wanted| (wanted.product_id, wanted.quantity))
            .collect()
    }

    /// The code of a refusal and what it says about the items.
    fn refused<T: std::fmt::Debug>(result: Result<T>) -> (String, Value) {
        let error = result.unwrap_err();
        assert!(error.next.is_some(), "{error}");
        let items = error.details.unwrap_or_default()["items"].take();
        (error.code.into_owned(), items)
    }

    #[test]
    fn what_an_agent_notes_beside_its_plan_does_no_harm() {
        let plan = CartPlan::parse(&json!({
            "name": "おすすめプラン",
            "description": "人気商品",
            "total": 1,
            "items": [
                { "product_id": 1, "quantity": 2, "name": "x", "price_jpy": 1.0 },
                { "product_id": "5", "quantity": "1", "reason": null },
            ],
        }))
        .unwrap();
        assert_eq!(plan.product_ids(), [1, 5]);
        let lines = plan
            .lines(&[article(5, 3500, 1), article(1, 1980, 50)])
            .unwrap();
        let totals: Vec<i64> = lines.iter().map(|line| line.total.get()).collect();
        assert_eq!(totals, [3960, 3500]);
        assert_eq!(lines[0].name, "商品1");
    }

    #[test]
    fn equal_lines_are_merged_where_they_first_stood() {
        let items = json!([
            { "product_id": 7, "quantity": 1 },
            { "product_id": 1, "quantity": 2 },
            { "product_id": "７", "quantity": 3.0 },
            { "product_id": 1.0, "quantity": 1 },
        ]);
        assert_eq!(wanted(items), [(7, 4), (1, 3)]);
        let stock = [article(7, 10, 3), article(1, 10, 3)];
        let items = json!([{ "product_id": 7, "quantity": 2 }, { "product_id": 7, "quantity": 2 }]);
        let (code, items) = refused(plan(items).unwrap().lines(&stock));
        assert_eq!(code, "INSUFFICIENT_STOCK");
        let short = json!([{ "product_id": 7, "requested": 4, "available": 3 }]);
        assert_eq!(items, short);
    }

    #[test]
    fn an_empty_cart_is_refused() {
        for plan in values(json!([{}, { "items": [] }, { "items": null }])) {
            assert_eq!(refused(CartPlan::parse(&plan)).0, "EMPTY_CART", "{plan}");
        }
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        for plan in values(json!([null, [], "1", { "items": 1 }, { "items": [1] }])) {
            let (code, _) = refused(CartPlan::parse(&plan));
            assert_eq!(code, "INVALID_CART_PLAN", "{plan}");
        }
        let many = vec![json!({ "product_id": 1, "quantity": 1 }); MAX_ITEMS + 1];
        assert_eq!(refused(plan(json!(many))).0, "TOO_MANY_ITEMS");
    }

    #[test]
    fn quantities_are_whole_and_at_least_one() {
        for quantity in values(json!([0, -1, 1.5, "1.5", "two", null, true, 1e300])) {
            let items = json!([
                { "product_id": 1, "quantity": 1 },
                { "product_id": 2, "quantity": quantity },
            ]);
            let (code, items) = refused(plan(items));
            assert_eq!(code, "INVALID_QUANTITY", "{quantity}");
            let named = json!([{ "index": 1, "product_id": 2, "quantity": quantity }]);
            assert_eq!(items, named);
        }
        let (code, _) = refused(plan(json!([{ "product_id": 1 }])));
        assert_eq!(code, "INVALID_QUANTITY");
        let most = json!({ "product_id": 1, "quantity": i64::MAX });
        let (code, _) = refused(plan(json!([most, most])));
        assert_eq!(code, "INVALID_QUANTITY");
    }

    #[test]
    fn a_wrong_first_item_does_not_misplace_the_next() {
        let items = json!([
            { "product_id": 1, "quantity": 0 },
            { "product_id": 2, "quantity": 5 },
            { "product_id": 1, "quantity": 0 },
        ]);
        let (_, items) = refused(plan(items));
        assert_eq!(
            (&items[0]["index"], &items[1]["index"]),
            (&json!(0), &json!(2))
        );
        assert_eq!(items[2], Value::Null);
    }

    #[test]
    fn ids_are_positive_integers() {
        for id in values(json!([0, -1, 1.5, "x", 1_u64 << 53])) {
            let (code, items) = refused(plan(json!([{ "product_id": id, "quantity": 1 }])));
            assert_eq!(code, "INVALID_PRODUCT_ID", "{id}");
            assert_eq!(items, json!([{ "index": 0, "product_id": id }]));
        }
        let long = "x".repeat(65);
        let (_, items) = refused(plan(json!([{ "product_id": long, "quantity": 1 }])));
        assert_eq!(items[0]["product_id"], Value::Null);
    }

    #[test]
    fn unknown_and_short_products_refuse_the_whole_cart() {
        let all = plan(json!([
            { "product_id": 1, "quantity": 3 },
            { "product_id": 3, "quantity": 1 },
            { "product_id": 9, "quantity": 1 },
        ]))
        .unwrap();
        let (code, items) = refused(all.lines(&[article(1, 10, 2)]));
        assert_eq!(code, "PRODUCT_NOT_FOUND");
        assert_eq!(items, json!([{ "product_id": 3 }, { "product_id": 9 }]));
        let stock = [article(1, 10, 2), article(3, 10, 0), article(9, 10, 1)];
        let (code, items) = refused(all.lines(&stock));
        assert_eq!(code, "INSUFFICIENT_STOCK");
        assert_eq!(
            items,
            json!([
                { "product_id": 1, "requested": 3, "available": 2 },
                { "product_id": 3, "requested": 1, "available": 0 },
            ])
        );
        let most = Yen::MAX.get();
        let dear = [article(1, most, 9), article(3, 1, 9), article(9, 1, 9)];
        assert_eq!(refused(all.lines(&dear)).0, "AMOUNT_TOO_LARGE");
    }
}
