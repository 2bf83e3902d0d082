//! `madoguchi import cinema` and `madoguchi export cinema`.

use serde_json::json;

use crate::harness::Place;

#[tokio::test]
async fn a_cinema_is_imported_and_exported_on_the_command_line() {
    let place = Place::new();
    let film = |id: &str| json!({ "movie_id": id, "title": id, "duration": 100 }).to_string();
    let text = format!("{}\n{}\n", film("one"), film("one"));
    let films = place.file("films.jsonl", &text);
    let path = films.to_str().unwrap();

    let refused = place.run(&["import", "cinema", path]);
    refused.fails_with("line 2: film one is already in line 1");
    let skipped = place
        .run(&["import", "cinema", path, "--skip-invalid", "--json"])
        .ok();
    assert_eq!(skipped.json()["imported"], 1);

    let out = place.path().join("out");
    let target = out.to_str().unwrap();
    let export = ["export", "cinema", target, "--format", "csv"];
    let said = place.run(&export).ok().stdout;
    assert!(said.starts_with("Exported 1 film to "), "{said}");
    place.run(&export).fails_with("--overwrite");
    place.run(&[&export[..], &["--overwrite"]].concat()).ok();
    let copy = Place::new();
    copy.run(&["import", "cinema", target]).ok();
    let listed = copy.run(&["call", "cinema", "get_movie_list"]).ok().json();
    assert_eq!(listed["movies"][0]["title"], "one");

    let none = place.run(&["export", "todo", target]);
    none.fails_with("NO_EXPORT");
}

#[tokio::test]
async fn an_export_that_fails_keeps_the_earlier_one() {
    let place = Place::new();
    place.run(&["demo", "load", "cinema"]).ok();
    let out = place.path().join("out");
    let target = out.to_str().unwrap();
    place
        .run(&["export", "cinema", target, "--format", "csv"])
        .ok();
    let films = out.join("films.csv");
    let before = std::fs::read(&films).unwrap();

    // Halls are written after films, and this name is taken by something that stays.
    let obstacle = out.join("halls.json.new");
    std::fs::create_dir(&obstacle).unwrap();
    let json = [
        "export",
        "cinema",
        target,
        "--format",
        "json",
        "--overwrite",
    ];
    place.run(&json).fails_with("FILE_WRITE_ERROR");
    assert_eq!(std::fs::read(&films).unwrap(), before);
    assert!(!out.join("films.json").exists());
    assert!(!out.join("films.json.new").exists());

    std::fs::remove_dir(&obstacle).unwrap();
    place.run(&json).ok();
    assert!(out.join("films.json").exists());
    assert!(!films.exists(), "it would be imported with the new files");
}
