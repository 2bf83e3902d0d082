//! Shows Markdown that agents and people wrote. HTML in it is text, links are not
//! followed, and nothing is loaded. What this does not know is shown as it is written.
//!
//! `blocks` takes a document apart; `inline` shows the text of one block.

mod blocks;
mod inline;

use maud::{Markup, html};

use self::{
    blocks::{Block, ListLine, blocks},
    inline::inline,
};
use super::text::shown;

/// Longer documents are cut.
const LONGEST: usize = 200_000;

/// Headings of documents are below those of the page.
const FIRST_LEVEL: usize = 3;

pub fn drawn(text: &str) -> Markup {
    let (text, more) = kit::text::cut(text, LONGEST);
    let mut level = 0;
    html! {
        @for block in blocks(text) { (drawn_block(&block, &mut level)) }
        @if more > 0 { p { "…" } }
    }
}

/// `level`: that of the last heading.
fn drawn_block(block: &Block<'_>, level: &mut usize) -> Markup {
    match block {
        Block::Heading(written, text) => {
            // No level is left out, or readers would look for what is missing.
            *level = (*written).min(*level + 1);
            heading(*level + FIRST_LEVEL - 1, inline(text))
        }
        Block::Paragraph(text) => html! { p dir="auto" { (inline(text)) } },
        Block::Quote(text) => html! { blockquote dir="auto" { p { (inline(text)) } } },
        Block::Code(text) => html! { pre tabindex="0" { (shown(text)) } },
        Block::Rule => html! { hr; },
        Block::List(lines) => list(lines),
    }
}

fn heading(level: usize, content: Markup) -> Markup {
    match level {
        3 => html! { h3 { (content) } },
        4 => html! { h4 { (content) } },
        5 => html! { h5 { (content) } },
        _ => html! { h6 { (content) } },
    }
}

/// Lines that are indented further than the first are lists within it.
fn list(lines: &[ListLine<'_>]) -> Markup {
    let Some(first) = lines.first() else {
        return html! {};
    };
    let is_start = |line: &ListLine<'_>| line.indent <= first.indent;
    let items = html! {
        @for item in lines.chunk_by(|_, next| !is_start(next)) {
            @if let [line, below @ ..] = item {
                li dir="auto" { (marked(line)) (list(below)) }
            }
        }
    };
    match first.is_numbered {
        true => html! { ol class="numbered" { (items) } },
        false => html! { ul class="bullets" { (items) } },
    }
}

fn marked(line: &ListLine<'_>) -> Markup {
    let rest = |mark: &str| line.text.strip_prefix(mark).map(str::trim_start);
    let boxes = [("[ ] ", "☐"), ("[-] ", "◐"), ("[x] ", "☑"), ("[X] ", "☑")];
    let ticked = boxes
        .iter()
        .find_map(|(mark, sign)| Some((*sign, rest(mark)?)));
    match ticked {
        Some((sign, text)) => html! { (sign) " " (inline(text)) },
        None => inline(&line.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(markdown: &str) -> String {
        drawn(markdown).into_string()
    }

    #[test]
    fn a_document_is_shown_as_its_readers_expect() {
        let document = "# Title\n\nSome *words*\nand **more**.\n\n## Plan\n- [ ] one\n  - [x] two\n\
            - three\n\n1. first\n2. second\n\n> said\n\n```rust\nlet a = 1;\n\n# no heading\n```\n---\n";
        assert_eq!(
            text(document),
            "<h3>Title</h3><p dir=\"auto\">Some <em>words</em>\nand <strong>more</strong>.</p>\
             <h4>Plan</h4><ul class=\"bullets\"><li dir=\"auto\">☐ one<ul class=\"bullets\">\
             <li dir=\"auto\">☑ two</li></ul></li><li dir=\"auto\">three</li></ul>\
             <ol class=\"numbered\"><li dir=\"auto\">first</li><li dir=\"auto\">second</li></ol>\
             <blockquote dir=\"auto\"><p>said</p></blockquote>\
             <pre tabindex=\"0\">let a = 1;\n\n# no heading</pre><hr>"
        );
    }

    #[test]
    fn no_html_and_no_link_passes_through() {
        for hostile in [
            "<script>alert(1)</script>",
            "# <img src=x onerror=alert(1)>",
            "- <svg onload=alert(1)>",
            "> <a href=\"javascript:alert(1)\">x</a>",
            "```\n</pre><script>alert(1)</script>\n```",
            "[x](javascript:alert(1))",
            "![x](https://evil.example/x.png)",
            "`<b>` **<i>** *<u>*",
            "<!-- <b> -->",
        ] {
            let page = text(hostile);
            for tag in [
                "<script", "<img", "<svg", "<a ", "<b>", "<i>", "<u>", "<!--",
            ] {
                assert!(!page.contains(tag), "{hostile}: {page}");
            }
        }
        assert!(text("a\u{202e}b\u{200b}").contains("U+202E"));
        assert!(text("[the page](https://x.example/)").contains("the page (https://x.example/)"));
    }

    #[test]
    fn headings_leave_out_no_level() {
        assert_eq!(text("#### Deep\n# Top"), "<h3>Deep</h3><h3>Top</h3>");
        assert_eq!(text("#"), "<p dir=\"auto\">#</p>");
    }

    #[test]
    fn odd_texts_take_no_longer_than_others() {
        for odd in ["*", "**", "`", "[", "- ", "> ", "# ", "[](", "_a_*"] {
            let page = text(&odd.repeat(50_000));
            assert!(page.len() < 4_000_000, "{odd}: {}", page.len());
        }
        let deep: String = (0..2_000)
            .map(|at| format!("{}- x\n", " ".repeat(at)))
            .collect();
        assert!(text(&deep).len() < 10_000_000);
    }
}
