//! The text of a generated program as a tree, so that parts can be taken away while a failure remains.

/// A clause of a directive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// `map(to: a[0:n])`
    pub text: String,
    /// Is the program still valid without it?
    pub droppable: bool,
}

/// `#pragma omp ..`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// `target teams`
    pub name: String,
    /// In the order written.
    pub clauses: Vec<Clause>,
}

/// A piece of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// Lines that stay or go together.
    Text(String),
    /// Lines that must stay: a declaration that others need.
    Fixed(String),
    /// A stand-alone directive.
    Alone(Directive),
    /// Directives, then `head`, then the body in braces; without a head a block. It goes as a whole.
    Block(Block),
}

/// See [`Node::Block`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Before the head, the outermost first.
    pub directives: Vec<Directive>,
    /// `for (int i = 0; i < n; i++)`, or a function's head.
    pub head: String,
    /// What stands between the braces.
    pub body: Vec<Node>,
    /// Behind the closing brace: `while (c < 3);`
    pub tail: String,
    /// Must it stay?
    pub fixed: bool,
    /// Are the braces left out where one statement stands between them?
    pub bare: bool,
}

impl Clause {
    /// A clause that the program does not need in order to be valid.
    pub fn free(text: impl Into<String>) -> Self {
        Self { text: text.into(), droppable: true }
    }

    /// A clause that it needs.
    pub fn needed(text: impl Into<String>) -> Self {
        Self { text: text.into(), droppable: false }
    }
}

impl Directive {
    /// A directive.
    pub fn new(name: impl Into<String>, clauses: Vec<Clause>) -> Self {
        Self { name: name.into(), clauses }
    }

    fn write(&self, indent: usize, out: &mut String) {
        let clauses: Vec<&str> = self.clauses.iter().map(|clause| clause.text.as_str()).collect();
        let mut line = format!("{:indent$}#pragma omp {}", "", self.name);
        for clause in clauses {
            if line.len() + clause.len() > 110 {
                out.push_str(&line);
                out.push_str(" \\\n");
                line = format!("{:indent$}   ", "");
            }
            line.push(' ');
            line.push_str(clause);
        }
        out.push_str(&line);
        out.push('\n');
    }
}

/// A line of text that may go.
pub fn text(line: impl Into<String>) -> Node {
    Node::Text(line.into())
}

/// A line of text that must stay.
pub fn fixed(line: impl Into<String>) -> Node {
    Node::Fixed(line.into())
}

/// A statement with a body.
pub fn block(head: impl Into<String>, body: Vec<Node>) -> Node {
    Node::Block(Block { head: head.into(), body, ..Block::default() })
}

/// Writes nodes with an indent.
pub fn write(nodes: &[Node], indent: usize, out: &mut String) {
    for node in nodes {
        match node {
            Node::Text(text) | Node::Fixed(text) => {
                for line in text.lines() {
                    let indent = if line.starts_with('#') { 0 } else { indent };
                    out.push_str(&format!("{:indent$}{line}\n", ""));
                }
            }
            Node::Alone(directive) => directive.write(indent, out),
            Node::Block(block) => block.write(indent, out),
        }
    }
}

impl Block {
    fn write(&self, indent: usize, out: &mut String) {
        for directive in &self.directives {
            directive.write(indent, out);
        }
        let bare = self.bare && self.body.len() == 1 && !self.head.is_empty();
        match (bare, self.head.is_empty()) {
            (true, _) => out.push_str(&format!("{:indent$}{}\n", "", self.head)),
            (false, true) => out.push_str(&format!("{:indent$}{{\n", "")),
            (false, false) => out.push_str(&format!("{:indent$}{} {{\n", "", self.head)),
        }
        write(&self.body, indent + 4, out);
        if !bare {
            let tail = if self.tail.is_empty() { String::new() } else { format!(" {}", self.tail) };
            out.push_str(&format!("{:indent$}}}{tail}\n", ""));
        }
    }
}

/// Every smaller program that lacks one thing: a statement, a block, the braces and head of a block, a clause. The
/// largest things come first.
pub fn smaller(nodes: &[Node]) -> Vec<Vec<Node>> {
    let mut found = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let with = |new: Vec<Node>| [&nodes[..index], &new[..], &nodes[index + 1..]].concat();
        if !matches!(node, Node::Fixed(_)) && !matches!(node, Node::Block(block) if block.fixed) {
            found.push(with(Vec::new()));
        }
        match node {
            Node::Block(block) => {
                if !block.fixed && (block.directives.is_empty() || block.head.is_empty()) {
                    found.push(with(block.body.clone()));
                }
                found.extend(smaller_block(block).into_iter().map(|block| with(vec![Node::Block(block)])));
            }
            Node::Alone(directive) => {
                found.extend(smaller_directive(directive).into_iter().map(|d| with(vec![Node::Alone(d)])));
            }
            Node::Text(_) | Node::Fixed(_) => {}
        }
    }
    found
}

fn smaller_block(block: &Block) -> Vec<Block> {
    let bodies = smaller(&block.body).into_iter().map(|body| Block { body, ..block.clone() });
    let mut found: Vec<Block> = bodies.collect();
    for (index, directive) in block.directives.iter().enumerate() {
        for less in smaller_directive(directive) {
            let mut block = block.clone();
            block.directives[index] = less;
            found.push(block);
        }
    }
    found
}

fn smaller_directive(directive: &Directive) -> Vec<Directive> {
    let droppable = (0..directive.clauses.len()).filter(|index| directive.clauses[*index].droppable);
    let without = |index| {
        let mut less = directive.clone();
        less.clauses.remove(index);
        less
    };
    droppable.map(without).collect()
}
