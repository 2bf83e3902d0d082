//! Tickets: issued with a booking, shown as a QR code, admitted once.

use base64ct::{Base64, Base64UrlUnpadded, Encoding};
use kit::testing::details;
use serde_json::{Value, json};

use crate::cinema::{Cinema, both, one};

const SHOW: &str = "S20261116-T4-4";
const THAT_DAY: &str = "2026-11-16T10:00:00+09:00";

impl Cinema {
    /// Books seats of a screening that was emptied, and returns the reservation's id.
    async fn book(&self, seats: &[&str]) -> String {
        let booked = self.reserve(SHOW, seats).await.unwrap();
        let id = booked["reservation"]["reservation_id"].as_str().unwrap();
        id.to_owned()
    }

    async fn ticket(&self, reservation: &str) -> String {
        let answer = self
            .ok("get_ticket", json!({"reservation_id": reservation}))
            .await;
        answer["ticket"].as_str().unwrap().to_owned()
    }

    async fn refusal(&self, ticket: &str) -> String {
        self.code("check_ticket", json!({"ticket": ticket})).await
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_ticket_is_admitted_once() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let id = cinema.book(&["C5", "C6"]).await;
        let ticket = cinema.ticket(&id).await;
        cinema.set_clock(THAT_DAY);
        let look = json!({"ticket": ticket, "admit": "false"});
        let looked = cinema.ok("check_ticket", look).await;
        assert_eq!(looked["admitted"], false);
        // As a scanner may send it.
        let scanned = json!({"ticket": format!(" {ticket}\r\n")});
        let admitted = cinema.ok("check_ticket", scanned).await;
        assert_eq!(admitted["admitted"], true);
        assert_eq!(admitted["count"], 2);
        assert_eq!(admitted["seat_ids"], json!(["C5", "C6"]));
        assert_eq!(admitted["schedule_info"], looked["schedule_info"]);
        assert_eq!(admitted["schedule_info"]["schedule_id"], SHOW);

        cinema.set_clock("2026-11-16T10:01:00+09:00");
        for admit in [true, false] {
            let again = json!({"ticket": ticket, "admit": admit});
            let error = cinema.refused("check_ticket", again).await;
            assert_eq!(error.code, "ALREADY_ADMITTED");
            assert_eq!(details(&error)["admitted_at"], THAT_DAY);
        }
        // The same booking still has its ticket.
        assert_eq!(cinema.ticket(&id).await, ticket);
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn two_gates_admit_a_ticket_once() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let id = cinema.book(&["C5"]).await;
        let ticket = cinema.ticket(&id).await;
        cinema.set_clock(THAT_DAY);
        let gates = (0..8).map(|_| cinema.call("check_ticket", json!({"ticket": ticket})));
        let answers = futures::future::join_all(gates).await;
        let (admitted, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(Result::is_ok);
        assert_eq!(admitted.len(), 1);
        for refusal in refused {
            assert_eq!(refusal.unwrap_err().code, "ALREADY_ADMITTED");
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_changed_booking_has_a_new_ticket_and_the_old_one_is_refused_with_the_reason() {
    for cinema in both().await {
        let other_show = "S20261116-T4-5";
        for (tool, change, code) in [
            ("cancel_reservation", json!({}), "TICKET_CANCELLED"),
            (
                "cancel_reservation",
                json!({"seat_ids": ["C6"]}),
                "TICKET_PARTLY_CANCELLED",
            ),
            (
                "exchange_seats",
                json!({"seat_ids": ["D5", "D6"]}),
                "TICKET_EXCHANGED",
            ),
            (
                "exchange_seats",
                json!({"seat_ids": ["D5", "D6"], "schedule_id": other_show}),
                "TICKET_EXCHANGED",
            ),
        ] {
            cinema.set_clock("2026-11-15T10:00:00+09:00");
            cinema.clear(SHOW).await;
            cinema.clear(other_show).await;
            let id = cinema.book(&["C5", "C6"]).await;
            let old = cinema.ticket(&id).await;
            let mut arguments = change;
            arguments["reservation_id"] = json!(id);
            let changed = cinema.ok(tool, arguments).await;
            cinema.set_clock(THAT_DAY);
            assert_eq!(cinema.refusal(&old).await, code);
            let new = &changed["ticket"];
            assert_eq!(new.is_null(), code == "TICKET_CANCELLED");
            if !new.is_null() {
                assert_eq!(*new, cinema.ticket(&id).await);
                let admitted = cinema.ok("check_ticket", json!({"ticket": new})).await;
                assert_eq!(admitted["seat_ids"], changed["reservation"]["seat_ids"]);
            }
        }
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn a_booking_carries_its_ticket_and_stays_as_it_is_once_admitted() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let booked = cinema.reserve(SHOW, ["C5", "C6"]).await.unwrap();
        let id = &booked["reservation"]["reservation_id"];
        let ticket = &booked["ticket"];
        assert_eq!(*ticket, cinema.ticket(id.as_str().unwrap()).await);
        let details = cinema.details(id).await;
        assert_eq!(details["ticket"], *ticket);
        assert_eq!(details.get("admitted_at"), None);
        let held = json!({"schedule_id": SHOW, "seat_ids": ["D5"]});
        let held = cinema.ok("hold_seats", held).await;
        assert_eq!(held.get("ticket"), None);

        cinema.set_clock(THAT_DAY);
        cinema.ok("check_ticket", json!({"ticket": ticket})).await;
        assert_eq!(cinema.details(id).await["admitted_at"], THAT_DAY);
        for (tool, seats) in [
            ("cancel_reservation", json!(["C6"])),
            ("cancel_reservation", json!(null)),
            ("exchange_seats", json!(["E5", "E6"])),
        ] {
            let arguments = json!({"reservation_id": id, "seat_ids": seats});
            assert_eq!(cinema.code(tool, arguments).await, "ALREADY_ADMITTED");
        }
        assert_eq!(cinema.details(id).await["ticket"], *ticket);
    }
}

#[tokio::test]
async fn a_ticket_is_good_on_its_day_until_the_screening_ends() {
    let cinema = one().await;
    cinema.clear(SHOW).await;
    let id = cinema.book(&["C5"]).await;
    let ticket = cinema.ticket(&id).await;
    assert_eq!(cinema.refusal(&ticket).await, "TICKET_OTHER_DAY");
    cinema.set_clock("2026-11-18T10:00:00+09:00");
    assert_eq!(cinema.refusal(&ticket).await, "TICKET_EXPIRED");

    // A late show of the sixteenth begins on the seventeenth.
    cinema.set_clock("2026-11-15T10:00:00+09:00");
    let late = json!({"date": "2026-11-16", "start_time": "25:10", "seat_ids": ["A4"]});
    let late = cinema.ok("reserve_seats", late).await;
    let late = late["reservation"]["reservation_id"].as_str().unwrap();
    let ticket = cinema.ticket(late).await;
    for (clock, admitted) in [
        ("2026-11-15T23:00:00+09:00", false),
        ("2026-11-16T23:00:00+09:00", true),
        ("2026-11-17T01:30:00+09:00", true),
        ("2026-11-17T06:00:00+09:00", false),
    ] {
        cinema.set_clock(clock);
        let look = json!({"ticket": ticket, "admit": false});
        let answer = cinema.call("check_ticket", look).await;
        assert_eq!(answer.is_ok(), admitted, "{clock}");
    }
}

#[tokio::test]
async fn what_this_cinema_did_not_sign_is_refused() {
    let cinema = one().await;
    assert_eq!(cinema.refusal("hello").await, "TICKET_FORGED");
    cinema.clear(SHOW).await;
    let id = cinema.book(&["C5"]).await;
    let ticket = cinema.ticket(&id).await;
    let other = one().await;
    other.clear(SHOW).await;
    let foreign = other.book(&["C5"]).await;
    let foreign = other.ticket(&foreign).await;
    let (start, signature) = ticket.rsplit_once('.').unwrap();
    let (header, payload) = start.split_once('.').unwrap();
    let payload = String::from_utf8(Base64UrlUnpadded::decode_vec(payload).unwrap()).unwrap();
    let changed = payload.replace("C5", "C5,C6");
    let changed = Base64UrlUnpadded::encode_string(changed.as_bytes());
    let changed = format!("{header}.{changed}.{signature}");
    cinema.set_clock(THAT_DAY);
    for (ticket, code) in [
        (foreign.as_str(), "TICKET_FORGED"),
        (&changed, "TICKET_FORGED"),
        ("hello", "TICKET_UNREADABLE"),
        (&id, "TICKET_UNREADABLE"),
    ] {
        assert_eq!(cinema.refusal(ticket).await, code, "{ticket}");
    }
    assert!(
        cinema
            .call("check_ticket", json!({"ticket": ticket}))
            .await
            .is_ok()
    );
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn only_a_booking_has_a_ticket_and_it_hides_the_reservation_id() {
    let cinema = one().await;
    cinema.clear(SHOW).await;
    let until = "2026-11-15T10:10:00+09:00";
    cinema.hold(SHOW, "C", 5, until).await;
    let held = json!({"reservation_id": "hold_C5"});
    let error = cinema.refused("get_ticket", held.clone()).await;
    assert_eq!(
        (&*error.code, &details(&error)["status"]),
        ("NO_TICKET", &json!("held"))
    );
    cinema.set_clock(until);
    let error = cinema.refused("get_ticket", held).await;
    assert_eq!(details(&error)["status"], "expired");
    let unknown = json!({"reservation_id": "rsv_0"});
    assert_eq!(
        cinema.code("get_ticket", unknown).await,
        "RESERVATION_NOT_FOUND"
    );

    let id = cinema.book(&["C5"]).await;
    let ticket = cinema.ticket(&id).await;
    let payload = ticket.split('.').nth(1).unwrap();
    let payload = String::from_utf8(Base64UrlUnpadded::decode_vec(payload).unwrap()).unwrap();
    assert!(
        payload.contains(SHOW) && payload.contains("C5"),
        "{payload}"
    );
    assert!(
        !payload.contains("rsv_") && !payload.contains(&id[4..]),
        "{payload}"
    );
}

#[tokio::test]
async fn the_image_is_a_qr_code_of_the_ticket() {
    let cinema = one().await;
    cinema.clear(SHOW).await;
    let seats = ["C5", "C6", "C7", "C8", "D1", "D2", "D3", "D4", "D5", "D6"];
    let id = cinema.book(&seats).await;
    let answer = cinema.ok("get_ticket", json!({"reservation_id": id})).await;
    let image = cinema.read(answer["image_uri"].as_str().unwrap()).await;
    let image = Base64::decode_vec(&image.unwrap()).unwrap();
    assert!(image.len() < 6_000, "{}", image.len());
    assert_eq!(decoded(&image), answer["ticket"].as_str().unwrap());
}

/// What a scanner reads from a PNG.
fn decoded(file: &[u8]) -> String {
    let decoder = png::Decoder::new(std::io::Cursor::new(file));
    let mut reader = decoder.read_info().unwrap();
    let mut bits = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bits).unwrap();
    let (side, line) = (info.width as usize, info.line_size);
    let mut scanned = rqrr::PreparedImage::prepare_from_greyscale(side, side, |x, y| {
        match bits[y * line + x / 8] >> (7 - x % 8) & 1 {
            0 => 0,
            _ => 255,
        }
    });
    let grids = scanned.detect_grids();
    grids[0].decode().unwrap().1
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn the_calendar_file_says_when_where_and_which_seats() {
    for cinema in both().await {
        cinema.clear(SHOW).await;
        let id = cinema.book(&["C5", "C6"]).await;
        let uri = format!("cinema://tickets/{id}.ics");
        let seats = cinema.seats(SHOW).await;
        let info = &seats["schedule_info"];
        let local = |time: &str| {
            let time = info[time].as_str().unwrap().replace(':', "");
            format!(";TZID=Asia/Tokyo:20261116T{time}00")
        };
        let file = cinema.read(&uri).await.unwrap();
        let file = file.replace("\r\n ", "");
        for line in [
            "BEGIN:VTIMEZONE\r\nTZID:Asia/Tokyo".to_owned(),
            format!("DTSTART{}", local("start_time")),
            format!("DTEND{}", local("end_time")),
            format!("SUMMARY:{}", info["movie_title"].as_str().unwrap()),
            format!("LOCATION:{}", info["theater_name"].as_str().unwrap()),
            "C5\\, C6\r\nSTATUS:CONFIRMED".to_owned(),
            "SEQUENCE:0".to_owned(),
        ] {
            assert!(file.contains(&format!("{line}\r\n")), "{line} in\n{file}");
        }
        assert!(!file.contains(&id));

        let cancel = json!({"reservation_id": id});
        cinema.ok("cancel_reservation", cancel).await;
        let cancelled = cinema.read(&uri).await.unwrap();
        assert!(cancelled.contains("STATUS:CANCELLED\r\n"));
        assert!(cancelled.contains("SEQUENCE:1\r\n"));
        let uid = |file: &str| {
            file.lines()
                .find(|it| it.starts_with("UID:"))
                .unwrap()
                .to_owned()
        };
        assert_eq!(uid(&cancelled), uid(&file));
    }
}

#[tokio::test]
#[ignore = "needs other programs; scripts/test runs it"]
async fn all_processes_on_a_database_share_one_key() {
    for cinema in both().await {
        let second = cinema::counter(
            cinema::Settings::default(),
            std::sync::Arc::new(cinema.scratch.database.clone()),
        );
        let mut other = kit::testing::Harness::new(second, crate::cinema::TEN_O_CLOCK);
        other.allows_unlisted_fields = cinema.allows_unlisted_fields;
        let uri = "cinema://ticket-key";
        let (one, two) = tokio::join!(cinema.read(uri), other.read(uri));
        assert_eq!(one, two);
        let key: Value = serde_json::from_str(&one.unwrap()).unwrap();
        assert_eq!(
            (&key["kty"], &key["crv"]),
            (&json!("OKP"), &json!("Ed25519"))
        );
        assert_eq!(key.get("d"), None);
        assert_eq!(cinema.count("cinema_ticket_keys").await, 1);
    }
}
