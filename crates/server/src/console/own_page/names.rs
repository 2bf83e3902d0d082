//! The names of the fields in the forms of a counter's page.

/// Begins the names of fields with arguments.
pub const ARGUMENT: &str = "argument/";

/// Begins the names of fields with what arguments were when the page showed them. An
/// argument that is still the same is not sent to the tool.
pub const BEFORE: &str = "before/";

/// Begins the names of fields with arguments of several lines, which stay as they are.
pub const LINES: &str = "lines/";

/// The field with the arguments that the person does not choose.
pub const FIXED: &str = "fixed";

/// The field that says which form of the page was sent.
pub const PLACE: &str = "place";

/// The button that shows a text instead of sending it.
pub const PREVIEW: &str = "preview";
