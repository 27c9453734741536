//! The nodes of clang's syntax tree, from the JSON that it writes.
//!
//! The tree of a file with standard headers is hundreds of megabytes long, so it is read as a stream: only the nodes
//! around the current one are kept. clang omits the file of a place if the place before it has the same one, so the
//! places must be read in the order in which they are written.

use std::fmt;
use std::io::{BufRead, Error, ErrorKind};

use serde::de::{self, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Serialize};

/// A place in the text that is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The byte. `None` if clang gives no place.
    pub offset: Option<usize>,
    /// The length of the token there.
    pub length: usize,
    /// Is it in the main file?
    pub in_file: bool,
    /// Does it come from a macro?
    pub in_macro: bool,
}

/// A type as written, and with its outermost typedef resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct WrittenType {
    #[serde(rename = "qualType")]
    pub written: String,
    #[serde(rename = "desugaredQualType")]
    pub seen_through: Option<String>,
}

/// What a node refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Referenced {
    pub id: String,
    pub kind: String,
    pub name: String,
    #[serde(rename = "type")]
    pub ty: WrittenType,
}

/// A node without its children.
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

/// Called for each node, before and after its children.
pub(super) trait Visitor {
    fn enter(&mut self, node: &Node);
    fn leave(&mut self);
}

/// How deep nodes may be nested: a sum of some thousand terms is a tree of that depth.
const DEEPEST: usize = 10_000;
/// The bytes of a stack for trees of this depth, with room to spare. Unused pages take no memory.
const STACK: usize = 1 << 28;

/// Reads a tree; `main` is the name that clang gives the main file.
///
/// # Errors
/// When it cannot be read, or is no syntax tree.
pub(super) fn read(input: impl BufRead + Send, main: &str, visitor: &mut (dyn Visitor + Send)) -> Result<(), Error> {
    let parse = || {
        let mut json = serde_json::Deserializer::from_reader(input);
        json.disable_recursion_limit();
        let mut reader = Reader { main, in_file: false, depth: 0, visitor };
        json.deserialize_map(NodeOf(&mut reader)).map_err(Error::from)
    };
    // Children are read recursively: the usual stack is too small for deep trees.
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, parse)?;
        thread.join().map_err(|_| Error::new(ErrorKind::InvalidData, "clang's syntax tree could not be read"))?
    })
}

struct Reader<'a> {
    main: &'a str,
    /// Was the last place that was read in the main file?
    in_file: bool,
    depth: usize,
    visitor: &'a mut (dyn Visitor + Send),
}

/// A place as it is written; one in a macro has two.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WrittenPlace {
    offset: Option<usize>,
    tok_len: usize,
    file: Option<String>,
    spelling_loc: Option<Box<WrittenPlace>>,
    expansion_loc: Option<Box<WrittenPlace>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WrittenRange {
    begin: WrittenPlace,
    end: WrittenPlace,
}

impl Reader<'_> {
    /// Reads a place. For a place in a macro, that of the use of the macro.
    fn place(&mut self, written: &WrittenPlace) -> Place {
        if let Some(spelling) = &written.spelling_loc {
            self.place(spelling);
        }
        if let Some(expansion) = &written.expansion_loc {
            return Place { in_macro: true, ..self.place(expansion) };
        }
        if let Some(file) = &written.file {
            self.in_file = file == self.main;
        }
        let in_file = written.offset.is_some() && self.in_file;
        Place { offset: written.offset, length: written.tok_len, in_file, in_macro: false }
    }

    /// Reads the start of a range. Its end is read too, because the next place may omit the file that the end names.
    fn begin(&mut self, range: &WrittenRange) -> Place {
        let begin = self.place(&range.begin);
        self.place(&range.end);
        begin
    }
}

/// Reads a node and its children.
struct NodeOf<'r, 'a>(&'r mut Reader<'a>);

impl<'de> de::Visitor<'de> for NodeOf<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node of clang's syntax tree")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<(), M::Error> {
        let reader = self.0;
        reader.depth += 1;
        if reader.depth > DEEPEST {
            return Err(M::Error::custom("its nodes are nested too deep"));
        }
        let mut node = Node::default();
        let mut entered = false;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "kind" => node.kind = map.next_value()?,
                "id" => node.id = map.next_value()?,
                "name" => node.name = map.next_value()?,
                "storageClass" => node.storage = map.next_value()?,
                "tls" => node.is_thread_local = map.next_value::<IgnoredAny>().map(|_| true)?,
                "isImplicit" => node.is_implicit = map.next_value()?,
                "constexpr" => node.is_constexpr = map.next_value()?,
                "completeDefinition" => node.is_complete = map.next_value()?,
                "type" => node.ty = map.next_value()?,
                "loc" => node.loc = reader.place(&map.next_value()?),
                "range" => node.begin = reader.begin(&map.next_value()?),
                "referencedDecl" => node.referenced = map.next_value()?,
                _ => map.next_value_seed(Other { reader, around: Some((&node, &mut entered)) })?,
            }
        }
        if !entered {
            reader.visitor.enter(&node);
        }
        reader.visitor.leave();
        reader.depth -= 1;
        Ok(())
    }
}

/// Reads any other value: an attribute of the node around it, in which a list may hold the children of that node.
struct Other<'r, 'a> {
    reader: &'r mut Reader<'a>,
    /// The node around it, and whether the visitor has been told of that node.
    around: Option<(&'r Node, &'r mut bool)>,
}

impl<'de> DeserializeSeed<'de> for Other<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> de::Visitor<'de> for Other<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of clang's syntax tree")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<(), M::Error> {
        match self.around {
            Some(_) => IgnoredAny.visit_map(map).map(|_| ()),
            None => NodeOf(self.reader).visit_map(map),
        }
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<(), S::Error> {
        let Some((node, entered)) = self.around else { return IgnoredAny.visit_seq(list).map(|_| ()) };
        if !*entered {
            self.reader.visitor.enter(node);
            *entered = true;
        }
        while list.next_element_seed(Other { reader: self.reader, around: None })?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
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

    fn nested(depth: usize) -> String {
        [r#"{"inner":["#.repeat(depth - 1), "{}".to_owned(), "]}".repeat(depth - 1)].concat()
    }

    #[test]
    fn deep_trees_are_read_and_deeper_ones_are_an_error() {
        assert!(read(nested(DEEPEST).as_bytes(), "main", &mut Names::default()).is_ok());
        assert!(read(nested(DEEPEST + 1).as_bytes(), "main", &mut Names::default()).is_err());
        let list = [r#"{"a":"#, &"[".repeat(10 * DEEPEST), &"]".repeat(10 * DEEPEST), "}"].concat();
        assert!(read(list.as_bytes(), "main", &mut Names::default()).is_ok());
    }

    #[test]
    fn a_tree_that_ends_early_is_an_error() {
        for text in ["", "{", "{\"inner\": [", "{\"kind\": \"x", "[]", "{\"a\": {{}}}"] {
            assert!(read(text.as_bytes(), "main", &mut Names::default()).is_err(), "{text}");
        }
    }
}
