import { expect, test } from "@jest/globals";
import { formatCitations } from "../../../src/producer/print/result.ts";
import type { JobResult } from "../../../src/shared/views/results.ts";

const piece = (path: string, sha256: string, start = 0): JobResult["evidence"][number] => ({
  evidence_id: 1,
  kind: "chunk",
  path,
  sha256: sha256.repeat(64),
  chars_full: 90,
  chars_returned: 40,
  truncated: true,
  chunk_key: `${path}:${start}`,
  heading_path: null,
  locator: null,
  left_out: {},
  start_char: start,
  end_char: start + 40,
  line_start: 1 + start,
  line_end: 4 + start,
  score: 1,
});
const cite = (path: string, number: number, start = 0) => ({
  path,
  number,
  heading: null,
  chunkKey: `${path}:${start}`,
  lineStart: 1 + start,
  lineEnd: 4 + start,
});

test("copies of a mail are one source, told with the first", () => {
  const copies = [piece("a.eml", "1"), piece("b.eml", "1"), piece("uncited.eml", "1")];
  const evidence = [...copies, piece("c.eml", "2"), piece("a.eml", "1", 9)];
  const citations = [cite("a.eml", 1), cite("c.eml", 3), cite("b.eml", 2), cite("a.eml", 4, 9)];
  expect(formatCitations({ citations, evidence, claims: [] })).toEqual([
    "[1] a.eml lines 1-4, also in b.eml [2], also in uncited.eml",
    "[3] c.eml lines 1-4",
    "[4] a.eml lines 10-13",
  ]);
});

test("what is cited twice in one document stays apart, and so does what was not read", () => {
  const evidence = [piece("a.eml", "1")];
  const unread = { path: "z.eml", resolved: false as const };
  const citations = [cite("a.eml", 1), { ...cite("a.eml", 1), heading: "Head" }, unread, unread];
  expect(formatCitations({ citations, evidence, claims: [] })).toHaveLength(4);
});
