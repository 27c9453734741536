//! What the body of a construct does on the device with what the construct maps.

use crate::context::Context;
use crate::semantics::effects::{HostEffects, Named, Storage, Touch};
use crate::semantics::symbols::VariableId;
use crate::semantics::uses::uses_below;
use crate::source::Span;
use crate::transforms::hoist_maps::constructs::Mapping;
use crate::transforms::hoist_maps::items::Item;

impl Mapping {
    /// May its body change what the variable leads to?
    pub(super) fn writes(&self, cx: &Context<'_>, named: &Named) -> bool {
        self.change(cx, named).is_some()
    }

    /// Where its body, or that of a construct inside of a `target data` among these, may change what the variable leads to, and what is done
    /// there. A construct that maps nothing may change what is present.
    pub(super) fn change_among(&self, cx: &Context<'_>, all: &[&Self], named: &Named) -> Option<(Span, String)> {
        // What one call runs stands at one place.
        let mut inside = all.iter().filter(|other| self.is_data && self.extent.contains(other.extent));
        self.change(cx, named).or_else(|| inside.find_map(|other| other.change_in(cx, named, Some(self))))
    }

    fn change(&self, cx: &Context<'_>, named: &Named) -> Option<(Span, String)> {
        self.change_in(cx, named, None)
    }

    /// Where its body may change what the variable leads to, and what is done there; with the `target data` that it stands in, whose list items
    /// are apart as well.
    fn change_in(&self, cx: &Context<'_>, named: &Named, around: Option<&Self>) -> Option<(Span, String)> {
        if self.is_data || self.only_read.contains(&named.id) {
            return None;
        }
        // A called function reaches a member by its object: what its body does is told there.
        if let Some(call) = self.called.filter(|_| self.item(named.id).is_some() && cx.is_added(named.id)) {
            return Some((call, "the called function may change".to_owned()));
        }
        let written = || {
            let touch = self.touches_of(cx, named, around).find(|touch| touch.writes)?;
            Some((touch.span, "this may change".to_owned()))
        };
        match self.inside(cx).unknown.first() {
            Some(unknown) if !self.only_reads(cx, named) => {
                Some((unknown.span, format!("{}: it may change", unknown.message)))
            }
            Some(_) => None,
            None => written(),
        }
    }

    /// Whatever else the body does: does it only read the elements of a list item? Code on the device reaches its copy by the name alone,
    /// where that is one of the function's, and by names that may lead to the same storage.
    fn only_reads(&self, cx: &Context<'_>, named: &Named) -> bool {
        // A member is reached by its object too.
        let is_of_function = cx.is_of_function(&named.name, named.at) && !cx.is_added(named.id);
        if !is_of_function || !self.leads_to_own_item(cx, named.id) || !cx.reads_only_elements(self.body, named) {
            return false;
        }
        let owner = cx.owner(named);
        let body = cx.tree.span(self.body);
        uses_below(cx.file, cx.tree, self.body).iter().all(|used| {
            let Some((other, variable)) = cx.named(&used.name, used.span.end) else { return true };
            let is_inside = variable.id().is_within(body);
            let is_apart = || {
                let storage = match variable.ty.is_pointer() {
                    true => Storage::Behind(other.clone()),
                    false => Storage::Variable(other.clone()),
                };
                cx.is_apart(&storage, named, owner)
            };
            is_inside
                || variable.ty.is_scalar()
                || other.id == named.id
                || self.leads_to_own_item(cx, other.id)
                || is_apart()
                || cx.reads_only_elements(self.body, &other)
        })
    }

    /// Does its body reach what the variable leads to at these places alone?
    pub(super) fn reaches_only_at(&self, cx: &Context<'_>, named: &Named, places: &[Span]) -> bool {
        let is_one = |touch: &Touch| places.iter().any(|place| place.contains(touch.span));
        self.inside(cx).unknown.is_empty() && self.touches_of(cx, named, None).all(is_one)
    }

    /// Does the name lead, in all of the body, to what a clause lists by it? List items of one construct share no storage (OpenMP 5.2,
    /// section 5.8.3), but a pointer that the body changes may lead to another's.
    pub(super) fn leads_to_own_item(&self, cx: &Context<'_>, id: VariableId) -> bool {
        let known = self.own_items.borrow().get(&id).copied();
        known.unwrap_or_else(|| {
            let leads = self.is_own_item_throughout(cx, id);
            self.own_items.borrow_mut().insert(id, leads);
            leads
        })
    }

    fn is_own_item_throughout(&self, cx: &Context<'_>, id: VariableId) -> bool {
        let Some(item) = self.item(id).filter(|item| item.is_explicit) else { return false };
        let (name, at) = (&item.named.name, item.named.at);
        cx.named(name, at).is_some_and(|(_, variable)| !variable.ty.is_pointer())
            || self.inside(cx).writes_variable(id).is_none()
                && (!cx.symbols().is_address_taken(name, at)
                    || cx.is_handed_by_value_alone(&item.named)
                    || self.keeps_own_pointer(cx, item))
    }

    /// Does nothing in a kernel take the address of the pointer? The kernel has a copy of its own (OpenMP 5.2, section 5.1.1), which
    /// whoever has the address of the host's does not reach.
    fn keeps_own_pointer(&self, cx: &Context<'_>, item: &Item) -> bool {
        let body = cx.tree.span(self.body);
        let is_outside = |span: Span| !body.contains(span);
        !self.is_data && !cx.symbols().may_be_reached_elsewhere(&item.named.name, item.named.at, &is_outside)
    }

    /// Does its body leave a structure as it is, which it reaches by its name alone?
    pub(super) fn leaves_object(&self, cx: &Context<'_>, named: &Named) -> bool {
        let inside = self.inside(cx);
        inside.unknown.is_empty()
            && inside.writes_variable(named.id).is_none()
            && !cx.symbols().is_address_taken(&named.name, named.at)
    }

    fn inside(&self, cx: &Context<'_>) -> &HostEffects {
        self.inside.get_or_init(|| cx.host_effects(self.body, &[]))
    }

    /// The accesses in its body that may be of what the variable leads to.
    fn touches_of<'s>(
        &'s self,
        cx: &'s Context<'_>,
        named: &'s Named,
        around: Option<&'s Self>,
    ) -> impl Iterator<Item = &'s Touch> {
        let owner = cx.owner(named);
        let are_items = move |mapping: &Self, other: &Named| {
            mapping.leads_to_own_item(cx, other.id) && mapping.leads_to_own_item(cx, named.id)
        };
        let is_other_item = move |storage: &Storage| match storage {
            Storage::Variable(other) | Storage::Behind(other) => {
                other.id != named.id && (are_items(self, other) || around.is_some_and(|data| are_items(data, other)))
            }
            Storage::Memory => false,
        };
        let touches = self.inside(cx).touches.iter();
        touches.filter(move |touch| !is_other_item(&touch.storage) && !cx.is_apart(&touch.storage, named, owner))
    }
}
