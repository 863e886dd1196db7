import { expect, test } from "@jest/globals";
import {
  formatEmbedSummary,
  formatFailuresKnown,
  formatIndexSummary,
} from "../../../src/producer/print/index-summary.ts";

const SUMMARY = {
  ...{ documents_seen: 4, added: 1, changed: 1, unchanged: 1, removed: 1, failed: 1 },
  ...{ chunks_total: 212, duration_ms: 800 },
};

test("an index is summed up in one line", () => {
  expect(formatIndexSummary(SUMMARY)).toBe(
    "4 documents: 1 added, 1 changed, 1 unchanged, 1 removed, 1 failed; 212 chunks; 800 ms",
  );
  expect(formatFailuresKnown(SUMMARY)).toBeUndefined();
});

test("failures of an earlier index are told apart, with the command that reads them again", () => {
  const before = { ...SUMMARY, failed: 3, failed_before: 2 };
  expect(formatIndexSummary(before)).toContain("3 failed (2 known from before)");
  expect(formatIndexSummary({ ...before, failed: 2 })).toContain("2 failed (known from before)");
  expect(formatFailuresKnown(before)).toBe(
    "Known from before and not read again: 2 of 3. To read all files again: nightdesk index --verify",
  );
});

test("what embed made is summed up in one line, and so is what it would make", () => {
  const made = {
    ...{ model: "m", signature: "s", dims: 8, precision: "full" as const, chunks_total: 212 },
    ...{ embedded: 210, rounded: 0, outdated: 1, missing: 1, cut: 0 },
  };
  expect(formatEmbedSummary(made)).toBe(
    "210 vectors made by m; of 212 chunks 1 miss theirs and 1 hold an outdated one",
  );
  expect(formatEmbedSummary({ ...made, outdated: 0, missing: 0, rounded: 200 })).toBe(
    "210 vectors made by m (200 rounded, without the model); all 212 chunks have theirs",
  );
  expect(formatEmbedSummary({ ...made, due: 2 })).toContain("2 vectors would be made by m; ");
});
