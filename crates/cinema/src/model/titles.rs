//! Which film an id, a title or a similar text means.

use kit::text::{fold, similarity};

/// What is needed to find a film.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilmName {
    pub id: String,
    pub title: String,
    pub folded: String,
}

/// From this similarity on, a text counts as a misspelling of a title: one wrong
/// letter in three.
const NEAR: f64 = 0.65;
/// From this similarity on, a film is proposed when nothing matches.
const WORTH_PROPOSING: f64 = 0.25;
const PROPOSALS: usize = 5;

#[derive(Debug, PartialEq, Eq)]
pub enum TitleMatch<'a> {
    One(&'a FilmName),
    Several(Vec<&'a FilmName>),
    /// Nothing fits; these come nearest.
    None(Vec<&'a FilmName>),
}

/// An id, else a whole title, else a part of a title. Misspellings are
/// proposed, not assumed: the caller may be about to book.
pub fn find<'a>(wanted: &str, films: &'a [FilmName]) -> TitleMatch<'a> {
    let narrow = kit::text::narrow(wanted);
    if let Some(film) = films.iter().find(|film| film.id == narrow) {
        return TitleMatch::One(film);
    }
    let folded = fold(wanted);
    let by_title = |fits: &dyn Fn(&str) -> bool| -> Vec<&'a FilmName> {
        films.iter().filter(|film| fits(&film.folded)).collect()
    };
    let mut found = by_title(&|title| title == folded);
    if found.is_empty() && !folded.is_empty() {
        found = by_title(&|title| title.contains(&folded));
    }
    if found.is_empty() {
        found = films
            .iter()
            .filter(|film| film.id.eq_ignore_ascii_case(&narrow))
            .collect();
    }
    match found.as_slice() {
        [] => TitleMatch::None(nearest(&folded, films)),
        [one] => TitleMatch::One(one),
        _ => TitleMatch::Several(found),
    }
}

fn nearest<'a>(folded: &str, films: &'a [FilmName]) -> Vec<&'a FilmName> {
    let mut scored: Vec<(f64, &FilmName)> = films
        .iter()
        .map(|film| (nearness(folded, &film.folded), film))
        .filter(|(score, _)| *score >= WORTH_PROPOSING)
        .collect();
    scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| x.title.cmp(&y.title)));
    scored.truncate(PROPOSALS);
    scored.into_iter().map(|(_, film)| film).collect()
}

/// `true` when `folded` is probably a misspelling of the title or of a part of it.
pub fn is_near(folded: &str, title_folded: &str) -> bool {
    nearness(folded, title_folded) >= NEAR
}

/// How similar a folded text is to a title or to a part of it, 0 to 1.
fn nearness(folded: &str, title: &str) -> f64 {
    let whole = similarity(folded, title);
    let length = folded.chars().count();
    let title: Vec<char> = title.chars().collect();
    // Two letters with one wrong could be anything.
    if length < 3 || length >= title.len() {
        return whole;
    }
    (length - 1..=length + 1)
        .flat_map(|size| title.windows(size))
        .map(|stretch| similarity(folded, &stretch.iter().collect::<String>()))
        .fold(whole, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn films() -> Vec<FilmName> {
        [
            ("M001", "銀河鉄道の夜"),
            ("M002", "シャーロック・ホームズ：霧の埠頭"),
            ("M003", "シャーロック・ホームズ：最後の挨拶"),
            ("M004", "The Clockwork Harbor"),
            ("M005", "霧"),
        ]
        .into_iter()
        .map(|(id, title)| FilmName {
            id: id.into(),
            title: title.into(),
            folded: fold(title),
        })
        .collect()
    }

    #[test]
    fn ids_titles_and_parts_of_titles() {
        let films = films();
        for (wanted, id) in [
            ("M001", "M001"),
            ("Ｍ００１", "M001"),
            ("m004", "M004"),
            ("銀河鉄道の夜", "M001"),
            ("銀河", "M001"),
            ("ｼｬｰﾛｯｸ･ﾎｰﾑｽﾞ 霧の埠頭", "M002"),
            ("しゃーろっくほーむず最後の挨拶", "M003"),
            ("ＴＨＥ　ｃｌｏｃｋｗｏｒｋ　ｈａｒｂｏｒ", "M004"),
            // A whole title comes before parts of others.
            ("霧", "M005"),
        ] {
            assert!(
                matches!(find(wanted, &films), TitleMatch::One(film) if film.id == id),
                "{wanted}"
            );
        }
    }

    #[test]
    fn several_and_none() {
        let films = films();
        assert!(
            matches!(find("シャーロック", &films), TitleMatch::Several(found) if found.len() == 2)
        );
        let TitleMatch::None(near) = find("銀河鉄通の夜", &films) else {
            panic!("a misspelling was accepted as a title")
        };
        assert_eq!(near[0].id, "M001");
        assert_eq!(find("zzzzzz", &films), TitleMatch::None(vec![]));
        assert_eq!(find("", &films), TitleMatch::None(vec![]));
    }

    #[test]
    fn misspellings_are_near() {
        for (typed, title) in [
            ("銀河鉄通の夜", "銀河鉄道の夜"),
            ("シャーロク", "シャーロック・ホームズ：霧の埠頭"),
            ("clokwork", "The Clockwork Harbor"),
            ("clockwork habor", "The Clockwork Harbor"),
        ] {
            assert!(is_near(&fold(typed), &fold(title)), "{typed}");
        }
        for (typed, title) in [
            ("海", "銀河鉄道の夜"),
            ("宇宙戦争", "銀河鉄道の夜"),
            ("zz", "The Clockwork Harbor"),
        ] {
            assert!(!is_near(&fold(typed), &fold(title)), "{typed}");
        }
    }
}
