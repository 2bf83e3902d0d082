//! Properties of every cart under all terms, checked on random carts and against
//! another decimal library.

use bigdecimal::{BigDecimal, RoundingMode};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    cart::{Article, Quote},
    formats::Format,
    money::{Rounding, TaxRate, Yen},
    plan::CartPlan,
    terms::Terms,
    testing::{article, cart_of},
};

/// The terms, with the rate as it was written.
fn terms() -> impl Strategy<Value = (Terms, String)> {
    let rate = prop_oneof![
        Just("0.1".to_owned()),
        Just("0.08".to_owned()),
        Just("0".to_owned()),
        Just("1".to_owned()),
        (1_u32..=9, any::<u32>()).prop_map(|(scale, digits)| {
            let digits = u64::from(digits) % 10_u64.pow(scale);
            format!("0.{digits:0width$}", width = scale as usize)
        }),
    ];
    let rounding = prop_oneof![
        Just(Rounding::Floor),
        Just(Rounding::HalfUp),
        Just(Rounding::Ceil)
    ];
    (0..2000_i64, 0..20_000_i64, rate, rounding).prop_map(|(fee, threshold, rate, rounding)| {
        let terms = Terms {
            shipping_fee: Yen::new(fee).unwrap(),
            free_shipping_threshold: Yen::new(threshold).unwrap(),
            tax_rate: rate.parse().unwrap(),
            rounding,
        };
        (terms, rate)
    })
}

/// Products and quantities; mostly everyday prices, some very high ones.
fn goods() -> impl Strategy<Value = Vec<(Article, i64)>> {
    let price = prop_oneof![9 => 0..20_000_i64, 1 => 0..1_000_000_000_i64];
    prop::collection::vec((price, 1..100_i64), 1..8).prop_map(|goods| {
        (1..)
            .zip(goods)
            .map(|(id, (price, quantity))| (article(id, price), quantity))
            .collect()
    })
}

fn decimal(text: impl ToString) -> BigDecimal {
    text.to_string().parse().unwrap()
}

/// The written rules, computed by the other library: subtotal, shipping, tax, total.
fn expected(terms: &Terms, rate: &str, goods: &[(Article, i64)]) -> [BigDecimal; 4] {
    let subtotal: BigDecimal = goods
        .iter()
        .map(|(article, quantity)| decimal(article.price) * decimal(quantity))
        .sum();
    let shipping = if subtotal < decimal(terms.free_shipping_threshold) {
        decimal(terms.shipping_fee)
    } else {
        decimal(0)
    };
    let mode = match terms.rounding {
        Rounding::Floor => RoundingMode::Floor,
        Rounding::HalfUp => RoundingMode::HalfUp,
        Rounding::Ceil => RoundingMode::Ceiling,
    };
    let tax = ((&subtotal + &shipping) * decimal(rate)).with_scale_round(0, mode);
    let total = &subtotal + &shipping + &tax;
    [subtotal, shipping, tax, total]
}

fn amounts(quote: &Quote) -> [BigDecimal; 4] {
    [quote.subtotal, quote.shipping, quote.tax, quote.total].map(decimal)
}

/// The display items and the total of a mandate.
fn charged(format: Format, mandate: &Value) -> (Vec<&Value>, &Value) {
    let contents = &mandate["contents"];
    let (items, total) = match format {
        Format::Flat => (&contents["display_items"], &contents["total"]["value"]),
        Format::Ap2 => {
            let details = &contents["payment_request"]["details"];
            (
                &details["display_items"],
                &details["total"]["amount"]["value"],
            )
        }
    };
    let items = items.as_array().unwrap();
    let amounts = items.iter().map(|item| &item["amount"]["value"]).collect();
    (amounts, total)
}

/// Every amount in the JSON, as it is written.
fn amounts_in(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.values().for_each(|value| amounts_in(value, found)),
        Value::Array(items) => items.iter().for_each(|value| amounts_in(value, found)),
        Value::Number(number) if number.is_f64() => found.push(number.to_string()),
        _ => {}
    }
}

/// The same goods, with each line split into two halves at different places.
fn split(goods: &[(Article, i64)]) -> Vec<Value> {
    let item = |id: i64, quantity: i64| json!({ "product_id": id, "quantity": quantity });
    let first = goods
        .iter()
        .map(|(article, quantity)| item(article.id, (quantity / 2).max(1)));
    let second = goods
        .iter()
        .rev()
        .filter(|(_, quantity)| *quantity > 1)
        .map(|(article, quantity)| item(article.id, quantity - quantity / 2));
    first.chain(second).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn quotes_agree_with_other_decimals((terms, rate) in terms(), goods in goods()) {
        let quote = cart_of(&terms, &goods, true).quote;
        prop_assert_eq!(amounts(&quote), expected(&terms, &rate, &goods));
    }

    #[test]
    fn tax_agrees_with_other_decimals_up_to_the_largest_amount(
        (terms, rate) in terms(),
        amount in prop_oneof![0..=Yen::MAX.get(), Yen::MAX.get() - 1000..=Yen::MAX.get()],
    ) {
        let free = Terms { shipping_fee: Yen::ZERO, ..terms };
        let goods = [(article(1, amount), 1)];
        let tax = free.tax_rate.of(goods[0].0.price, free.rounding);
        prop_assert_eq!(decimal(tax), expected(&free, &rate, &goods)[2].clone());
    }

    #[test]
    fn items_sum_to_the_total_in_every_format(
        (terms, _) in terms(),
        goods in goods(),
        with_address in any::<bool>(),
    ) {
        let cart = cart_of(&terms, &goods, with_address);
        for format in Format::ALL {
            let mandate = cart.mandate(format, None, cart.created).unwrap();
            let (items, total) = charged(format, &mandate);
            let sum: BigDecimal = items.into_iter().map(decimal).sum();
            prop_assert_eq!(&sum, &decimal(total), "{:?}", format);
            prop_assert_eq!(sum, decimal(cart.quote.total), "{:?}", format);
        }
    }

    #[test]
    fn no_fraction_of_a_yen_is_ever_shown((terms, _) in terms(), goods in goods()) {
        let cart = cart_of(&terms, &goods, false);
        for format in Format::ALL {
            let mandate = cart.mandate(format, None, cart.created).unwrap();
            let written = serde_json::to_string(&mandate).unwrap();
            let mut amounts = Vec::new();
            amounts_in(&serde_json::from_str(&written).unwrap(), &mut amounts);
            prop_assert!(amounts.len() > goods.len());
            for amount in amounts {
                let whole = amount.strip_suffix(".0").unwrap_or("");
                prop_assert!(!whole.is_empty() && whole.bytes().all(|b| b.is_ascii_digit()), "{}", amount);
            }
        }
    }

    #[test]
    fn merging_lines_changes_nothing((terms, _) in terms(), goods in goods()) {
        let articles: Vec<Article> = goods.iter().map(|(article, _)| article.clone()).collect();
        let plan = CartPlan::parse(&json!({ "items": split(&goods) })).unwrap();
        let lines = plan.lines(&articles).unwrap();
        let whole = cart_of(&terms, &goods, true);
        prop_assert_eq!(&lines, &whole.lines);
        prop_assert_eq!(terms.quote(&lines).unwrap(), whole.quote);
    }

    #[test]
    fn rates_are_read_as_they_are_written((_, rate) in terms()) {
        let read: TaxRate = rate.parse().unwrap();
        prop_assert_eq!(decimal(read), decimal(&rate));
        let kept = serde_json::to_string(&read).unwrap();
        prop_assert_eq!(serde_json::from_str::<TaxRate>(&kept).unwrap(), read);
    }

    #[test]
    fn amounts_are_read_as_they_are_written(amount in 0..=Yen::MAX.get()) {
        let amount = Yen::new(amount).unwrap();
        let kept = serde_json::to_string(&amount).unwrap();
        prop_assert_eq!(serde_json::from_str::<Yen>(&kept).unwrap(), amount);
        prop_assert_eq!(Yen::from_cents(amount.cents()), Ok(amount));
    }
}
