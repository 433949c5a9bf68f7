import { expect, test } from 'vitest';
import type { FileKind } from '$lib/api/types';
import { formatToSaveAs } from './legacyFormat';

test('a document that is not read has a format that is', () => {
  const check = (name: string, kind: FileKind, expected?: string) =>
    expect(formatToSaveAs({ name, kind })).toBe(expected);
  check('Report.DOC', 'other', 'docx');
  check('letter.rtf', 'other', 'docx');
  check('预算.xls', 'other', 'xlsx');
  check('talk.v2.ppt', 'other', 'pptx');
  // A table that some programs call one.
  check('export.xls', 'text');
  check('report.docx', 'document');
  check('data.bin', 'other');
  check('doc', 'other');
});
