// The evaluation of a model, as the reduction of its frames.
import { ApiError } from '$lib/api/client';
import type { EvaluationFrame, EvaluationReport, ModeScore, ToolUse } from '$lib/api/types';

export interface ModelEvaluation {
  state: 'running' | 'finished' | 'failed' | 'stopped';
  /** All that was measured so far. */
  report?: EvaluationReport;
  /** What went wrong. Absent where the stream just ended; the page has words for that. */
  error?: unknown;
}

export interface EvaluationProgress {
  /** The mode that is being measured. */
  mode?: ToolUse;
  /** How many prompts of how many that will be asked. */
  done: number;
  total: number;
  /** How long the rest takes, if it takes as long as what was measured. */
  remainingMs?: number;
}

export function startEvaluation(): ModelEvaluation {
  return { state: 'running' };
}

export function applyEvaluationFrame(
  evaluation: ModelEvaluation,
  frame: EvaluationFrame,
): ModelEvaluation {
  if (evaluation.state !== 'running') return evaluation;
  switch (frame.type) {
    case 'started':
    case 'measured':
      return { state: 'running', report: frame.report };
    case 'finished':
      return {
        state: frame.error ? 'failed' : 'finished',
        report: frame.report,
        error: frame.error && ApiError.of(frame.error),
      };
    default:
      // A newer server may say what we do not know.
      return evaluation;
  }
}

/** The stream is over. One that did not say how it ended was cut off; what was measured stays. */
export function finishEvaluation(evaluation: ModelEvaluation, error?: unknown): ModelEvaluation {
  return evaluation.state === 'running' ? { ...evaluation, state: 'failed', error } : evaluation;
}

/** What was measured stays. */
export function cancelEvaluation(evaluation: ModelEvaluation): ModelEvaluation {
  return evaluation.state === 'running' ? { ...evaluation, state: 'stopped' } : evaluation;
}

export function progressOf({ modes, promptsPerMode }: EvaluationReport): EvaluationProgress {
  const done = sum(modes.map(({ prompts }) => prompts));
  const planned = ({ prompts, problem }: ModeScore) => (problem ? prompts : promptsPerMode);
  const total = sum(modes.map(planned));
  const average = done > 0 ? sum(modes.map(({ durationMs }) => durationMs)) / done : undefined;
  return {
    mode: modes.find((score) => score.prompts < planned(score))?.mode,
    done,
    total,
    remainingMs: average && average * (total - done),
  };
}

function sum(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
