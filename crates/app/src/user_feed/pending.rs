//! Changes that wait to be published, coalesced: of each chat, source and topic the last one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tenon_domain::{ChatId, SourceId, SourceState, UserId};

use super::UserTopic;
use super::inputs::FeedChange;
use crate::sources::{AddressedUpdate, SourceUpdate};

/// How many may wait; where there are more, subscribers read everything again.
const MAX_PENDING: usize = 512;

/// A source, as this user sees it; None: as everybody does.
type SourceKey = (Option<UserId>, SourceId);

#[derive(Debug, Default)]
pub(super) struct PendingEvents {
    batch: EventBatch,
    /// The states that were published last: only a new one changes what can be called.
    states: HashMap<SourceKey, SourceState>,
}

#[derive(Debug, Default)]
pub(super) struct EventBatch {
    /// More changed than was counted.
    pub(super) is_behind: bool,
    /// With its user, where that is known.
    pub(super) chats: HashMap<ChatId, Option<UserId>>,
    pub(super) sources: BTreeMap<SourceKey, SourceUpdate>,
    pub(super) topics: BTreeSet<(Option<UserId>, UserTopic)>,
}

impl PendingEvents {
    /// Adds a change, unless nobody subscribes to it.
    pub(super) fn add(&mut self, change: FeedChange, is_subscribed: impl Fn(&UserId) -> bool) {
        let is_wanted = |user: &Option<UserId>| user.as_ref().is_none_or(&is_subscribed);
        let batch = &mut self.batch;
        match change {
            FeedChange::Chat(chat, user) if is_wanted(&user) => {
                let known = batch.chats.entry(chat).or_default();
                *known = user.or(known.take());
            }
            FeedChange::Topic(user, topic) if is_wanted(&user) => {
                batch.topics.insert((user, topic));
            }
            FeedChange::Source(AddressedUpdate { to, update }) => {
                let key = (to.clone(), update.source_id.clone());
                let before = if update.gone {
                    self.states.remove(&key)
                } else {
                    self.states.insert(key.clone(), update.state.clone())
                };
                // Their states are followed for whoever comes back, too.
                if !is_wanted(&to) {
                    return;
                }
                if update.gone || before.as_ref() != Some(&update.state) {
                    batch.topics.insert((to, UserTopic::Tools));
                }
                batch.sources.insert(key, update);
            }
            FeedChange::Missed => batch.is_behind = true,
            FeedChange::Chat(..) | FeedChange::Topic(..) => {}
        }
        if batch.is_behind || batch.len() > MAX_PENDING {
            *batch = EventBatch {
                is_behind: true,
                ..EventBatch::default()
            };
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.batch.is_behind && self.batch.len() == 0
    }

    pub(super) fn take(&mut self) -> EventBatch {
        std::mem::take(&mut self.batch)
    }
}

impl EventBatch {
    fn len(&self) -> usize {
        self.chats.len() + self.sources.len() + self.topics.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(state: SourceState) -> FeedChange {
        let source_id = SourceId::new("mcp-clock");
        FeedChange::Source(AddressedUpdate {
            to: None,
            update: SourceUpdate {
                source_id,
                gone: false,
                state,
                startup: None,
                tools: 2,
                revision: 1,
            },
        })
    }

    fn topics(pending: &mut PendingEvents) -> Vec<UserTopic> {
        let topics = pending.take().topics.into_iter();
        topics.map(|(_, topic)| topic).collect()
    }

    #[test]
    fn only_another_state_of_a_source_changes_the_tools() {
        let mut pending = PendingEvents::default();
        let mut check = |state: SourceState, expected: &[UserTopic]| {
            pending.add(update(state), |_| true);
            assert_eq!(pending.batch.sources.len(), 1);
            assert_eq!(topics(&mut pending), expected);
        };
        check(SourceState::Starting, &[UserTopic::Tools]);
        check(SourceState::Starting, &[]);
        check(SourceState::Ready, &[UserTopic::Tools]);
        check(SourceState::Ready, &[]);
    }

    #[test]
    fn what_happens_again_and_again_is_told_once() {
        let mut pending = PendingEvents::default();
        let (ada, chat) = (UserId::new("ada"), ChatId::new("tides"));
        for _ in 0..10_000 {
            pending.add(FeedChange::Chat(chat.clone(), Some(ada.clone())), |_| true);
            pending.add(FeedChange::Chat(chat.clone(), None), |_| true);
            pending.add(FeedChange::Topic(None, UserTopic::Models), |_| true);
            pending.add(update(SourceState::Ready), |_| true);
        }
        let batch = pending.take();
        assert_eq!(batch.chats, HashMap::from([(chat, Some(ada))]));
        assert_eq!((batch.sources.len(), batch.topics.len()), (1, 2));
        assert!(!batch.is_behind && pending.is_empty());
    }

    #[test]
    fn what_is_for_nobody_who_subscribes_is_left_out() {
        let mut pending = PendingEvents::default();
        let bob = Some(UserId::new("bob"));
        let is_ada = |user: &UserId| user.as_str() == "ada";
        pending.add(FeedChange::Chat(ChatId::new("his"), bob.clone()), is_ada);
        pending.add(FeedChange::Topic(bob, UserTopic::Tools), is_ada);
        assert!(pending.is_empty());
    }

    #[test]
    fn what_is_missed_or_too_much_is_told_as_such() {
        let mut pending = PendingEvents::default();
        for number in 0..=MAX_PENDING {
            let chat = ChatId::new(format!("chat {number}"));
            pending.add(FeedChange::Chat(chat, None), |_| true);
        }
        assert_eq!(pending.batch.len(), 0);
        assert!(pending.take().is_behind);
        pending.add(FeedChange::Missed, |_| true);
        assert!(!pending.is_empty() && pending.take().is_behind);
    }
}
