//! What an evaluation measures: how often a model calls the right tool and gives the right answer,
//! by mode (how tools are put before it) and by kind of prompt.

use serde::Serialize;
use ts_rs::TS;

use crate::error::ErrorDetail;
use crate::model::ToolUse;

/// What a prompt asks of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PromptKind {
    /// The right one of a dozen tools.
    Choice,
    /// Values that have to be read out of the sentence.
    Arguments,
    /// Several calls that do not depend on each other.
    SeveralCalls,
    /// A call that needs the result of another one.
    TwoSteps,
    /// Plain talk: no call at all.
    Restraint,
    Chinese,
}

/// How a model did with one prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum PromptOutcome {
    /// The right first call, or rightly none, and the right answer.
    Passed,
    NoCall,
    WrongCall,
    /// A call where talk was asked for.
    UnneededCall,
    /// The right first call, but not the facts that the answer needs, or not all the calls.
    WrongAnswer,
    TimedOut,
    /// The server refused the request or broke off.
    Failed,
}

/// One prompt in one mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PromptResult {
    pub mode: ToolUse,
    pub kind: PromptKind,
    pub prompt: String,
    pub outcome: PromptOutcome,
    pub is_first_call_right: bool,
    pub is_answer_right: bool,
    #[ts(type = "number")]
    pub duration_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct KindScore {
    pub kind: PromptKind,
    /// How many were measured.
    pub prompts: usize,
    pub passed: usize,
    #[ts(type = "number")]
    pub duration_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModeScore {
    pub mode: ToolUse,
    /// How many were measured.
    pub prompts: usize,
    pub passed: usize,
    pub right_first_calls: usize,
    pub right_answers: usize,
    #[ts(type = "number")]
    pub duration_ms: u64,
    pub kinds: Vec<KindScore>,
    /// Why this mode was not measured to the end: the server cannot do it, or is too slow.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<ErrorDetail>,
}

/// All that was measured so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EvaluationReport {
    /// How many are asked in each mode.
    pub prompts_per_mode: usize,
    pub modes: Vec<ModeScore>,
    /// The best of the modes that were measured to the end.
    #[ts(optional)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommendation: Option<ToolUse>,
}

impl EvaluationReport {
    pub fn new(modes: &[ToolUse], prompts_per_mode: usize) -> Self {
        Self {
            prompts_per_mode,
            modes: modes.iter().copied().map(ModeScore::new).collect(),
            recommendation: None,
        }
    }

    pub fn record(&mut self, result: &PromptResult) {
        let Some(mode) = self.mode_mut(result.mode) else {
            return;
        };
        mode.record(result);
        self.recommendation = self.best_mode();
    }

    /// The rest of this mode is not asked.
    pub fn abandon(&mut self, mode: ToolUse, problem: ErrorDetail) {
        if let Some(mode) = self.mode_mut(mode) {
            mode.problem = Some(problem);
        }
    }

    fn mode_mut(&mut self, mode: ToolUse) -> Option<&mut ModeScore> {
        self.modes.iter_mut().find(|score| score.mode == mode)
    }

    /// By prompts that were passed, then by right first calls. The first of equal ones: the modes
    /// are in the order in which they are preferred.
    fn best_mode(&self) -> Option<ToolUse> {
        let is_whole = |score: &&ModeScore| score.prompts == self.prompts_per_mode;
        let candidates = self.modes.iter().filter(is_whole).rev();
        let best = candidates
            .filter(|score| score.calls_tools())
            .max_by_key(|score| (score.passed, score.right_first_calls))?;
        Some(best.mode)
    }
}

impl ModeScore {
    fn new(mode: ToolUse) -> Self {
        Self {
            mode,
            prompts: 0,
            passed: 0,
            right_first_calls: 0,
            right_answers: 0,
            duration_ms: 0,
            kinds: Vec::new(),
            problem: None,
        }
    }

    fn record(&mut self, result: &PromptResult) {
        let passed = usize::from(result.outcome == PromptOutcome::Passed);
        self.prompts += 1;
        self.passed += passed;
        self.right_first_calls += usize::from(result.is_first_call_right);
        self.right_answers += usize::from(result.is_answer_right);
        self.duration_ms += result.duration_ms;
        let kind = self.kind_mut(result.kind);
        kind.prompts += 1;
        kind.passed += passed;
        kind.duration_ms += result.duration_ms;
    }

    /// A model that only ever talks passes what asks for talk.
    fn calls_tools(&self) -> bool {
        let has_calls =
            |kind: PromptKind| !matches!(kind, PromptKind::Restraint | PromptKind::Chinese);
        self.kinds
            .iter()
            .any(|score| has_calls(score.kind) && score.passed > 0)
    }

    fn kind_mut(&mut self, kind: PromptKind) -> &mut KindScore {
        let known = self.kinds.iter().position(|score| score.kind == kind);
        let index = known.unwrap_or_else(|| {
            self.kinds.push(KindScore {
                kind,
                prompts: 0,
                passed: 0,
                duration_ms: 0,
            });
            self.kinds.len() - 1
        });
        &mut self.kinds[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(scores: &[(ToolUse, &[PromptOutcome])]) -> EvaluationReport {
        let modes: Vec<ToolUse> = scores.iter().map(|(mode, _)| *mode).collect();
        let mut report = EvaluationReport::new(&modes, 2);
        for (mode, outcomes) in scores {
            for outcome in *outcomes {
                use PromptOutcome::{Passed, WrongAnswer};
                report.record(&PromptResult {
                    mode: *mode,
                    kind: PromptKind::Choice,
                    prompt: "What time is it?".into(),
                    outcome: *outcome,
                    is_first_call_right: matches!(outcome, Passed | WrongAnswer),
                    is_answer_right: *outcome == Passed,
                    duration_ms: 10,
                });
            }
        }
        report
    }

    #[test]
    fn the_best_mode_that_was_measured_to_the_end_is_recommended() {
        use PromptOutcome::{NoCall, Passed, WrongAnswer};
        use ToolUse::{Constrained, Native, Text};
        let check = |scores: &[(ToolUse, &[PromptOutcome])], expected: Option<ToolUse>| {
            assert_eq!(report(scores).recommendation, expected, "{scores:?}");
        };
        let two_passed = &[Passed, Passed][..];
        check(&[], None);
        check(&[(Native, &[NoCall, NoCall])], None);
        check(
            &[(Native, &[Passed, NoCall]), (Text, two_passed)],
            Some(Text),
        );
        check(
            &[(Native, two_passed), (Constrained, two_passed)],
            Some(Native),
        );
        check(
            &[
                (Native, &[Passed, NoCall]),
                (Text, &[Passed, WrongAnswer]),
                (Constrained, &[Passed]),
            ],
            Some(Text),
        );
        check(&[(Native, &[Passed])], None);
    }

    #[test]
    fn a_mode_in_which_no_tool_is_called_is_not_recommended() {
        let mut report = EvaluationReport::new(&[ToolUse::Native], 1);
        report.record(&PromptResult {
            mode: ToolUse::Native,
            kind: PromptKind::Restraint,
            prompt: "Hello!".into(),
            outcome: PromptOutcome::Passed,
            is_first_call_right: true,
            is_answer_right: true,
            duration_ms: 10,
        });
        assert_eq!(report.recommendation, None);
    }

    #[test]
    fn scores_add_up_by_mode_and_by_kind() {
        let outcomes = &[PromptOutcome::Passed, PromptOutcome::WrongAnswer][..];
        let report = report(&[(ToolUse::Native, outcomes)]);
        let kind = KindScore {
            kind: PromptKind::Choice,
            prompts: 2,
            passed: 1,
            duration_ms: 20,
        };
        let expected = ModeScore {
            prompts: 2,
            passed: 1,
            right_first_calls: 2,
            right_answers: 1,
            duration_ms: 20,
            kinds: vec![kind],
            ..ModeScore::new(ToolUse::Native)
        };
        assert_eq!(report.modes, [expected]);
    }
}
