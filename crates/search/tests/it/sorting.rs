//! Filters, orders and facets.

use search::{Change, Document, Index, Query, Sort};

use crate::shop::{NOTHING, product, search, shop, text};

fn tea_shop() -> Index {
    let tea = |id, name: &str, category: &str, brand: &str, price, in_stock| Document {
        category: Some(category.into()),
        brand: Some(brand.into()),
        price,
        in_stock,
        ..product(id, name)
    };
    shop([
        tea(1, "煎茶 上", "茶葉", "茶の里", 1_200, true),
        tea(2, "抹茶", "茶葉", "茶の里", 2_400, false),
        tea(3, "茶碗", "Kitchen", "有田窯", 3_600, true),
        tea(4, "茶筒", "Kitchen", "Nordlicht", 1_200, true),
        Document {
            price: 500,
            ..product(5, "茶こし")
        },
    ])
}

fn found(query: Query) -> Vec<i64> {
    let mut ids = search(&tea_shop(), &query).ids;
    ids.sort_unstable();
    ids
}

#[test]
fn filters_by_category_and_brand() {
    let of = |category: &[&str], brand: &[&str]| {
        found(Query {
            category: category.iter().map(ToString::to_string).collect(),
            brand: brand.iter().map(ToString::to_string).collect(),
            ..text("茶")
        })
    };
    assert_eq!(of(&["茶葉"], &[]), [1, 2]);
    assert_eq!(of(&["茶葉", "Kitchen"], &[]), [1, 2, 3, 4]);
    assert_eq!(of(&["Kitchen"], &["有田窯", "茶の里"]), [3]);
    assert_eq!(of(&["ｋｉｔｃｈｅｎ"], &["nordlicht"]), [4]);
    assert_eq!(of(&["茶"], &[]), NOTHING);
    assert_eq!(of(&[], &["無名"]), NOTHING);
}

#[test]
fn filters_by_price_and_stock() {
    let within = |min_price, max_price, in_stock_only| {
        found(Query {
            min_price,
            max_price,
            in_stock_only,
            ..text("茶")
        })
    };
    assert_eq!(within(Some(1_200), Some(2_400), false), [1, 2, 4]);
    assert_eq!(within(Some(1_201), None, false), [2, 3]);
    assert_eq!(within(None, Some(1_199), false), [5]);
    assert_eq!(within(None, None, true), [1, 3, 4, 5]);
    assert_eq!(within(Some(5), Some(4), false), NOTHING);
}

#[test]
fn filters_apply_without_text_too() {
    let kitchen = |words| Query {
        category: vec!["Kitchen".into()],
        ..text(words)
    };
    assert_eq!(found(kitchen("")), [3, 4]);
    assert_eq!(found(kitchen("煎茶")), NOTHING);
}

#[test]
fn results_are_sorted() {
    let index = tea_shop();
    for words in ["茶", ""] {
        for (sort, order) in [
            (Sort::PriceAsc, [5, 1, 4, 2, 3]),
            (Sort::PriceDesc, [3, 2, 1, 4, 5]),
            (Sort::Newest, [5, 4, 3, 2, 1]),
            (Sort::Name, [2, 1, 5, 3, 4]),
        ] {
            let query = Query {
                sort,
                ..text(words)
            };
            assert_eq!(search(&index, &query).ids, order, "{words} {sort:?}");
            let page = Query {
                offset: 2,
                limit: 2,
                ..query
            };
            let hits = search(&index, &page);
            assert_eq!(hits.ids, order.get(2..4).unwrap(), "{words} {sort:?}");
            assert_eq!((hits.total, hits.total_is_exact), (5, true));
        }
    }
}

#[test]
fn names_are_sorted_across_segments_and_spellings() {
    let index = Index::in_memory();
    for (id, name) in [
        (1, "ウ"),
        (2, "い"),
        (3, "ｱ"),
        (4, "zebra"),
        (5, "ＡＰＰＬＥ"),
    ] {
        // One segment each.
        index
            .apply([Change::Put(product(id, name))], id as u64)
            .unwrap();
    }
    let by_name = Query {
        sort: Sort::Name,
        ..Query::default()
    };
    assert_eq!(search(&index, &by_name).ids, [5, 4, 3, 2, 1]);
}

#[test]
fn facets_count_all_matches_whatever_the_page() {
    let query = Query {
        facets: true,
        limit: 1,
        ..text("茶")
    };
    let index = tea_shop();
    let facets = search(&index, &query).facets.unwrap();
    let counts = |pairs: &[(&str, u64)]| -> Vec<(String, u64)> {
        pairs
            .iter()
            .map(|(value, count)| (value.to_string(), *count))
            .collect()
    };
    assert_eq!(facets.category, counts(&[("Kitchen", 2), ("茶葉", 2)]));
    assert_eq!(
        facets.brand,
        counts(&[("茶の里", 2), ("Nordlicht", 1), ("有田窯", 1)])
    );
    assert_eq!(facets.price_min, Some(500));
    assert_eq!(facets.price_max, Some(3_600));

    let none = Query {
        facets: true,
        ..text("ゾヌペギャ")
    };
    let facets = search(&index, &none).facets.unwrap();
    assert_eq!(facets, search::Facets::default());
}
