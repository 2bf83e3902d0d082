//! Imports.

use std::path::{Path, PathBuf};

use kit::counter::{Imported, InvalidRows};
use serde_json::json;
use tempfile::TempDir;

use crate::cinema::{Cinema, both_empty};

pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

async fn skipping(cinema: &Cinema, file: &Path) -> Imported {
    let import = cinema.counter.import.clone().unwrap();
    let imported = import.import(&cinema.context, file, InvalidRows::Skip);
    imported.await.unwrap()
}

/// `FILE:LINE PROBLEM` of each problem.
pub fn problems(imported: &Imported) -> Vec<String> {
    let said = imported.problems.iter().map(|it| {
        let file = it.file.clone().unwrap_or_default();
        format!("{file}:{} {}", it.line, it.problem)
    });
    said.collect()
}

fn legacy(folder: &Folder) {
    folder.file(
        "movies.json",
        r#"[
  {
    "movie_id": "m1", "title": "夜の汽車", "genre": "ドラマ", "duration": 110,
    "rating": 4.2, "description": "…", "release_date": "2026-10-01"
  },
  {"movie_id": "m2", "title": "Blue", "genre": "SF", "duration": 95, "rating": 3.1,
   "description": "", "release_date": "2026-09-01"}
]"#,
    );
    folder.file(
        "schedules.json",
        r#"[
  {"schedule_id": "s1", "movie_id": "m1", "date": "2026-11-20", "start_time": "19:30",
   "end_time": "21:20", "theater_id": "t1", "movie_title": "夜の汽車",
   "available_seats_count": 3, "total_seats_count": 6},
  {"schedule_id": "s2", "movie_title": "blue", "date": "2026/11/20", "start_time": "25:30",
   "end_time": "03:05", "theater_id": "t1", "available_seats_count": 6,
   "total_seats_count": 6}
]"#,
    );
    folder.file(
        "seat_availability.json",
        r#"[
  {"schedule_id": "s1",
   "available_seats": [{"row": "A", "available_numbers": [1]}, {"row": "B", "available_numbers": [2, 3]}],
   "occupied_seats": [{"row": "A", "occupied_numbers": [2, 3]}, {"row": "B", "occupied_numbers": [1]}]},
  {"schedule_id": "s2",
   "available_seats": [{"row": "A", "available_numbers": [1, 2, 3]}, {"row": "B", "available_numbers": [1, 2, 3]}],
   "occupied_seats": []}
]"#,
    );
    folder.file(
        "reservations.jsonl",
        "{\"reservation_id\": \"R20261101120000\", \"schedule_id\": \"s1\", \"seat_ids\": \
         [\"A-2\", \"A-3\"], \"reservation_time\": \"2026-11-01T12:00:00\", \"status\": \
         \"confirmed\"}\n",
    );
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn files_of_the_earlier_box_office_can_be_imported() {
    for cinema in both_empty().await {
        let folder = Folder::new();
        legacy(&folder);
        let imported = cinema.import(folder.path()).await.unwrap();
        assert_eq!(problems(&imported), [""; 0]);
        assert_eq!(
            imported.message,
            "Imported 2 films, 1 hall, 2 shows, 2 reservations."
        );
        let seats = cinema.seats("s1").await;
        assert_eq!(
            seats["occupied_seats"],
            json!([
                {"row": "A", "occupied_numbers": [2, 3]}, {"row": "B", "occupied_numbers": [1]}
            ])
        );
        assert_eq!(seats["available_seats_count"], 3);
        let late = cinema.seats("s2").await["schedule_info"].clone();
        assert_eq!(late["start_time"], "25:30");
        assert_eq!(late["end_time"], "27:05");
        assert_eq!(late["movie_id"], "m2");
        let details = cinema.details(&json!("R20261101120000")).await;
        let time = &details["reservation"]["reservation_time"];
        assert_eq!(time, "2026-11-01T12:00:00+09:00");
        // Sold since: importing the same files again frees nothing.
        cinema.reserve("s1", ["B2"]).await.unwrap();
        let again = cinema.import(folder.path()).await.unwrap();
        assert_eq!(problems(&again), [""; 0]);
        assert_eq!(again.already_there, 1);
        assert_eq!(cinema.seats("s1").await["available_seats_count"], 2);
        assert_eq!(cinema.count("cinema_reservations").await, 3);
    }
}

pub const GOOD: &str = r#"{
"films": [
{"movie_id": "f1", "title": "One", "duration": 100},
{"movie_id": "f2", "title": "Two", "duration": 90}
],
"halls": [
{"theater_id": "h1", "name": "Hall 1", "rows": [{"row": "A", "numbers": "1-4"}, {"row": "B", "numbers": "1-2", "seat_type": "カップル"}]}
],
"shows": [
{"schedule_id": "s1", "movie_id": "f1", "theater_id": "h1", "date": "2026-11-20", "start_time": "10:00"},
{"schedule_id": "s2", "movie_id": "f2", "theater_id": "h1", "date": "2026-11-20", "start_time": "25:30"}
],
"prices": [
{"price_class": "general", "name": "一般", "price_yen": 1900},
{"price_class": "child", "name": "小人", "price_yen": 900, "max_age": 12},
{"name": "火曜", "price_yen": 1200, "weekdays": "火曜日"}
],
"place": {"name": "みほん座", "address": "みほん市1-1"},
"reservations": [
{"reservation_id": "r1", "schedule_id": "s1", "seat_ids": ["A1", "A2"]}
]
}
"#;

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_document_is_imported_and_changed() {
    for cinema in both_empty().await {
        let folder = Folder::new();
        let good = folder.file("cinema-data.json", GOOD);
        let imported = cinema.import(&good).await.unwrap();
        assert_eq!(problems(&imported), [""; 0]);
        assert_eq!(imported.imported, 10);
        let schedule = cinema.schedule("f1", "2026-11-20").await;
        assert_eq!(schedule["schedules"][0]["price_yen"], 1_900);
        assert_eq!(schedule["schedules"][0]["end_time"], "11:40");
        assert_eq!(schedule["place"], "みほん座, みほん市1-1");

        // A new plan with more seats, another title; what is not in the file stays.
        let more = folder.file(
            "more.json",
            &json!({
                "films": [{"movie_id": "f1", "title": "Uno", "duration": 100}],
                "halls": [{"theater_id": "h1", "name": "Saal 1",
                    "rows": [{"row": "A", "numbers": "1-6"}]}],
            })
            .to_string(),
        );
        cinema.import(&more).await.unwrap();
        let seats = cinema.seats("s1").await;
        assert_eq!(seats["schedule_info"]["movie_title"], "Uno");
        assert_eq!(seats["schedule_info"]["theater_name"], "Saal 1");
        assert_eq!(seats["total_seats_count"], 6);
        assert_eq!(seats["available_seats_count"], 4);
        assert_eq!(cinema.count("cinema_shows").await, 2);

        // A plan without a sold seat.
        let fewer = folder.file("halls.csv", "theater_id,name,row,numbers\nh1,x,A,2-6\n");
        let refused = cinema.import(&fewer).await.unwrap();
        assert!(refused.refused);
        assert_eq!(
            problems(&refused),
            [":2 the new plan of hall h1 drops sold seats: A1 of s1"]
        );
        assert_eq!(cinema.seats("s1").await["total_seats_count"], 6);
    }
}

/// The file's name says nothing here, so its fields must.
#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_seat_plan_with_a_line_for_each_seat() {
    let folder = Folder::new();
    let plan = "theater_id,name,row,seat_number\nh7,Saal 7,A,1\nh7,Saal 7,A,2\n";
    let file = folder.file("plan-of-the-house.csv", plan);
    for cinema in both_empty().await {
        let imported = cinema.import(&file).await.unwrap();
        assert!(!imported.refused, "{imported:?}");
        let seats = cinema.count("cinema_seats WHERE theater_id = 'h7'").await;
        assert_eq!(seats, 2);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn nothing_is_imported_if_anything_is_wrong_unless_asked() {
    let folder = Folder::new();
    let bad = folder.file(
        "bad.json",
        &GOOD.replace("\"f2\", \"theater_id\"", "\"f9\", \"theater_id\""),
    );
    for cinema in both_empty().await {
        let refused = cinema.import(&bad).await.unwrap();
        assert!(refused.refused && refused.imported == 0);
        assert_eq!(problems(&refused), [":11 unknown film `f9`"]);
        assert!(
            refused.message.contains("--skip-invalid"),
            "{}",
            refused.message
        );
        for table in ["films", "theaters", "shows", "reservations", "documents"] {
            assert_eq!(cinema.count(&format!("cinema_{table}")).await, 0);
        }
        let imported = skipping(&cinema, &bad).await;
        assert_eq!((imported.imported, imported.skipped), (9, 1));
        assert_eq!(cinema.count("cinema_shows").await, 1);
    }
}

/// Imports a file after [`GOOD`], and expects these problems.
async fn refused(name: &str, text: &str, wanted: &[&str]) {
    let cinema = both_empty().await.remove(0);
    let folder = Folder::new();
    let good = folder.file("cinema-data.json", GOOD);
    assert!(!cinema.import(&good).await.unwrap().refused);
    let refused = cinema.import(&folder.file(name, text)).await.unwrap();
    assert_eq!(problems(&refused), wanted, "{name}");
    assert!(refused.refused);
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn wrong_shows_and_reservations_are_named_with_their_line() {
    let show = |id: &str, rest: &str| {
        format!(
            "{{\"schedule_id\": \"{id}\", \"movie_id\": \"f1\", \"theater_id\": \"h1\", \"date\": \"2026-11-20\", {rest}}}\n"
        )
    };
    let reserve = |id: &str, seats: &str| {
        format!(
            "{{\"reservation_id\": \"{id}\", \"schedule_id\": \"s1\", \"seat_ids\": [{seats}]}}\n"
        )
    };
    for (name, text, wanted) in [
        (
            "shows.jsonl",
            show("s3", "\"start_time\": \"11:00\"")
                + &show("s4", "\"start_time\": \"13:00\"")
                + &show("s5", "\"start_time\": \"14:00\""),
            vec![
                ":1 the show overlaps s1 in hall h1",
                ":3 the show overlaps s4 (line 2) in hall h1",
            ],
        ),
        (
            "shows.jsonl",
            show("s3", "\"start_time\": \"19:00\", \"end_time\": \"18:00\"")
                + &show("s4", "\"start_time\": \"7pm?\"")
                + &show("s6", "\"start_time\": \"01:40\", \"date\": \"2026-11-21\"")
                + &show("s7", "\"start_time\": \"12:00\", \"theater_id\": \"h9\"")
                + &show("s7", "\"start_time\": \"16:00\", \"date\": \"2026-02-30\""),
            vec![
                ":1 the show ends at 18:00, before it starts at 19:00",
                ":2 `7pm?` is not a time such as 19:30",
                ":5 `2026-02-30` is not a date such as 2026-11-15",
                ":3 the show overlaps s2 in hall h1",
                ":4 unknown hall `h9`",
            ],
        ),
        (
            "reservations.jsonl",
            reserve("r2", "\"A3\"")
                + &reserve("r3", "\"A3\"")
                + &reserve("r4", "\"A1\"")
                + &reserve("r5", "\"Z9\"")
                + &reserve("r6", "\"A4\", \"A-4\"")
                + &reserve("r2", "\"A4\"")
                + &reserve("r7", "\"A4\"").replace("s1", "s9"),
            vec![
                ":5 seat A4 is named twice",
                ":6 reservation r2 is already in line 1",
                ":2 seat A3 of s1 is reserved in line 1",
                ":3 seat A1 of s1 is already sold or held",
                ":4 hall h1 has no such seats: Z9 of s1",
                ":7 unknown show `s9`",
            ],
        ),
    ] {
        refused(name, &text, &wanted).await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn wrong_rows_of_tables_are_named_with_their_line() {
    for (name, text, wanted) in [
        (
            "films.csv",
            "movie_id,title,duration,rating\nf3,Three,100,4\nf3,Again,100,4\nf4,,1,1\nf5,x,90,7\n",
            vec![
                ":3 film f3 is already in line 2",
                ":4 there is no title",
                ":5 rating is not a number from 0 to 5",
            ],
        ),
        (
            "seat_availability.json",
            r#"[
{"schedule_id": "s1", "available_seats": [{"row": "A", "available_numbers": [3]}],
 "occupied_seats": [{"row": "A", "occupied_numbers": [1, 3]}]},
{"schedule_id": "s2", "available_seats": [{"row": "A", "available_numbers": [9]}]}
]"#,
            vec![
                ":2 seat A3 is both free and taken",
                ":4 hall h1 has no such seats: A9 of s2",
            ],
        ),
        (
            "prices.csv",
            "price_class,name,price_yen,surcharge_yen,seat_type,weekdays\n\
             general,一般,x,,,\ngeneral,一般,1,,,someday\n,,1,,,\nchild,c,1,,カップル,\nsenior,s,,5,,\n",
            vec![
                ":2 price_yen is not a whole number from 0 to 1000000",
                ":3 `someday` is not a day of the week",
                ":4 there is no price_id",
                ":5 a price for a seat_type is a surcharge: use surcharge_yen",
                ":6 a surcharge is for every price_class",
            ],
        ),
        (
            "halls.csv",
            "theater_id,row,numbers\nh2,A,1-3\nh2,A,3-4\nh3,A,\nh4,?,1\n",
            vec![
                ":3 seat A3 of hall h2 is named twice",
                ":4 there are no numbers",
                ":5 `?1` is not a seat",
            ],
        ),
    ] {
        refused(name, text, &wanted).await;
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn files_of_a_directory_are_named_in_problems() {
    let folder = Folder::new();
    legacy(&folder);
    folder.file("package.json", "[{\"private\": true}]");
    folder.file(
        "reservations.jsonl",
        "{\"reservation_id\": \"R1\", \"schedule_id\": \"s1\", \"seat_ids\": [\"B2\"]}\n",
    );
    for cinema in both_empty().await {
        let refused = cinema.import(folder.path()).await.unwrap();
        assert_eq!(
            problems(&refused),
            [
                "seat_availability.json:2 seat B2 is free here, and reserved in \
              reservations.jsonl line 1"
            ]
        );
        assert!(
            refused.message.ends_with("Ignored: package.json."),
            "{}",
            refused.message
        );
        let imported = skipping(&cinema, folder.path()).await;
        assert_eq!(imported.skipped, 1);
        let seats = cinema.seats("s1").await;
        assert_eq!(seats["available_seats_count"], 2, "{seats}");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn files_that_are_no_cinema_are_refused() {
    let folder = Folder::new();
    let cinema = both_empty().await.remove(0);
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    for (name, code) in [("empty", "NO_FILES"), ("nowhere.json", "FILE_READ_ERROR")] {
        let error = cinema.import(&folder.path().join(name)).await.unwrap_err();
        assert_eq!(error.code, code, "{name}");
    }
    for (name, text, code) in [
        ("films.json", "", "EMPTY_FILE"),
        ("films.json", "[{\"movie_id\":", "INVALID_FILE"),
    ] {
        let error = cinema.import(&folder.file(name, text)).await.unwrap_err();
        assert_eq!(error.code, code, "{name} {text}");
    }
    let refused = cinema
        .import(&folder.file("x.csv", "a,b\n1,2\n"))
        .await
        .unwrap();
    assert!(
        problems(&refused)[0].starts_with(":2 neither a film"),
        "{refused:?}"
    );
}
