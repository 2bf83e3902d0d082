//! Repetition in Japanese.

use jiff::civil::DateTime;

use super::rule_text::{WORKDAYS, days, days_through, every, monthly, nth_weekday, weekly, yearly};

pub fn read(text: &str, start: DateTime) -> Option<String> {
    let text: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && !"・、,/".contains(*c))
        .collect();
    let text = text
        .replace("曜日", "曜")
        .replace("ヶ月", "か月")
        .replace("ヵ月", "か月");
    let text = text
        .replace("カ月", "か月")
        .replace("ケ月", "か月")
        .replace("毎に", "ごと");
    let text = text.trim_end_matches('に').trim_end_matches("繰り返し");
    let simple = match text {
        "毎日" | "日次" | "毎朝" | "毎晩" | "毎夜" | "毎夕" | "1日ごと" => {
            "FREQ=DAILY".to_owned()
        }
        "平日" | "平日毎日" | "毎平日" | "平日のみ" | "平日だけ" => {
            days(1, &WORKDAYS)
        }
        "週末" | "毎週末" | "週末ごと" => days(1, &["SA", "SU"]),
        "毎週" | "週次" | "週1回" | "週に1回" => weekly(1, start),
        "隔週" | "2週ごと" | "1週間おき" | "一週間おき" => weekly(2, start),
        "隔日" | "1日おき" | "一日おき" => every(2, "DAILY"),
        "毎月" | "月次" | "月1回" | "月に1回" => monthly(1, start.day()),
        "四半期ごと" | "毎四半期" => monthly(3, start.day()),
        "隔月" => monthly(2, start.day()),
        "毎月末" | "月末" | "毎月末日" | "毎月最終日" | "毎月の最終日" | "毎月の末日" => {
            "FREQ=MONTHLY;BYMONTHDAY=-1".to_owned()
        }
        "毎年" | "年次" | "年1回" => yearly(1, start),
        "毎時" | "毎時間" | "1時間ごと" => "FREQ=HOURLY".to_owned(),
        _ => String::new(),
    };
    if !simple.is_empty() {
        return Some(simple);
    }
    if let Some(rest) = text.strip_prefix("毎月") {
        let rest = rest.strip_prefix('の').unwrap_or(rest);
        if let Some(day) = rest.strip_suffix('日').and_then(|day| day.parse().ok()) {
            return Some(day)
                .filter(|day| (1..=31).contains(day))
                .map(|day| monthly(1, day));
        }
        return numbered_japanese(rest);
    }
    if let Some(rest) = text.strip_prefix("隔週") {
        return japanese_days(rest).map(|named| days(2, &named));
    }
    if let Some(per) = text.strip_suffix("ごと") {
        let digits = per.len() - per.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, unit) = per.split_at(digits);
        let number: u32 = number.parse().ok().filter(|n| (1..=1_000).contains(n))?;
        return Some(match unit {
            "日" => every(number, "DAILY"),
            "週" | "週間" => weekly(number, start),
            "月" | "か月" => monthly(number, start.day()),
            "年" => yearly(number, start),
            "時間" => every(number, "HOURLY"),
            _ => return None,
        });
    }
    let rest = text.strip_prefix("毎週").unwrap_or(text);
    japanese_days(rest).map(|named| days(1, &named))
}

/// `第1月曜`, `最終金曜`.
fn numbered_japanese(text: &str) -> Option<String> {
    let (number, rest) = if let Some(rest) = text.strip_prefix("最終") {
        (-1, rest)
    } else {
        let rest = text.strip_prefix('第')?;
        let mut letters = rest.chars();
        let number = match letters.next()? {
            '1' | '一' => 1,
            '2' | '二' => 2,
            '3' | '三' => 3,
            '4' | '四' => 4,
            _ => return None,
        };
        (number, letters.as_str())
    };
    match japanese_days(rest)?.as_slice() {
        [day] => Some(nth_weekday(number, day)),
        _ => None,
    }
}

/// `月水金`, `月曜`, `月曜水曜`, `土日`, `月曜から金曜まで`.
fn japanese_days(text: &str) -> Option<Vec<&'static str>> {
    let text = text.strip_suffix("まで").unwrap_or(text);
    for between in ["から", "-", "ー"] {
        if let Some((first, last)) = text.split_once(between) {
            return match (
                japanese_days(first)?.as_slice(),
                japanese_days(last)?.as_slice(),
            ) {
                ([first], [last]) => days_through(first, last),
                _ => None,
            };
        }
    }
    let mut named = Vec::new();
    for letter in text.replace(['曜', 'と'], "").chars() {
        named.push(match letter {
            '月' => "MO",
            '火' => "TU",
            '水' => "WE",
            '木' => "TH",
            '金' => "FR",
            '土' => "SA",
            '日' => "SU",
            _ => return None,
        });
    }
    (!named.is_empty()).then_some(named)
}
