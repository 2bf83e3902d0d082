//! A YAML text as a tree that knows its lines.

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span};
use serde_json::{Map, Value};

use super::super::text::Problem;

pub struct Node {
    pub kind: NodeKind,
    /// Lines and columns start at 0. Columns count characters.
    pub line: usize,
    pub column: usize,
    pub last_line: usize,
    pub last_column: usize,
}

pub enum NodeKind {
    Scalar(Value),
    List(Vec<Node>),
    Map {
        pairs: Vec<(Node, Node)>,
        /// Written as `{…}`.
        is_flow: bool,
    },
}

/// The root of the only document; `None` for a text without any.
pub fn read(text: &str) -> Result<Option<Node>, Problem> {
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        characters: text.chars().collect(),
    };
    let mut root = None;
    while let Some((event, span)) = reader.next()? {
        match event {
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::Nothing => {}
            event if root.is_none() => root = Some(reader.node(event, span)?),
            _ => return Err(Problem::Form("It has several YAML documents.".into())),
        }
    }
    Ok(root)
}

struct Reader<'i> {
    parser: Parser<'i, saphyr_parser::StrInput<'i>>,
    /// The parser counts characters.
    characters: Vec<char>,
}

impl<'i> Reader<'i> {
    fn next(&mut self) -> Result<Option<(Event<'i>, Span)>, Problem> {
        self.parser
            .next()
            .transpose()
            .map_err(|error| Problem::Syntax {
                line: error.marker().line(),
                column: error.marker().col() + 1,
                message: error.info().trim_end_matches('.').into(),
            })
    }

    fn node(&mut self, event: Event<'i>, span: Span) -> Result<Node, Problem> {
        let (kind, end) = match event {
            Event::Scalar(text, style, _, _) => (NodeKind::Scalar(scalar(&text, style)), span.end),
            Event::Alias(anchor) => (NodeKind::Scalar(format!("*{anchor}").into()), span.end),
            Event::SequenceStart(..) => self.list(span)?,
            Event::MappingStart(..) => self.map(span)?,
            _ => return Err(Problem::Form("It is not a YAML mapping.".into())),
        };
        let (line, column) = (span.start.line().saturating_sub(1), span.start.col());
        let (mut last_line, mut last_column) = (end.line().saturating_sub(1), end.col());
        // A block scalar ends where the next line starts.
        if last_column == 0 && last_line > line {
            last_line -= 1;
            last_column = usize::MAX;
        }
        Ok(Node {
            kind,
            line,
            column,
            last_line,
            last_column,
        })
    }

    fn list(&mut self, span: Span) -> Result<(NodeKind, Marker), Problem> {
        let (mut items, mut end) = (Vec::new(), span.end);
        while let Some((event, at)) = self.next()? {
            if event == Event::SequenceEnd {
                if self.starts_with(span, '[') {
                    end = after_bracket(at);
                }
                break;
            }
            let item = self.node(event, at)?;
            end = later(end, &item);
            items.push(item);
        }
        Ok((NodeKind::List(items), end))
    }

    fn map(&mut self, span: Span) -> Result<(NodeKind, Marker), Problem> {
        let (mut pairs, mut end) = (Vec::new(), span.end);
        let is_flow = self.starts_with(span, '{');
        while let Some((event, at)) = self.next()? {
            if event == Event::MappingEnd {
                if is_flow {
                    end = after_bracket(at);
                }
                break;
            }
            let key = self.node(event, at)?;
            let Some((event, at)) = self.next()? else {
                break;
            };
            let value = self.node(event, at)?;
            end = later(later(end, &key), &value);
            pairs.push((key, value));
        }
        Ok((NodeKind::Map { pairs, is_flow }, end))
    }

    fn starts_with(&self, span: Span, bracket: char) -> bool {
        self.characters.get(span.start.index()) == Some(&bracket)
    }
}

/// The parser's own end lies behind the comment that follows.
fn after_bracket(at: Span) -> Marker {
    Marker::new(0, at.start.line(), at.start.col() + 1)
}

/// The later of a place and the end of a node.
fn later(end: Marker, node: &Node) -> Marker {
    let of_node = Marker::new(0, node.last_line + 1, node.last_column);
    match (of_node.line(), of_node.col()) > (end.line(), end.col()) && !node.is_nothing() {
        true => of_node,
        false => end,
    }
}

impl Node {
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, NodeKind::Scalar(Value::Null))
    }

    /// A value that is left out. The parser places it where the next token starts.
    pub fn is_nothing(&self) -> bool {
        self.is_null() && (self.line, self.column) == (self.last_line, self.last_column)
    }

    pub fn pairs(&self) -> &[(Node, Node)] {
        match &self.kind {
            NodeKind::Map { pairs, .. } => pairs,
            _ => &[],
        }
    }

    pub fn is_block_map(&self) -> bool {
        matches!(&self.kind, NodeKind::Map { is_flow: false, .. })
    }

    pub fn is_empty_flow_map(&self) -> bool {
        matches!(&self.kind, NodeKind::Map { is_flow: true, pairs } if pairs.is_empty())
    }

    pub fn get(&self, name: &str) -> Option<&(Node, Node)> {
        let is_it =
            |key: &Node| matches!(&key.kind, NodeKind::Scalar(Value::String(key)) if key == name);
        self.pairs().iter().find(|(key, _)| is_it(key))
    }

    pub fn json(&self) -> Value {
        match &self.kind {
            NodeKind::Scalar(value) => value.clone(),
            NodeKind::List(items) => items.iter().map(Self::json).collect(),
            NodeKind::Map { pairs, .. } => {
                let pairs = pairs.iter().map(|(key, value)| {
                    let key = match key.json() {
                        Value::String(key) => key,
                        other => other.to_string(),
                    };
                    (key, value.json())
                });
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return text.into();
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => true.into(),
        "false" | "False" | "FALSE" => false.into(),
        _ => text
            .parse::<i64>()
            .map_or_else(|_| text.into(), Value::from),
    }
}
