// The test of a model, as the reduction of its frames.
import { ApiError } from '$lib/api/client';
import type { TestFrame, ToolUse } from '$lib/api/types';

export interface ModelTest {
  state: 'running' | 'passed' | 'failed' | 'stopped';
  /** The words of the model so far. */
  text: string;
  /** How tool calls are being tried, once they are. */
  trying?: ToolUse;
  /** What was found. */
  tools?: ToolUse;
  /** The server left the call in the text. */
  isInText?: boolean;
  firstWordMs?: number;
  /** What went wrong. Absent where the stream just ended; the page has words for that. */
  error?: unknown;
}

export function startModelTest(): ModelTest {
  return { state: 'running', text: '' };
}

export function applyTestFrame(modelTest: ModelTest, frame: TestFrame): ModelTest {
  if (modelTest.state !== 'running') return modelTest;
  switch (frame.type) {
    case 'text':
      return { ...modelTest, text: modelTest.text + frame.text };
    case 'tryingTools':
      return { ...modelTest, trying: frame.mode };
    case 'finished':
      return {
        state: frame.ok ? 'passed' : 'failed',
        text: modelTest.text,
        tools: frame.tools,
        isInText: frame.isInText,
        firstWordMs: frame.firstWordMs,
        error: frame.error && ApiError.of(frame.error),
      };
    default:
      // A newer server may say what we do not know.
      return modelTest;
  }
}

/** The stream is over. One that did not say how it ended was cut off. */
export function finishModelTest(modelTest: ModelTest, error?: unknown): ModelTest {
  return modelTest.state === 'running'
    ? { state: 'failed', text: modelTest.text, error }
    : modelTest;
}

export function cancelModelTest(modelTest: ModelTest): ModelTest {
  return modelTest.state === 'running' ? { state: 'stopped', text: modelTest.text } : modelTest;
}
