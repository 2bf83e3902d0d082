//! What a browser loads at first, and what it can paint before any script has run.

use super::visitor::Visitor;
use crate::harness::Desk;

/// Without compression.
const LARGEST: usize = 100_000;

/// The files of the console that a text names after this.
fn files<'a>(text: &'a str, before: &'a str) -> impl Iterator<Item = &'a str> {
    let named = text.split(before).skip(1);
    named.filter_map(|rest| rest.split('"').next())
}

#[tokio::test]
async fn the_first_view_is_small_and_painted_before_scripts_run() {
    let desk = Desk::start().await;
    let visitor = Visitor::enter(&desk).await;
    for path in ["/", "/console/approvals"] {
        let frame = visitor.get(path).await.text();
        // They run once the document is there, and nothing waits for them.
        assert_eq!(
            frame.matches("<script").count(),
            frame.matches("<script type=\"module\"").count(),
            "{frame}"
        );
        assert!(frame.contains("<nav") && frame.contains("Sign out"));
        let mut names: Vec<String> = files(&frame, "rel=\"stylesheet\" href=\"")
            .chain(files(&frame, "src=\""))
            .map(str::to_owned)
            .collect();
        assert!(names.len() >= 4, "{names:?}");
        let (mut size, mut next) = (frame.len() + visitor.page(path).await.text().len(), 0);
        while let Some(name) = names.get(next).cloned() {
            let file = visitor.get(&name).await;
            assert_eq!(file.status, 200, "{name}");
            let text = file.text();
            size += text.len();
            for import in files(&text, "from \"./") {
                names.push(format!("/console/{import}"));
            }
            next += 1;
        }
        assert!(size < LARGEST, "{path}: {size} with {names:?}");
    }
}
