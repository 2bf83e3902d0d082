//! Tasks for the cinema counter.

use serde_json::json;

use super::{Subject, Task};

pub fn subject() -> Subject {
    Subject {
        counter: "cinema",
        config: "",
        has_demo: true,
        tasks: [looking(), booking()].into_iter().flatten().collect(),
    }
}

/// Two days on, nothing has begun. The demo's programme repeats every six days but for
/// the sold seats, and nobody sits in the first rows.
const DAY: &str = "$today+2%6";

fn looking() -> Vec<Task> {
    vec![
        Task::new("Do you have any musicals?")
            .call("get_movie_list", json!({ "genre": "musical" }))
            .shows("excluded_by"),
        Task::new("What can I see with my eight-year-old between ten and twelve?")
            .call(
                "get_show_schedule",
                json!({
                    "movie_id": "", "date": DAY, "from_time": "10:00", "to_time": "12:00",
                    "max_age_class": "G"
                }),
            )
            .shows("bookable"),
        Task::new("Six of us want to sit together in the evening. What is there?")
            .call(
                "get_show_schedule",
                json!({
                    "movie_id": "", "date": DAY, "from_time": "18:00", "min_seats_together": 6
                }),
            )
            .shows("most_together"),
        Task::new("When is the one with the galaxy train on?")
            .call("get_movie_list", json!({ "search_query": "galaxy train" }))
            .call(
                "get_show_schedule",
                json!({ "movie_id": "$1/movies/0/movie_id", "date": DAY }),
            )
            .shows("銀河鉄道の夜"),
        Task::new("シャーロック・ホームズを十歳の子と見られますか。")
            .call(
                "get_show_schedule",
                json!({ "movie_id": "シャーロック・ホームズ", "date": DAY }),
            )
            .shows("12歳未満"),
        // Yesterday's programme goes on after midnight.
        Task::new("What was on the day before yesterday?")
            .call(
                "get_show_schedule",
                json!({ "movie_id": "", "date": "$today+-2" }),
            )
            .shows("is in the past")
            .varies(),
        Task::new("怪談・雪の宿を三週間後に見たいです。")
            .call(
                "get_show_schedule",
                json!({ "movie_id": "怪談・雪の宿", "date": "$today+21" }),
            )
            .shows("発表済みの上映は"),
        Task::new("Show me the seats of the late show.")
            .call(
                "get_seat_availability",
                json!({ "date": DAY, "start_time": "25:10", "map": true }),
            )
            .shows("○")
            .varies(),
    ]
}

fn booking() -> Vec<Task> {
    let evening = |film: &str| json!({ "movie_id": film, "date": DAY, "from_time": "18:00" });
    let seats = json!({ "schedule_id": "$1/schedules/0/schedule_id" });
    let reserve = |show: &str, seats: [&str; 2]| json!({ "schedule_id": show, "seat_ids": seats });
    let given = |task: Task| {
        task.given("get_show_schedule", evening("M002")).given(
            "reserve_seats",
            reserve("$g1/schedules/0/schedule_id", ["B3", "B4"]),
        )
    };
    vec![
        Task::new("二人で銀河鉄道の夜を夜に見たいです。前のほうの並びの席をお願いします。")
            .call("get_show_schedule", evening("銀河鉄道の夜"))
            .call("get_seat_availability", seats.clone())
            .call(
                "reserve_seats",
                reserve("$1/schedules/0/schedule_id", ["B3", "B4"]),
            )
            .shows("confirmed")
            .varies(),
        Task::new("A seat for two at the comedy in the evening, please.")
            .call(
                "get_show_schedule",
                json!({ "movie_id": "", "date": DAY, "genre": "comedy", "from_time": "18:00" }),
            )
            .call("get_seat_availability", seats)
            .call(
                "reserve_seats",
                reserve(
                    "$1/schedules/0/schedule_id",
                    [
                        "$2/special_seats/1/seat_ids/0",
                        "$2/special_seats/1/seat_ids/1",
                    ],
                ),
            )
            .shows("Successfully reserved 2 seat(s)")
            .varies(),
        given(Task::new("B3 and B4, or the nearest two if they are gone."))
            .call(
                "reserve_seats",
                reserve("$g1/schedules/0/schedule_id", ["B3", "B4"]),
            )
            .refused("SEATS_TAKEN")
            .call(
                "reserve_seats",
                json!({
                    "schedule_id": "$g1/schedules/0/schedule_id",
                    "seat_ids": "$1/error/details/nearest_free_block"
                }),
            )
            .shows("Successfully reserved 2 seat(s)"),
        given(Task::new("Where do I sit, and when does it begin?"))
            .call(
                "get_reservation_details",
                json!({ "reservation_id": "$g2/reservation/reservation_id" }),
            )
            .shows("start_time"),
    ]
}
