//! Exports, and what an import makes of them.

use std::path::Path;

use kit::{Result, counter::Format};

use crate::{
    cinema::{Cinema, both, both_empty},
    importing::{Folder, GOOD, problems},
};

async fn export(cinema: &Cinema, target: &Path, format: Format) -> Result<String> {
    let export = cinema.counter.export.clone().unwrap();
    let exported = export.export(&cinema.context, target, format, false);
    Ok(exported.await?.message)
}

/// The whole cinema as text, but for the order of equal times.
async fn contents(cinema: &Cinema) -> Vec<String> {
    let mut all = Vec::new();
    for table in [
        "SELECT id, title, title_folded, reading, english_title, genre, duration_minutes, rating, \
         age_class, popularity, description, english_description, release_date FROM cinema_films",
        "SELECT id, name, seat_count, layout_digest FROM cinema_theaters",
        "SELECT theater_id, seat_row, seat_number, seat_type FROM cinema_seats",
        "SELECT id, film_id, theater_id, show_date, start_minute, end_minute, starts_at \
         FROM cinema_shows",
        "SELECT id, show_id, seats, status, caller, created_at, expires_at, held_since, \
         changed_at, version, admitted_at, price FROM cinema_reservations",
        "SELECT show_id, seat_row, seat_number, reservation_id, expires_at \
         FROM cinema_taken_seats",
        "SELECT name, body, digest FROM cinema_documents",
    ] {
        let rows = cinema.sql(table).await;
        let mut rows: Vec<String> = rows.iter().map(|row| format!("{:?}", row.0)).collect();
        assert!(!rows.is_empty(), "{table}");
        rows.sort();
        all.extend(rows);
    }
    all
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn an_export_imported_into_an_empty_cinema_gives_the_same_cinema() {
    for cinema in both().await {
        let held = "2026-11-15T12:00:00+09:00";
        cinema.clear("S20261116-T4-4").await;
        cinema.hold("S20261116-T4-4", "C", 5, held).await;
        cinema
            .reserve("S20261116-T4-4", ["A3", "A4"])
            .await
            .unwrap();
        cinema
            .sql(
                "UPDATE cinema_reservations SET status = 'cancelled', version = 3, admitted_at = 1795222800000, changed_at = 1795222800123 WHERE caller = 'local' \
                 AND status = 'confirmed' RETURNING 1",
            )
            .await;
        cinema
            .sql(
                "DELETE FROM cinema_taken_seats WHERE reservation_id NOT IN (SELECT id FROM \
                 cinema_reservations WHERE status <> 'cancelled') RETURNING 1",
            )
            .await;
        // The seats of a cleared screening have no owner any more.
        cinema
            .sql(
                "UPDATE cinema_reservations SET status = 'cancelled' WHERE \
                 show_id = 'S20261116-T4-4' AND status = 'confirmed' RETURNING 1",
            )
            .await;
        let before = contents(&cinema).await;
        let folder = Folder::new();
        for (target, format) in [
            ("one.json", Format::Json),
            ("json", Format::Json),
            ("csv", Format::Csv),
        ] {
            let target = folder.path().join(target);
            let said = export(&cinema, &target, format).await.unwrap();
            assert!(
                said.starts_with("Exported 12 films, 6 halls, 333 shows"),
                "{said}"
            );
            assert!(said.contains("of the demo"), "{said}");
            for other in both_empty().await {
                let imported = other.import(&target).await.unwrap();
                assert_eq!(problems(&imported), [""; 0]);
                assert!(
                    !imported.message.contains("Ignored"),
                    "{}",
                    imported.message
                );
                assert_eq!(contents(&other).await, before, "{}", target.display());
                // Now it is the operator's, and importing it again changes nothing.
                let again = other.import(&target).await.unwrap();
                assert_eq!(problems(&again), [""; 0]);
                assert_eq!(contents(&other).await, before);
                let copy = folder.path().join("again.json");
                let _ = std::fs::remove_file(&copy);
                let said = export(&other, &copy, Format::Json).await.unwrap();
                assert!(!said.contains("of the demo"), "{said}");
                let one = folder.path().join("one.json");
                let [one, copy] = [one, copy].map(|file| std::fs::read_to_string(file).unwrap());
                assert!(one == copy, "{}", target.display());
            }
        }
        let error = export(&cinema, &folder.path().join("csv"), Format::Json).await;
        assert_eq!(error.unwrap_err().code, "FILE_EXISTS");
        let error = export(&cinema, &folder.path().join("x.json"), Format::Csv).await;
        assert_eq!(error.unwrap_err().code, "NOT_A_DIRECTORY");
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_demo_is_not_overwritten() {
    for cinema in both().await {
        let folder = Folder::new();
        let text = "movie_id,title,duration\nM001,Mine,100\n";
        let refused = cinema
            .import(&folder.file("films.csv", text))
            .await
            .unwrap();
        let said = problems(&refused).remove(0);
        assert!(said.contains("`madoguchi demo remove cinema`"), "{said}");
        let imported = cinema.import(&folder.file("x.json", GOOD)).await.unwrap();
        assert!(imported.message.contains("The demo is still there"));
        let said = export(&cinema, &folder.path().join("out.json"), Format::Json).await;
        assert!(
            said.unwrap()
                .starts_with("Exported 2 films, 1 hall, 2 shows")
        );
        let demo = cinema.counter.demo.clone().unwrap();
        demo.remove(&cinema.context).await.unwrap();
        assert_eq!(cinema.count("cinema_documents").await, 2);
        assert_eq!(cinema.count("cinema_reservations").await, 1);
    }
}
