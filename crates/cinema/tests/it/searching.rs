//! Finding a film by whatever people call it.

use serde_json::json;

use crate::cinema::one;

/// What people type, and the film that has to come first. `~` in front: no title has
/// it, so the answer is approximate.
const QUERIES: &[(&str, &str)] = &[
    (
        "M001",
        "銀河鉄道の夜 | ぎんが | ギンガテツドウ | ginga tetsudo no yoru | Ginga Tetsudō",
    ),
    (
        "M001",
        "galactic railroad | NIGHT ON THE GALACTIC | gingatetudou | ｷﾞﾝｶﾞ",
    ),
    (
        "M001",
        "~銀河の電車 | ~galaxy train | ~the train one | ~銀河鉄通の夜 | ~宮沢賢治",
    ),
    (
        "M001",
        "~ぎんが鉄道 | ~ginga tetuton | ~galactic railrod | ~星祭りの映画",
    ),
    (
        "M002",
        "ミッドナイトキッチン | midnight kitchen | みっどないと・きっちん | kicchin",
    ),
    ("M002", "ミドナイトキチン | ~食堂の話 | ~diner"),
    (
        "M003",
        "clockwork | ~The Clockwork Harbour | クロックワーク | kurokkuwaaku | ~clokwork harbor",
    ),
    ("M003", "~港町 | ~movie about gears | ~mechanic"),
    (
        "M004",
        "羅生門 | rashomon | Rashōmon no Ame | らしょうもん | rain at rashomon | 雨",
    ),
    ("M004", "~羅城門の雨 | ~samurai | ~芥川"),
    (
        "M005",
        "シャーロック | sherlock | holmes | ホームズ | 霧の埠頭 | kiri no futo | shaarokku",
    ),
    (
        "M005",
        "~sherlok holms | シャーロク・ホームズ | ~シャーコック・ホームズ | ~detective in london | ~名探偵",
    ),
    (
        "M006",
        "化け猫 | ばけねこ | bakeneko | ghost cat | となりの | tonari no bakeneko",
    ),
    ("M006", "~猫が出てくる映画 | ~the one with cats | ~化け猫君"),
    (
        "M007",
        "雪の宿 | yuki no yado | かいだん | snow inn | kaidan | ~haunted inn | ~blizzard",
    ),
    (
        "M008",
        "twenty thousand | leagues | トゥエンティ | ~submarine | ~潜水艦 | ~海洋冒険",
    ),
    (
        "M009",
        "さよなら | 五月の駅 | sayonara | goodbye | ごがつ | station in may | ~海辺の駅",
    ),
    (
        "M010",
        "レッドメリディアン | red meridian | reddo | ~レッド・メリデアン | ~courier",
    ),
    (
        "M011",
        "深海 | しんかい | コーラス | shinkai no koorasu | deep sea | ~research ship",
    ),
    (
        "M012",
        "夜想曲 | やそうきょく | nocturne | yasokyoku | 十三番 | ~pianist | ~ピアニスト",
    ),
];

#[tokio::test]
async fn readings_romaji_english_descriptions_and_misspellings_find_the_film() {
    let cinema = one().await;
    let mut wrong = Vec::new();
    for (id, queries) in QUERIES {
        for query in queries.split(" | ") {
            let text = query.trim_start_matches('~');
            let answer = cinema.movies(json!({"search_query": text})).await;
            let first = &answer["movies"][0]["movie_id"];
            let approximate = answer["approximate"] == true;
            if first != id || approximate != query.starts_with('~') {
                wrong.push(format!("{query}: {first} instead of {id}, {approximate}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// A booking must not depend on a guess.
#[tokio::test]
async fn only_a_name_names_a_film_and_the_rest_is_proposed() {
    let cinema = one().await;
    for (id, queries) in QUERIES {
        for query in queries.split(" | ") {
            let text = query.trim_start_matches('~');
            let arguments = json!({"movie_id": text, "date": "2026-11-16"});
            let answer = cinema.call("get_show_schedule", arguments).await;
            match (query.starts_with('~'), answer) {
                (false, Ok(answer)) => {
                    assert_eq!(answer["schedules"][0]["movie_id"], *id, "{text}")
                }
                (false, Err(error)) => assert_eq!(error.code, "MOVIE_AMBIGUOUS", "{text}"),
                (true, Ok(answer)) => panic!("{text} was taken for {answer}"),
                (true, Err(error)) => {
                    assert_eq!(error.code, "MOVIE_NOT_FOUND", "{text}");
                    let nearest = &kit::testing::details(&error)["candidates"][0];
                    assert_eq!(nearest["movie_id"], *id, "{text}");
                }
            }
        }
    }
}
