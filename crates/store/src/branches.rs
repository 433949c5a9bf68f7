//! The turns of a chat as the tree they are: saying something else in the
//! place of an earlier message begins a branch, and the old one stays.

use std::collections::HashMap;

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use tenon_domain::{ChatId, TurnId};

use crate::entity::{chats, turns};
use crate::{Error, Result, Store};

/// Every turn of a chat in its place, and which branch is on show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Branches {
    /// In the order they began.
    turns: Vec<TurnNode>,
    head: Option<TurnId>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnNode {
    pub id: TurnId,
    /// The turn before it. None: it begins the chat.
    pub parent: Option<TurnId>,
}

impl Store {
    pub async fn branches(&self, chat: &ChatId) -> Result<Branches> {
        let head: Option<Option<String>> = chats::Entity::find_by_id(&chat.0)
            .filter(chats::Column::DeletedAt.is_null())
            .select_only()
            .column(chats::Column::Head)
            .into_tuple()
            .one(&self.read)
            .await?;
        let head = head.ok_or(Error::NotFound("chat"))?;
        let places: Vec<(String, Option<String>)> = turns::Entity::find()
            .filter(turns::Column::ChatId.eq(&chat.0))
            .order_by_asc(turns::Column::StartedAt)
            .order_by_asc(turns::Column::Id)
            .select_only()
            .columns([turns::Column::Id, turns::Column::ParentId])
            .into_tuple()
            .all(&self.read)
            .await?;
        let turns = places.into_iter().map(|(id, parent)| TurnNode {
            id: TurnId(id),
            parent: parent.map(TurnId),
        });
        Ok(Branches {
            turns: turns.collect(),
            head: head.map(TurnId),
        })
    }
}

impl Branches {
    pub fn new(turns: Vec<TurnNode>, head: Option<TurnId>) -> Self {
        Self { turns, head }
    }

    pub fn head(&self) -> Option<&TurnId> {
        self.head.as_ref()
    }

    pub fn place(&self, turn: &TurnId) -> Option<&TurnNode> {
        self.turns.iter().find(|place| place.id == *turn)
    }

    /// The turns of the branch on show, from the first to the last.
    pub fn shown(&self) -> Vec<TurnId> {
        self.path(self.head.as_ref())
    }

    /// The turns that lead to this one, itself included.
    pub fn path(&self, last: Option<&TurnId>) -> Vec<TurnId> {
        let parents: HashMap<&TurnId, Option<&TurnId>> = self
            .turns
            .iter()
            .map(|place| (&place.id, place.parent.as_ref()))
            .collect();
        let mut path = Vec::new();
        let mut next = last;
        // A tree has no way back up; a damaged one must not hang us.
        while let Some(turn) = next
            && path.len() < self.turns.len()
        {
            path.push(turn.clone());
            next = parents.get(turn).copied().flatten();
        }
        path.reverse();
        path
    }

    /// The end of the branch that goes on from this turn: always by the newest turn.
    pub fn newest_leaf(&self, turn: &TurnId) -> TurnId {
        // Turns are in the order they began, so the newest child of each is what remains.
        let newest_child: HashMap<&TurnId, &TurnId> = self
            .turns
            .iter()
            .filter_map(|place| Some((place.parent.as_ref()?, &place.id)))
            .collect();
        let mut leaf = turn;
        // A tree has no way back up; a damaged one must not hang us.
        for _ in &self.turns {
            match newest_child.get(leaf) {
                Some(child) => leaf = child,
                None => break,
            }
        }
        leaf.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "b<a" is the turn b after the turn a.
    fn branches(turns: &str, head: &str) -> Branches {
        let turn = |name: &str| TurnId::new(name);
        let place = |text: &str| match text.split_once('<') {
            Some((id, parent)) => TurnNode {
                id: turn(id),
                parent: Some(turn(parent)),
            },
            None => TurnNode {
                id: turn(text),
                parent: None,
            },
        };
        let turns = turns.split_whitespace().map(place).collect();
        Branches::new(turns, Some(turn(head)))
    }

    #[test]
    fn the_branch_on_show_leads_to_its_head() {
        let check = |turns: &str, head: &str, expected: &str| {
            let shown = branches(turns, head).shown();
            let shown: Vec<&str> = shown.iter().map(TurnId::as_str).collect();
            assert_eq!(shown.join(" "), expected, "{turns}");
        };
        check("a b<a c<b", "c", "a b c");
        check("a b<a c<b d<a", "d", "a d");
        check("a b<a c<b d<a", "c", "a b c");
        check("a z", "z", "z");
        // Damaged: it goes round in a circle.
        check("a<b b<a", "b", "a b");
    }

    #[test]
    fn a_branch_goes_on_by_its_newest_turn() {
        let check = |turns: &str, from: &str, expected: &str| {
            let leaf = branches(turns, from).newest_leaf(&TurnId::new(from));
            assert_eq!(leaf.as_str(), expected, "{turns} {from}");
        };
        check("a", "a", "a");
        check("a b<a c<b", "a", "c");
        check("a b<a c<b d<a", "a", "d");
        check("a b<a c<b d<a e<d f<b", "a", "e");
        check("a b<a c<b d<a e<d f<b", "b", "f");
        // Begun in one millisecond, they are in no order.
        check("c<b b<a a", "a", "c");
        // Damaged: it goes round in a circle.
        check("a<b b<a", "a", "a");
    }
}
