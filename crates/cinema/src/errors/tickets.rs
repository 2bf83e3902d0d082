//! Why there is no ticket, and why one is refused at the entrance.

use kit::Error;
use serde_json::json;

use crate::model::Status;

/// The reservation has no ticket, because it is not booked.
pub fn no_ticket(status: Status) -> Error {
    let (message, next, japanese) = match status {
        Status::Held => (
            "These seats are held, not booked, so there is no ticket yet.",
            "Book them with reserve_seats and the hold_id.",
            "まだ仮押さえのため、チケットはありません。reserve_seatsで予約を確定してください。",
        ),
        _ => (
            "This reservation is no longer valid, so it has no ticket.",
            "Reserve again with reserve_seats.",
            "この予約は無効のため、チケットはありません。もう一度予約してください。",
        ),
    };
    Error::new("NO_TICKET", message)
        .next(next)
        .japanese(japanese)
        .details(json!({ "status": status.as_str() }))
}

const ALREADY_ADMITTED: &str = "ALREADY_ADMITTED";

/// The booking can't be changed after its ticket was admitted. `at` is RFC 3339.
pub fn already_admitted(at: &str) -> Error {
    Error::new(
        ALREADY_ADMITTED,
        format!("The ticket of this booking was admitted at {at}; it can't be changed any more."),
    )
    .next("Ask the staff at the cinema.")
    .japanese(format!(
        "この予約は{at}に入場済みのため、変更できません。劇場スタッフにお尋ねください。"
    ))
    .details(json!({ "admitted_at": at }))
}

/// Why a ticket does not admit anybody. Times are RFC 3339.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TicketRefusal {
    Unreadable,
    Forged,
    Cancelled,
    /// For other seats or another screening.
    Exchanged,
    PartlyCancelled,
    Admitted {
        at: String,
    },
    Expired {
        ended: String,
    },
    OtherDay {
        starts: String,
    },
}

pub fn ticket_refused(refusal: TicketRefusal) -> Error {
    let newest = "Ask for the current ticket: get_ticket with the reservation_id.";
    let (code, message, next, japanese) = match &refusal {
        TicketRefusal::Unreadable => (
            "TICKET_UNREADABLE",
            "This text is not a ticket.".to_owned(),
            "Scan the QR code again and pass on its whole text.",
            "チケットとして読み取れません。もう一度スキャンしてください。".to_owned(),
        ),
        TicketRefusal::Forged => (
            "TICKET_FORGED",
            "This ticket was not signed by this cinema.".to_owned(),
            "Admit nobody; look the booking up with get_reservation_details.",
            "当館が発行したチケットではありません。予約番号をご確認ください。".to_owned(),
        ),
        TicketRefusal::Cancelled => (
            "TICKET_CANCELLED",
            "The booking of this ticket was cancelled.".to_owned(),
            "Admit nobody; offer seats with reserve_seats.",
            "このチケットの予約は取り消されています。".to_owned(),
        ),
        TicketRefusal::Exchanged => (
            "TICKET_EXCHANGED",
            "The booking of this ticket was exchanged for other seats or another screening."
                .to_owned(),
            newest,
            "このチケットの予約は変更されています。新しいチケットをご提示ください。".to_owned(),
        ),
        TicketRefusal::PartlyCancelled => (
            "TICKET_PARTLY_CANCELLED",
            "Some seats of this ticket were cancelled.".to_owned(),
            newest,
            "一部の座席が取り消されています。新しいチケットをご提示ください。".to_owned(),
        ),
        TicketRefusal::Admitted { at } => (
            ALREADY_ADMITTED,
            format!("This ticket was already admitted at {at}."),
            "Admit nobody else with it; ask the holder for the reservation_id.",
            format!("このチケットは{at}に入場済みです。"),
        ),
        TicketRefusal::Expired { ended } => (
            "TICKET_EXPIRED",
            format!("The screening of this ticket ended at {ended}."),
            "Offer another screening from get_show_schedule.",
            format!("このチケットの上映は{ended}に終了しました。"),
        ),
        TicketRefusal::OtherDay { starts } => (
            "TICKET_OTHER_DAY",
            format!("This ticket is for another day: the screening starts at {starts}."),
            "Ask the holder to come back on that day.",
            format!("このチケットは別の日の上映（{starts}開始）のものです。"),
        ),
    };
    let error = Error::new(code, message).next(next).japanese(japanese);
    match refusal {
        TicketRefusal::Admitted { at } => error.details(json!({ "admitted_at": at })),
        TicketRefusal::Expired { ended } => error.details(json!({ "ended_at": ended })),
        TicketRefusal::OtherDay { starts } => error.details(json!({ "starts_at": starts })),
        _ => error,
    }
}
