//! Whether the values in memory of a function's own matter: does it hold any before a place, and does anybody read them behind it?

use crate::semantics::effects::Named;
use crate::semantics::symbols::DeclaredType;
use crate::semantics::uses::{Role, Use};
use crate::semantics::{Origin, Program};
use crate::source::{Language, Span, words};
use crate::syntax::{Call, Field, NodeId, NodeKind};

/// How many calls deep an allocation is looked for.
const DEPTH: usize = 2;

/// Functions and keywords that lead back to an earlier place in the text.
const BACK: [&str; 8] =
    ["goto", "setjmp", "_setjmp", "sigsetjmp", "__sigsetjmp", "__builtin_setjmp", "savectx", "getcontext"];

/// What makes a loop of the statement behind a macro.
const LOOPS: [&str; 2] = ["for", "while"];

impl Program<'_> {
    /// Has nobody given elements of the function's own memory values before `place`, which runs once while it lives?
    pub(crate) fn is_unset_before(&self, named: &Named, place: Span) -> bool {
        let uses = self.uses_of(named);
        let is_new = || match self.owner(named).origin {
            Origin::AutomaticArray => self.is_bare(named),
            _ => self.is_allocated_without_values(&uses, 0),
        };
        self.runs_once_in_life_of(named, place)
            && !self.matters_between(named, &uses, Span::new(named.id.declared_at.end, place.start))
            && is_new()
    }

    /// Does nobody read the function's own memory behind `place`, which runs once while it lives?
    pub(crate) fn is_unread_behind(&self, named: &Named, place: Span) -> bool {
        let Some(function) = self.function_of(place) else { return false };
        let uses = self.uses_of(named);
        self.runs_once_in_life_of(named, place)
            && !self.matters_between(named, &uses, Span::new(place.end, self.tree.span(function).end))
    }

    /// Does nobody read what a variable leads to in a part of the function, by its name?
    pub(crate) fn is_unread_in(&self, named: &Named, part: Span) -> bool {
        !self.matters_between(named, &self.uses_of(named), part)
    }

    /// May a call that stands at a place come back at an earlier one of its function, as `longjmp` does?
    pub(crate) fn may_resume_earlier(&self, place: Span) -> bool {
        let Some(function) = self.function_of(place) else { return true };
        let span = self.tree.span(function);
        let resumes = |text: &str| words(text).any(|word| word != "goto" && BACK.contains(&word));
        resumes(&self.file.show(span)) || self.uses_macro_with(span, &resumes)
    }

    /// Is it memory that nobody else knows, and does the text behind the place run after it and the text before it earlier? No loop may
    /// come back to the place while the memory lives.
    fn runs_once_in_life_of(&self, named: &Named, place: Span) -> bool {
        let tree = self.tree;
        let owner = self.owner(named);
        let is_plain_memory = || match owner.origin {
            Origin::Allocation => true,
            // Objects of classes are made and destroyed with it.
            Origin::AutomaticArray => tree.language() == Language::C || self.is_array_of_numbers(named),
            _ => false,
        };
        let is_own = !owner.is_shared && is_plain_memory();
        let Some(function) = self.function_of(place).filter(|_| is_own && named.id.header.is_none()) else {
            return false;
        };
        let declared = tree.covering(named.id.declared_at);
        let mut above = tree.ancestors(declared);
        let block = above.find(|node| tree.kind(*node) == NodeKind::Declaration).and_then(|node| tree.parent(node));
        let Some(block) = block.filter(|block| tree.kind(*block) == NodeKind::CompoundStatement) else { return false };
        let is_plain = |node: NodeId| {
            matches!(
                tree.kind(node),
                NodeKind::CompoundStatement | NodeKind::IfStatement | NodeKind::ElseClause | NodeKind::TryStatement
            )
        };
        let covering = tree.covering(place);
        let around = std::iter::once(covering).chain(tree.ancestors(covering)).take_while(|node| *node != block);
        let mut around = around.filter(|node| tree.span(*node) != place);
        let is_by_threads = self.constructs.ids().any(|id| {
            self.constructs.construct(id).body_span.contains(place) && !self.constructs.directive(id).is("target data")
        });
        // The text of a lambda or of a function within the function runs when it is called.
        let is_in_order = |used: &&Use| {
            let mut above = tree.ancestors(used.node).take_while(|node| *node != block);
            above.all(|node| !matches!(tree.kind(node), NodeKind::LambdaExpression | NodeKind::FunctionDefinition))
        };
        tree.span(block).contains(place)
            && self.uses_of(named).iter().all(is_in_order)
            && around.all(is_plain)
            && !is_by_threads
            && !self.may_lead_back(function)
    }

    /// May a jump, or a loop that a macro makes, lead back to an earlier place of a function? What a macro out of sight stands before is
    /// no statement as it is written.
    fn may_lead_back(&self, function: NodeId) -> bool {
        let span = self.tree.span(function);
        let is_label = |node: NodeId| self.tree.kind(node) == NodeKind::LabeledStatement;
        let leads_back = |body: &str| {
            // `do { .. } while (0)` makes one statement of several.
            let squeezed: String = body.split_whitespace().collect();
            let is_once = squeezed.starts_with("do{") && squeezed.ends_with("while(0)");
            words(body).any(|word| BACK.contains(&word) || LOOPS.contains(&word) && !is_once)
        };
        self.tree.problem_in(span).is_some()
            || words(&self.file.show(span)).any(|word| BACK.contains(&word))
            || self.tree.descendants(function).any(is_label)
            || self.uses_macro_with(span, &leads_back)
    }

    /// May code or directives in a part of the function read or write elements?
    fn matters_between(&self, named: &Named, uses: &[&Use], part: Span) -> bool {
        let is_in_part = |span: Span| part.start < part.end && part.contains(span);
        let mut directives = self.constructs.directives.iter().filter(|directive| is_in_part(directive.span));
        directives.any(|directive| words(&self.file.show(directive.span)).any(|word| word == named.name))
            || uses.iter().filter(|used| is_in_part(used.span)).any(|used| !self.leaves_elements_alone(used))
            || self.is_hidden_in(&named.name, part)
    }

    /// Is only the address used, to compare, to give the memory back, or to assign another one?
    fn leaves_elements_alone(&self, used: &Use) -> bool {
        let tree = self.tree;
        let parent = tree.parent(used.node).map(|parent| (parent, tree.kind(parent)));
        match (used.role, parent) {
            (Role::Write | Role::Declaration, _) => true,
            (Role::Address, _) => self.symbols().call_that_allocates_for(used.node).is_some(),
            (Role::Argument, Some((list, NodeKind::ArgumentList))) => self.gives_back(list),
            (Role::Read, Some((_, NodeKind::DeleteExpression | NodeKind::ConditionClause))) => true,
            (Role::Read, Some((parent, NodeKind::BinaryExpression))) => self.is_comparison(parent),
            (Role::Read, Some((parent, NodeKind::ParenthesizedExpression))) if self.is_condition(parent) => true,
            (Role::Read, Some((parent, NodeKind::UnaryExpression))) => {
                tree.operator(parent) == Some(NodeKind::Exclamation)
            }
            _ => self.is_only_measured(used),
        }
    }

    /// `free(name)`.
    fn gives_back(&self, list: NodeId) -> bool {
        let tree = self.tree;
        let Some(function) = tree.parent(list).and_then(|call| Call::of(tree, call)).and_then(|call| call.function())
        else {
            return false;
        };
        let name = self.file.show(tree.span(function)).into_owned();
        let at = tree.span(function).start;
        matches!(name.as_str(), "free" | "std::free" | "_mm_free")
            && self.symbols().macro_definition(&name, at).is_none()
            && self.symbols().calls_library_in(None, &name, at)
    }

    /// `sizeof *name`, `sizeof(name[0])`: nothing is evaluated but a length of variable arrays, which no element stands for here.
    fn is_only_measured(&self, used: &Use) -> bool {
        let tree = self.tree;
        let mut node = used.node;
        while let Some(parent) = tree.parent(node) {
            match tree.kind(parent) {
                NodeKind::SizeofExpression => return true,
                NodeKind::ParenthesizedExpression => {}
                NodeKind::PointerExpression if tree.operator(parent) == Some(NodeKind::Star) => {}
                NodeKind::SubscriptExpression if tree.child(parent, Field::Argument) == Some(node) => {}
                _ => return false,
            }
            node = parent;
        }
        false
    }

    /// Is an array of numbers declared without values?
    fn is_bare(&self, named: &Named) -> bool {
        let tree = self.tree;
        let mut above = tree.ancestors(tree.covering(named.id.declared_at));
        let declaration = above.find(|node| tree.kind(*node) != NodeKind::ArrayDeclarator);
        self.is_array_of_numbers(named) && declaration.is_some_and(|node| tree.kind(node) == NodeKind::Declaration)
    }

    fn is_array_of_numbers(&self, named: &Named) -> bool {
        let Some((_, variable)) = self.named(&named.name, named.at) else { return false };
        let mut ty = variable.ty.clone();
        while matches!(ty, DeclaredType::Array { .. }) {
            ty = ty.dereferenced();
        }
        ty.is_scalar()
    }

    /// Does a pointer get nothing but memory without values, or null?
    fn is_allocated_without_values(&self, uses: &[&Use], depth: usize) -> bool {
        uses.iter().filter_map(|used| self.given(used)).all(|value| {
            value.is_some_and(|value| self.is_null(value) || self.is_allocation_without_values(value, depth))
        })
    }

    /// `malloc(..)`, `new double[n]`, or a function in sight that gives back such memory as it is.
    fn is_allocation_without_values(&self, value: NodeId, depth: usize) -> bool {
        let tree = self.tree;
        let Some(node) = self.without_casts(value) else { return false };
        if tree.kind(node) == NodeKind::NewExpression {
            // Members of a structure may have initializers of their own.
            let is_number = tree.child(node, Field::Type).is_some_and(|ty| self.is_builtin_type(tree.span(ty)));
            return is_number && tree.child(node, Field::Arguments).is_none();
        }
        let Some(function) = Call::of(tree, node).and_then(|call| call.function()) else { return false };
        let name = self.file.show(tree.span(function)).into_owned();
        match self.symbols().function_definitions(&name).as_slice() {
            [] => matches!(
                name.strip_prefix("std::").unwrap_or(&name),
                "malloc" | "aligned_alloc" | "posix_memalign" | "_mm_malloc"
            ),
            [(None, definition)] if depth < DEPTH => self.gives_back_without_values(*definition, depth + 1),
            _ => false,
        }
    }

    /// Does a function that allocates what it gives back leave it as it is?
    fn gives_back_without_values(&self, definition: NodeId, depth: usize) -> bool {
        let tree = self.tree;
        let returned = |node: NodeId| {
            let Some(value) = tree.named_children(node).next() else { return false };
            if tree.kind(value) != NodeKind::Identifier {
                return self.is_allocation_without_values(value, depth);
            }
            let span = tree.span(value);
            let Some((named, _)) = self.named(&self.file.show(span), span.start) else { return false };
            let uses = self.uses_of(&named);
            let is_given_back =
                |used: &Use| tree.parent(used.node).is_some_and(|it| tree.kind(it) == NodeKind::ReturnStatement);
            uses.iter().all(|used| is_given_back(used) || self.leaves_elements_alone(used))
                && self.is_allocated_without_values(&uses, depth)
                && !self.is_hidden_in(&named.name, tree.span(definition))
        };
        let mut returns = tree.descendants(definition).filter(|node| tree.kind(*node) == NodeKind::ReturnStatement);
        returns.all(returned)
    }
}
