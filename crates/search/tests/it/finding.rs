//! Which queries find which products, and in which order.

use search::{Change, Document, Index, Query, Strategy};

use crate::shop::{NOTHING, ids, product, search, shop, text};

#[test]
fn a_changed_product_is_found_by_its_new_name_only() {
    let index = shop([product(1, "赤い急須"), product(2, "青い土鍋")]);
    index
        .apply([Change::Put(product(1, "白い茶碗"))], 2)
        .unwrap();
    assert_eq!(ids(&index, "急須"), NOTHING);
    assert_eq!(ids(&index, "茶碗"), [1]);
    assert_eq!(index.documents(), 2);
}

#[test]
fn a_removed_product_is_not_found() {
    let index = shop([product(1, "急須"), product(2, "急須")]);
    index
        .apply([Change::Remove(1), Change::Remove(99)], 2)
        .unwrap();
    assert_eq!(ids(&index, "急須"), [2]);
    assert_eq!(index.documents(), 1);
}

#[test]
fn the_last_of_several_changes_to_a_product_counts() {
    let index = Index::in_memory();
    let changes = [
        Change::Put(product(1, "急須")),
        Change::Put(product(1, "土鍋")),
        Change::Put(product(2, "湯呑み")),
        Change::Remove(2),
    ];
    index.apply(changes.clone(), 4).unwrap();
    index.apply(changes, 4).unwrap();
    assert_eq!(index.documents(), 1);
    assert_eq!(ids(&index, "土鍋"), [1]);
    assert_eq!(ids(&index, "湯呑み"), NOTHING);
}

#[test]
fn words_come_before_parts_of_words_and_the_description_last() {
    let index = shop([
        Document {
            description: "コーヒーに合う一皿".into(),
            ..product(1, "皿")
        },
        Document {
            category: Some("コーヒー".into()),
            ..product(2, "紙フィルター 百枚入り")
        },
        product(3, "アイスコーヒーグラス"),
        product(4, "深煎り コーヒー"),
    ]);
    assert_eq!(ids(&index, "コーヒー"), [4, 2, 3, 1]);
}

#[test]
fn a_word_does_not_match_another_that_only_looks_alike_without_long_vowels() {
    let index = shop([product(1, "カレンダー"), product(2, "ビルの模型")]);
    assert_eq!(ids(&index, "カレー"), NOTHING);
    assert_eq!(ids(&index, "ビール"), NOTHING);
}

#[test]
fn a_number_is_never_taken_for_another() {
    let index = shop([product(1, "カレンダー 2025"), product(2, "WH-1000XM5")]);
    assert_eq!(ids(&index, "2026"), NOTHING);
    assert_eq!(ids(&index, "WH-1000XM4"), NOTHING);
    assert_eq!(ids(&index, "xm5"), [2]);
    assert_eq!(ids(&index, "100"), NOTHING);
}

#[test]
fn the_strategy_of_a_search_is_reported() {
    let index = shop([product(1, "ワイヤレスイヤホン"), product(2, "青い急須")]);
    for (words, strategy, found) in [
        ("", Strategy::All, vec![1, 2]),
        ("イヤホン", Strategy::Exact, vec![1]),
        ("ワイアレスイヤホン", Strategy::Fuzzy, vec![1]),
        ("赤い 急須", Strategy::Relaxed, vec![2]),
    ] {
        let hits = search(&index, &text(words));
        assert_eq!(hits.ids, found, "{words}");
        assert_eq!(hits.strategy, strategy, "{words}");
    }
}

#[test]
fn few_exact_matches_are_followed_by_fuzzy_ones() {
    let index = shop([
        product(1, "ワイヤレスイヤホン"),
        product(2, "ワイアレスイヤホン"),
    ]);
    assert_eq!(ids(&index, "ワイヤレスイヤホン"), [1, 2]);
    assert_eq!(ids(&index, "ワイアレスイヤホン"), [2, 1]);
}

#[test]
fn spaces_between_japanese_words_do_not_matter() {
    let index = shop([
        product(1, "ランニング シューズ"),
        product(2, "ランニングシューズ"),
    ]);
    assert_eq!(ids(&index, "ランニングシューズ"), [2, 1]);
    assert_eq!(ids(&index, "ランニング　シューズ"), [1, 2]);
}

#[test]
fn empty_text_lists_everything_and_punctuation_nothing() {
    let index = shop([product(2, "急須"), product(1, "土鍋")]);
    for nothing in ["", "  ", "　\t\n"] {
        assert_eq!(ids(&index, nothing), [1, 2], "{nothing:?}");
    }
    for signs in [
        "!!!",
        "・・・",
        "ーー",
        "()[]{}",
        "\u{0}\u{1}\u{200b}",
        "☕😀",
        "\"",
        "*",
        "-",
    ] {
        let hits = search(&index, &text(signs));
        assert_eq!((hits.ids, hits.total), (vec![], 0), "{signs:?}");
    }
}

#[test]
fn a_query_has_no_syntax() {
    let index = shop([product(1, "急須"), product(2, "土鍋")]);
    for query in [
        "name:急須",
        "急須 -土鍋",
        "+急須",
        "\"急須\"",
        "急須*",
        "急須~2",
        "急須^3",
        "(急須",
    ] {
        let hits = search(&index, &text(query));
        assert!(hits.ids.contains(&1), "{query}: {:?}", hits.ids);
    }
    for query in ["id:1", "*:*", "[1 TO 2]", "NOT 1", "/.*/"] {
        assert_eq!(ids(&index, query), NOTHING, "{query}");
    }
}

#[test]
fn queries_of_any_length_and_kind_are_answered() {
    let index = shop([product(1, "急須"), product(2, "a".repeat(10_000).as_str())]);
    let long = [
        "急須".repeat(100_000),
        "急須 ".repeat(100_000),
        "a".repeat(1_000_000),
        "a1".repeat(100_000),
        "ー".repeat(100_000),
        "ヴ".repeat(10_000),
        "が\u{3099}".repeat(10_000),
        "\u{1f468}\u{200d}\u{1f469}".repeat(10_000),
        "ﷺ".repeat(10_000),
        "\u{0}急須\u{0}".repeat(10_000),
    ];
    for query in &long {
        search(&index, &text(query));
    }
    assert_eq!(ids(&index, "急\u{0}須"), ids(&index, "急 須"));
}

#[test]
fn texts_of_any_length_and_kind_are_indexed() {
    let index = shop([
        Document {
            description: "とても長い説明。".repeat(50_000),
            sku: "-/.".repeat(1_000),
            keywords: vec!["鍵".repeat(10_000), String::new(), "\n".into()],
            category: Some(String::new()),
            brand: Some("\u{0}".into()),
            ..product(1, "長い名前".repeat(10_000).as_str())
        },
        product(2, ""),
    ]);
    assert_eq!(index.documents(), 2);
    assert_eq!(ids(&index, "長い名前"), [1]);
    assert_eq!(ids(&index, "長い説明"), [1]);
}

#[test]
fn pages_are_consistent() {
    // Words, parts of words and descriptions, so that the pages cover all
    // tiers.
    let products = (1..=300).map(|id| match id % 3 {
        0 => product(id, &format!("急須 {id}")),
        1 => product(id, &format!("朱泥急須揃 {id}")),
        _ => Document {
            description: "急須に合います".into(),
            ..product(id, &format!("湯呑み {id}"))
        },
    });
    let index = shop(products);
    let page = |offset, limit| {
        let query = Query {
            offset,
            limit,
            ..text("急須")
        };
        search(&index, &query).ids
    };
    let whole = page(0, 1_000);
    assert_eq!(whole.len(), 300);
    let mut sorted = whole.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (1..=300).collect::<Vec<_>>());
    for limit in [1, 7, 99, 150] {
        let pages: Vec<i64> = (0..300)
            .step_by(limit)
            .flat_map(|offset| page(offset, limit))
            .collect();
        assert_eq!(pages, whole, "{limit} a page");
    }
    assert_eq!(page(300, 10), NOTHING);
    assert_eq!(page(usize::MAX, usize::MAX), NOTHING);
    assert_eq!(page(0, 0), NOTHING);
}

#[test]
fn everything_is_listed_by_id_page_by_page_whatever_the_segments() {
    let index = Index::in_memory();
    for batch in [200..300, 1..200, 250..260, 300..1_500] {
        let changes = batch.map(|id| Change::Put(product(id, "急須")));
        index.apply(changes, 1).unwrap();
    }
    let page = |offset, limit| {
        let query = Query {
            offset,
            limit,
            ..Query::default()
        };
        search(&index, &query).ids
    };
    assert_eq!(page(0, 2_000), (1..1_500).collect::<Vec<_>>());
    assert_eq!(page(0, 3), [1, 2, 3]);
    assert_eq!(page(240, 20), (241..=260).collect::<Vec<_>>());
    assert_eq!(page(1_490, 20), (1_491..1_500).collect::<Vec<_>>());
}

#[test]
fn the_total_is_exact_or_says_that_it_is_not() {
    let products = (1..=500).map(|id| {
        product(
            id,
            if id % 2 == 0 {
                "急須"
            } else {
                "朱泥急須揃"
            },
        )
    });
    let index = shop(products);
    let few = search(&index, &text("急須"));
    assert!(!few.total_is_exact);
    assert!((20..=500).contains(&few.total));
    let all = search(
        &index,
        &Query {
            limit: 1_000,
            ..text("急須")
        },
    );
    assert!(all.total_is_exact);
    assert_eq!(all.total, 500);
}
