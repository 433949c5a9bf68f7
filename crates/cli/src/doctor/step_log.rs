//! The log of all requests, with secrets masked.

use super::own_headers::OwnHeaders;
use super::problem::DoctorProblem;
use super::step::{DoctorStep, SentRequest, StepOutcome};

const MAX_VERDICT: usize = 300;

pub(super) struct StepLog {
    pub(super) own: OwnHeaders,
    pub(super) steps: Vec<DoctorStep>,
}

impl StepLog {
    pub(super) fn new(own: OwnHeaders) -> Self {
        let steps = Vec::new();
        Self { own, steps }
    }

    /// A new step, by its number.
    pub(super) fn write(&mut self, asked: SentRequest, came: StepOutcome) -> usize {
        self.steps.push(DoctorStep {
            asked,
            came,
            verdict: String::new(),
            ok: true,
            harmless: false,
        });
        self.steps.len() - 1
    }

    /// What a browser makes of an answer.
    pub(super) fn note(&mut self, step: usize, ok: bool, verdict: &str) {
        let verdict = self.own.shown(verdict, MAX_VERDICT);
        let step = &mut self.steps[step];
        // What it would not even have asked for, it makes nothing of.
        if ok || step.ok {
            step.verdict = verdict;
        }
        step.ok = ok;
    }

    /// The same for a trouble, which is handed on.
    pub(super) fn fail(&mut self, step: usize, trouble: DoctorProblem) -> DoctorProblem {
        let is_seen = self.steps[step].ok;
        self.note(step, false, trouble.in_short());
        // Somewhere else there may be more.
        self.steps[step].harmless = is_seen && trouble.is_elsewhere();
        trouble
    }

    /// What went wrong before a step was in nobody's way.
    pub(super) fn forgive(&mut self, before: usize) {
        for step in &mut self.steps[..before] {
            step.harmless = true;
        }
    }
}
