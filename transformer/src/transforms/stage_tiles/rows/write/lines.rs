//! Text that is written line by line, each as deep as the blocks around it.

use crate::context::Context;
use crate::edit::braces;
use crate::edit::directive_writer::Layout;
use crate::syntax::NodeId;
use crate::transforms::two_forms::indented;

/// Lines of a text, deeper by what is open.
pub(super) struct Lines<'l, 'p> {
    pub cx: &'l Context<'p>,
    /// The style of the directives around.
    pub layout: &'l Layout,
    /// The function whose style the braces have.
    pub function: Option<NodeId>,
    /// The blanks of one more level of a block.
    pub level: &'l str,
    /// The blanks before the next line.
    pub blanks: String,
    pub text: String,
}

impl Lines<'_, '_> {
    pub(super) fn line(&mut self, text: &str) {
        self.text += &format!("{}{}{text}", self.layout.newline, self.blanks);
    }

    /// A directive for what follows.
    pub(super) fn pragma(&mut self, name: &str, clause: &str) {
        let column = if self.layout.indent.is_empty() { "" } else { &self.blanks };
        let layout = self.layout.indented(column.to_owned());
        self.text += &format!("{}{column}{}", layout.newline, layout.write(name, &[clause.to_owned()]));
    }

    /// The head of a statement whose body is the next one.
    pub(super) fn nest(&mut self, head: &str) {
        self.line(head);
        self.blanks += self.level;
    }

    pub(super) fn outdent(&mut self, levels: usize) {
        for _ in 0..levels {
            let length = self.blanks.len().saturating_sub(self.level.len());
            self.blanks.truncate(length);
        }
    }

    /// The head of a block.
    pub(super) fn open(&mut self, head: &str) {
        let brace = self.brace();
        self.line(&format!("{head}{brace}"));
        self.blanks += self.level;
    }

    fn brace(&self) -> String {
        braces::opening(self.cx.file, self.cx.tree, self.function, self.layout.newline, &self.blanks)
    }

    pub(super) fn close(&mut self) {
        self.outdent(1);
        self.line("}");
    }

    /// The end of a block, and another one.
    pub(super) fn close_and(&mut self, keyword: &str) {
        self.outdent(1);
        let brace = self.brace();
        match brace.starts_with(self.layout.newline) {
            true => {
                self.line("}");
                self.line(&format!("{keyword}{brace}"));
            }
            false => self.line(&format!("}} {keyword}{brace}")),
        }
        self.blanks += self.level;
    }

    /// Statements of the original, each line as deep in comparison with the others as it was.
    pub(super) fn statements(&mut self, text: &str) {
        let text = text.trim_end();
        // What stands behind a brace or a head begins a line of its own.
        let (head, lines) = text.split_once('\n').unwrap_or((text, ""));
        if !head.trim().is_empty() {
            self.line(head.trim());
        }
        if let Some(first) = lines.lines().find(|line| !line.trim().is_empty()) {
            let own: String = first.chars().take_while(|it| it.is_whitespace()).collect();
            let deeper = self.blanks.strip_prefix(&own).unwrap_or_default().to_owned();
            self.text += self.layout.newline;
            self.text += &indented(lines, &deeper);
        }
    }
}
