//! Which conditions of control flow a kernel can evaluate.

use super::{Finder, Run};
use crate::semantics::uses::uses_below;
use crate::syntax::{Control, NodeId, NodeKind};

/// A condition that a kernel evaluates, so that the host can execute the control flow.
#[derive(Clone, Debug)]
pub(crate) struct Steering {
    /// The `if`, `while`, `do` or `for`.
    pub flow: NodeId,
    /// The new variable that holds its result.
    pub result: String,
}

impl Finder<'_, '_> {
    /// The condition of control flow becomes a kernel of its own.
    pub(super) fn condition(&mut self, flow: NodeId) {
        let tree = self.names.tree;
        let condition = Control::at(tree, flow).condition().and_then(|condition| match tree.kind(condition) {
            NodeKind::ParenthesizedExpression | NodeKind::ConditionClause => {
                let mut inside = tree.named_children(condition);
                inside.next().filter(|_| inside.next().is_none())
            }
            _ => Some(condition),
        });
        let plain = |node: &NodeId| {
            let text = self.names.file.show(tree.span(*node));
            !tree.kind(*node).is_declaration() && !text.contains("//") && !text.contains("/*")
        };
        let in_block = |node| tree.parent(node).is_some_and(|parent| tree.kind(parent) == NodeKind::CompoundStatement);
        let is_do = tree.kind(flow) == NodeKind::DoStatement;
        match condition.filter(plain) {
            Some(node) if !is_do || (in_block(flow) && !self.is_continued(flow) && self.means_the_same(node, flow)) => {
                let steering = Some(Steering { flow, result: self.names.fresh("condition_holds") });
                let span = tree.span(node);
                self.conditions.push(Run { nodes: vec![node], span, hoisted: Vec::new(), steering, team: None });
            }
            _ => self.reasons.extend(self.on_device.get(&flow).into_iter().flatten().cloned()),
        }
    }

    /// Do the names in a condition mean the same at the end of the loop's body as behind it?
    fn means_the_same(&self, condition: NodeId, flow: NodeId) -> bool {
        let (tree, file) = (self.names.tree, self.names.file);
        let end = Control::at(tree, flow).body().map_or(0, |body| tree.span(body).end.saturating_sub(1));
        let same = |name: &str, at: usize| self.names.declared_at(name, end) == self.names.declared_at(name, at);
        uses_below(file, tree, condition).iter().all(|used| {
            let at = used.span.start;
            let hidden = self.names.expansion(&used.name, at).flatten().unwrap_or_default();
            same(&used.name, at) && hidden.iter().all(|name| same(name, at))
        })
    }

    /// Does a `continue` lead to the condition of the loop?
    fn is_continued(&self, flow: NodeId) -> bool {
        let tree = self.names.tree;
        let loops = [NodeKind::ForStatement, NodeKind::WhileStatement, NodeKind::DoStatement, NodeKind::ForRangeLoop];
        let mut jumps = tree.descendants(flow).filter(|node| tree.kind(*node) == NodeKind::ContinueStatement);
        jumps.any(|jump| tree.ancestors(jump).find(|above| loops.contains(&tree.kind(*above))) == Some(flow))
    }
}
