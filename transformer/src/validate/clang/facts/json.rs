//! The nodes of clang's syntax tree, from the JSON that it writes.
//!
//! The tree of a file with standard headers is hundreds of megabytes long and deeper than recursion allows, so it is read as a
//! stream. clang leaves out the file of a place where it is that of the place before it: places are followed in the order in
//! which they are written.

use std::io::{BufRead, Error, ErrorKind};

/// A place in the text that is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The byte; none where there is no place.
    pub offset: Option<usize>,
    /// The length of the token there.
    pub length: usize,
    /// Is it in the main file?
    pub in_file: bool,
    /// Does a macro stand there?
    pub in_macro: bool,
}

/// A type as written, and with the outermost name seen through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WrittenType {
    pub written: String,
    pub seen_through: Option<String>,
}

/// What a node refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Referenced {
    pub id: String,
    pub kind: String,
    pub name: String,
    pub ty: WrittenType,
}

/// A node without what is inside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    pub kind: String,
    pub id: String,
    pub name: String,
    pub ty: WrittenType,
    pub storage: String,
    pub is_implicit: bool,
    pub is_constexpr: bool,
    pub is_thread_local: bool,
    pub is_complete: bool,
    pub loc: Place,
    pub begin: Place,
    pub referenced: Option<Referenced>,
}

/// What is told of each node, before and after what is inside it.
pub(super) trait Visitor {
    fn enter(&mut self, node: &Node);
    fn leave(&mut self);
}

/// How deep the values of a node's own attributes may be nested.
const DEEPEST_VALUE: usize = 32;

/// Reads a tree; `main` is the name that clang gives the main file.
///
/// # Errors
/// When it cannot be read, or is no such tree.
pub(super) fn read(input: impl BufRead, main: &str, visitor: &mut dyn Visitor) -> Result<(), Error> {
    Reader { input, main, in_file: false, peeked: None }.tree(visitor)
}

/// What is open: a node, with whether the visitor knows of it, or a list of nodes.
enum Open {
    Node(Box<Node>, bool),
    List,
}

struct Reader<'m, R> {
    input: R,
    main: &'m str,
    /// Is the last place that was written one of the main file?
    in_file: bool,
    peeked: Option<u8>,
}

impl<R: BufRead> Reader<'_, R> {
    fn tree(&mut self, visitor: &mut dyn Visitor) -> Result<(), Error> {
        self.expect(b'{')?;
        let mut open = vec![Open::Node(Box::default(), false)];
        while let Some(top) = open.last_mut() {
            let byte = self.token()?;
            match (top, byte) {
                (_, b',') => {}
                (Open::List, b']') => {
                    open.pop();
                }
                (Open::List, b'{') => open.push(Open::Node(Box::default(), false)),
                (Open::List, b'[') => open.push(Open::List),
                (Open::List, byte) => self.skip(byte, 0)?,
                (Open::Node(node, entered), b'}') => {
                    if !*entered {
                        visitor.enter(node);
                    }
                    visitor.leave();
                    open.pop();
                }
                (Open::Node(node, entered), b'"') => {
                    let key = self.string()?;
                    self.expect(b':')?;
                    match self.token()? {
                        b'[' => {
                            if !*entered {
                                visitor.enter(node);
                                *entered = true;
                            }
                            open.push(Open::List);
                        }
                        byte => self.attribute(node, &key, byte)?,
                    }
                }
                _ => return Err(broken()),
            }
        }
        Ok(())
    }

    /// One attribute of a node, of which the first byte of the value is read.
    fn attribute(&mut self, node: &mut Node, key: &str, byte: u8) -> Result<(), Error> {
        match (key, byte) {
            ("kind", b'"') => node.kind = self.string()?,
            ("id", b'"') => node.id = self.string()?,
            ("name", b'"') => node.name = self.string()?,
            ("storageClass", b'"') => node.storage = self.string()?,
            ("tls", b'"') => {
                node.is_thread_local = true;
                self.string()?;
            }
            ("isImplicit", _) => node.is_implicit = self.is_true(byte)?,
            ("constexpr", _) => node.is_constexpr = self.is_true(byte)?,
            ("completeDefinition", _) => node.is_complete = self.is_true(byte)?,
            ("type", b'{') => node.ty = self.written_type()?,
            ("loc", b'{') => node.loc = self.place()?,
            ("range", b'{') => node.begin = self.range()?,
            ("referencedDecl", b'{') => node.referenced = Some(self.referenced()?),
            _ => self.skip(byte, 0)?,
        }
        Ok(())
    }

    /// Calls `each` with every key of an object whose brace is read, and the first byte of the value.
    fn object(&mut self, mut each: impl FnMut(&mut Self, &str, u8) -> Result<(), Error>) -> Result<(), Error> {
        loop {
            match self.token()? {
                b'}' => return Ok(()),
                b',' => {}
                b'"' => {
                    let key = self.string()?;
                    self.expect(b':')?;
                    let byte = self.token()?;
                    each(self, &key, byte)?;
                }
                _ => return Err(broken()),
            }
        }
    }

    fn written_type(&mut self) -> Result<WrittenType, Error> {
        let mut ty = WrittenType::default();
        self.object(|reader, key, byte| {
            match (key, byte) {
                ("qualType", b'"') => ty.written = reader.string()?,
                ("desugaredQualType", b'"') => ty.seen_through = Some(reader.string()?),
                _ => reader.skip(byte, 0)?,
            }
            Ok(())
        })?;
        Ok(ty)
    }

    fn referenced(&mut self) -> Result<Referenced, Error> {
        let mut found = Referenced::default();
        self.object(|reader, key, byte| {
            match (key, byte) {
                ("id", b'"') => found.id = reader.string()?,
                ("kind", b'"') => found.kind = reader.string()?,
                ("name", b'"') => found.name = reader.string()?,
                ("type", b'{') => found.ty = reader.written_type()?,
                _ => reader.skip(byte, 0)?,
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Where a range begins.
    fn range(&mut self) -> Result<Place, Error> {
        let mut begin = Place::default();
        self.object(|reader, key, byte| {
            match (key, byte) {
                ("begin", b'{') => begin = reader.place()?,
                // Its end is read too, because the next place may be written in terms of it.
                (_, b'{') => {
                    reader.place()?;
                }
                _ => reader.skip(byte, 0)?,
            }
            Ok(())
        })?;
        Ok(begin)
    }

    /// A place; of one in a macro, where the macro stands.
    fn place(&mut self) -> Result<Place, Error> {
        let mut place = Place::default();
        self.object(|reader, key, byte| {
            match (key, byte) {
                ("offset", _) => place.offset = reader.number(byte)?,
                ("tokLen", _) => place.length = reader.number(byte)?.unwrap_or_default(),
                ("file", b'"') => reader.in_file = reader.string()? == reader.main,
                ("spellingLoc", b'{') => {
                    reader.place()?;
                }
                ("expansionLoc", b'{') => place = Place { in_macro: true, ..reader.place()? },
                _ => reader.skip(byte, 0)?,
            }
            Ok(())
        })?;
        place.in_file = place.offset.is_some() && self.in_file;
        Ok(place)
    }

    fn is_true(&mut self, byte: u8) -> Result<bool, Error> {
        self.skip(byte, 0)?;
        Ok(byte == b't')
    }

    fn number(&mut self, first: u8) -> Result<Option<usize>, Error> {
        let mut text = String::from(char::from(first));
        while let Some(byte) = self.peek()?.filter(|byte| !is_end(*byte)) {
            text.push(char::from(byte));
            self.next()?;
        }
        Ok(text.parse().ok())
    }

    /// Passes over a value of which the first byte is read.
    fn skip(&mut self, byte: u8, depth: usize) -> Result<(), Error> {
        match byte {
            b'"' => self.string().map(|_| ()),
            b'{' | b'[' if depth >= DEEPEST_VALUE => Err(broken()),
            b'{' => self.object(|reader, _, byte| reader.skip(byte, depth + 1)),
            b'[' => loop {
                match self.token()? {
                    b']' => return Ok(()),
                    b',' => {}
                    byte => self.skip(byte, depth + 1)?,
                }
            },
            _ => self.number(byte).map(|_| ()),
        }
    }

    /// A string whose first quote is read.
    fn string(&mut self) -> Result<String, Error> {
        let mut bytes = Vec::new();
        loop {
            match self.next()? {
                b'"' => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
                // What is escaped matters nowhere but in the names of files, which are compared as they are.
                b'\\' => match self.next()? {
                    b'u' => bytes.push(b'?'),
                    byte => bytes.push(byte),
                },
                byte => bytes.push(byte),
            }
        }
    }

    fn expect(&mut self, wanted: u8) -> Result<(), Error> {
        if self.token()? == wanted { Ok(()) } else { Err(broken()) }
    }

    /// The next byte that is no blank.
    fn token(&mut self) -> Result<u8, Error> {
        loop {
            let byte = self.next()?;
            if !byte.is_ascii_whitespace() {
                return Ok(byte);
            }
        }
    }

    fn next(&mut self) -> Result<u8, Error> {
        if let Some(byte) = self.peeked.take() {
            return Ok(byte);
        }
        let byte = self.input.fill_buf()?.first().copied().ok_or_else(broken)?;
        self.input.consume(1);
        Ok(byte)
    }

    fn peek(&mut self) -> Result<Option<u8>, Error> {
        if self.peeked.is_none() {
            self.peeked = Some(self.next()?);
        }
        Ok(self.peeked)
    }
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b',' | b'}' | b']') || byte.is_ascii_whitespace()
}

fn broken() -> Error {
    Error::new(ErrorKind::InvalidData, "clang's syntax tree could not be read")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Names(Vec<(String, bool)>, usize);

    impl Visitor for Names {
        fn enter(&mut self, node: &Node) {
            self.1 += 1;
            if !node.name.is_empty() {
                self.0.push((format!("{} {}", node.name, node.ty.written), node.loc.in_file));
            }
        }

        fn leave(&mut self) {
            self.1 -= 1;
        }
    }

    #[test]
    fn the_file_of_a_place_is_that_of_the_place_before() {
        let text = r#"{"id": "0x1", "kind": "TranslationUnitDecl", "loc": {}, "range": {"begin": {}, "end": {}}, "inner": [
            {"kind": "VarDecl", "loc": {"offset": 3, "file": "h.h", "line": 1, "col": 4, "tokLen": 1,
             "includedFrom": {"file": "main"}}, "range": {"begin": {"offset": 0, "col": 1, "tokLen": 3}, "end": {}},
             "name": "a", "type": {"qualType": "int"}},
            {"kind": "VarDecl", "loc": {"offset": 9, "file": "main", "line": 2}, "name": "b", "type": {"qualType": "int"},
             "inner": [{}, {"kind": "IntegerLiteral", "value": "\"1\""}]},
            {"kind": "VarDecl", "loc": {"spellingLoc": {"offset": 1, "file": "h.h"}, "expansionLoc": {"offset": 20,
             "file": "main", "isMacroArgExpansion": true}}, "name": "c", "type": {"qualType": "long"}}]}"#;
        let mut names = Names::default();
        assert!(read(text.as_bytes(), "main", &mut names).is_ok());
        let wanted = [("a int", false), ("b int", true), ("c long", true)];
        assert_eq!(names.0, wanted.map(|(name, place)| (name.to_owned(), place)));
        assert_eq!(names.1, 0);
    }

    #[test]
    fn a_tree_that_ends_early_is_an_error() {
        for text in ["", "{", "{\"inner\": [", "{\"kind\": \"x", "[]", "{\"a\": {{}}}"] {
            assert!(read(text.as_bytes(), "main", &mut Names::default()).is_err(), "{text}");
        }
    }
}
