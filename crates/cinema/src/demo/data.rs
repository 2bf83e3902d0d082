//! The films and halls of the sample cinema. All are invented or based on works in
//! the public domain.

use crate::model::{
    hall::{GENERAL, Hall, HallSeat},
    seat::Seat,
};

#[derive(Debug)]
pub struct DemoFilm {
    pub id: &'static str,
    pub title: &'static str,
    pub genre: &'static str,
    pub minutes: i64,
    pub rating: f64,
    pub age_class: &'static str,
    pub popularity: i64,
    pub description: &'static str,
    pub release_date: &'static str,
}

/// Each pair of neighbours shares a hall for a day; see `timetable`.
pub const FILMS: &[DemoFilm] = &[
    DemoFilm {
        id: "M001",
        title: "銀河鉄道の夜",
        genre: "アニメ",
        minutes: 112,
        rating: 4.6,
        age_class: "G",
        popularity: 88,
        description: "星祭りの夜、少年は親友とともに銀河を走る列車に乗り込む。宮沢賢治の童話を新しい映像で描く。",
        release_date: "2026-07-17",
    },
    DemoFilm {
        id: "M002",
        title: "ミッドナイト・キッチン",
        genre: "コメディ",
        minutes: 118,
        rating: 3.9,
        age_class: "G",
        popularity: 64,
        description: "閉店後の食堂に、夜ごと一人ずつ変わった客が現れる。笑って少し泣ける、おいしい一夜の物語。",
        release_date: "2026-09-04",
    },
    DemoFilm {
        id: "M003",
        title: "The Clockwork Harbor",
        genre: "SF",
        minutes: 98,
        rating: 4.2,
        age_class: "G",
        popularity: 71,
        description: "歯車で動く港町で、止まった大時計を直せるのは記憶を失くした整備士だけだった。",
        release_date: "2026-08-21",
    },
    DemoFilm {
        id: "M004",
        title: "羅生門の雨",
        genre: "時代劇",
        minutes: 131,
        rating: 4.4,
        age_class: "PG12",
        popularity: 58,
        description: "荒れた都の門の下、雨宿りの三人がそれぞれに語る一つの事件。芥川龍之介の短編に想を得た時代劇。",
        release_date: "2026-06-12",
    },
    DemoFilm {
        id: "M005",
        title: "シャーロック・ホームズ：霧の埠頭",
        genre: "ミステリー",
        minutes: 124,
        rating: 4.1,
        age_class: "PG12",
        popularity: 76,
        description: "霧の埠頭に流れ着いた空の棺。名探偵と医師が、ロンドンの夜に隠された取引を追う。",
        release_date: "2026-10-02",
    },
    DemoFilm {
        id: "M006",
        title: "となりの化け猫さん",
        genre: "ファミリー",
        minutes: 105,
        rating: 4.0,
        age_class: "G",
        popularity: 82,
        description: "引っ越し先の隣人は、百年生きた化け猫だった。夏休みの兄妹と猫たちの小さな大冒険。",
        release_date: "2026-07-24",
    },
    DemoFilm {
        id: "M007",
        title: "怪談・雪の宿",
        genre: "ホラー",
        minutes: 92,
        rating: 3.6,
        age_class: "R15+",
        popularity: 49,
        description: "吹雪で閉ざされた山の宿。帳場の名簿に、まだ着いていない客の名が増えていく。",
        release_date: "2026-10-30",
    },
    DemoFilm {
        id: "M008",
        title: "Twenty Thousand Leagues",
        genre: "アドベンチャー",
        minutes: 138,
        rating: 4.3,
        age_class: "G",
        popularity: 79,
        description: "謎の巨大潜水艦に囚われた博士の航海。ヴェルヌの海洋冒険譚を大画面で。",
        release_date: "2026-09-18",
    },
    DemoFilm {
        id: "M009",
        title: "さよならは五月の駅で",
        genre: "恋愛",
        minutes: 110,
        rating: 3.8,
        age_class: "G",
        popularity: 61,
        description: "廃線の決まった海辺の駅。最後の一か月、二人は毎朝同じ列車を待つ。",
        release_date: "2026-05-08",
    },
    DemoFilm {
        id: "M010",
        title: "レッド・メリディアン",
        genre: "アクション",
        minutes: 127,
        rating: 4.0,
        age_class: "R15+",
        popularity: 85,
        description: "国境の地下鉄道を舞台に、引退した運び屋が最後の荷を守り抜く。",
        release_date: "2026-10-16",
    },
    DemoFilm {
        id: "M011",
        title: "深海のコーラス",
        genre: "ドキュメンタリー",
        minutes: 88,
        rating: 4.5,
        age_class: "G",
        popularity: 42,
        description: "水深六千メートルで録音された「歌」の主を探して。五年にわたる調査船の記録。",
        release_date: "2026-08-07",
    },
    DemoFilm {
        id: "M012",
        title: "夜想曲第十三番",
        genre: "ドラマ",
        minutes: 145,
        rating: 4.7,
        age_class: "R18+",
        popularity: 55,
        description: "幻の楽譜を手に入れた老ピアニストが、過去の罪と向き合う七日間。",
        release_date: "2026-09-25",
    },
];

#[derive(Debug)]
pub struct DemoHall {
    pub id: &'static str,
    pub name: &'static str,
    /// How many seats each row has, from the screen backwards.
    rows: &'static [u32],
    /// How many of the last row's seats are for couples, counted from the left.
    couple: u32,
    /// How many places at the left end of the first row are for wheelchairs.
    wheelchair: u32,
}

pub const HALLS: &[DemoHall] = &[
    DemoHall {
        id: "T1",
        name: "スクリーン1",
        rows: &[14, 15, 15, 15, 15, 15, 15, 15, 15, 16],
        couple: 8,
        wheelchair: 2,
    },
    DemoHall {
        id: "T2",
        name: "スクリーン2",
        rows: &[12, 13, 13, 14, 14, 14, 14, 14, 12],
        couple: 6,
        wheelchair: 2,
    },
    DemoHall {
        id: "T3",
        name: "スクリーン3",
        rows: &[12, 12, 12, 12, 12, 12, 12, 12],
        couple: 4,
        wheelchair: 2,
    },
    DemoHall {
        id: "T4",
        name: "スクリーン4",
        rows: &[10, 10, 10, 10, 10, 10, 10, 10],
        couple: 4,
        wheelchair: 2,
    },
    DemoHall {
        id: "T5",
        name: "スクリーン5",
        rows: &[8, 10, 10, 10, 10, 12],
        couple: 6,
        wheelchair: 2,
    },
    DemoHall {
        id: "T6",
        name: "スクリーン6",
        rows: &[8, 10, 10, 12, 12],
        couple: 4,
        wheelchair: 1,
    },
];

impl DemoHall {
    pub fn plan(&self) -> Hall {
        let last = self.rows.len().saturating_sub(1);
        let places = self.rows.iter().enumerate().zip('A'..='Z');
        let places = places.flat_map(|((index, size), row)| {
            (1..=*size).map(move |number| HallSeat {
                seat: Seat {
                    row: row.to_string(),
                    number,
                },
                seat_type: if index == 0 && number <= self.wheelchair {
                    "車椅子"
                } else if index == last && number <= self.couple {
                    "カップル"
                } else {
                    GENERAL
                }
                .to_owned(),
            })
        });
        Hall::new(places.collect())
    }
}
