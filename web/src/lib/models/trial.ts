// The test of a model, as the reduction of its frames.
import type { TestFrame, ToolUse } from '$lib/api/types';

export interface Trial {
  state: 'running' | 'passed' | 'failed' | 'stopped';
  /** The words of the model so far. */
  text: string;
  /** How tool calls are being tried, once they are. */
  trying?: ToolUse;
  /** What was found. */
  tools?: ToolUse;
  firstWordMs?: number;
  /** Why it failed. Absent where the stream just ended; the page has words for that. */
  message?: string;
}

export function beginTrial(): Trial {
  return { state: 'running', text: '' };
}

export function takeFrame(trial: Trial, frame: TestFrame): Trial {
  if (trial.state !== 'running') return trial;
  switch (frame.type) {
    case 'text':
      return { ...trial, text: trial.text + frame.text };
    case 'tryingTools':
      return { ...trial, trying: frame.mode };
    case 'finished':
      return {
        state: frame.ok ? 'passed' : 'failed',
        text: trial.text,
        tools: frame.tools,
        firstWordMs: frame.firstWordMs,
        message: frame.message,
      };
    default:
      // A newer server may say what we do not know.
      return trial;
  }
}

/** The stream is over. One that did not say how it ended was cut off. */
export function endTrial(trial: Trial, message?: string): Trial {
  return trial.state === 'running' ? { state: 'failed', text: trial.text, message } : trial;
}

export function stopTrial(trial: Trial): Trial {
  return trial.state === 'running' ? { state: 'stopped', text: trial.text } : trial;
}
