import { expect, test } from "@jest/globals";
import { CODES } from "../../../src/shared/failure.ts";
import { formatInZone } from "../../../src/shared/schedules/time.ts";
import { formatMoment } from "../../../src/shared/views/quantity.ts";
import { explainCode } from "../../../src/shared/views/remedies.ts";
import { nothingAllowed, nothingFound } from "../../../src/worker/evidence/gate.ts";

const codes = Object.keys(CODES);
const STRONGER = /stronger|larger model|bigger model/;

test("a user of extractive is never told to take a stronger model, and has something to do for each code", () => {
  const remedies = codes.map((code) => explainCode(code, "extractive").remedy);
  expect(remedies.filter((remedy) => STRONGER.test(remedy))).toEqual([]);
  expect(remedies.filter((remedy) => remedy === "")).toEqual([]);
});

test("a user of a language model is told so, and of other codes the same as everybody", () => {
  expect(explainCode("CITATION_INVALID", "qwen3:8b").remedy).toMatch(STRONGER);
  expect(explainCode("FILE_EMPTY", "extractive")).toEqual(explainCode("FILE_EMPTY", "qwen3:8b"));
});

test("an index of which nothing was read, and one in which nothing was found, are told in other words", () => {
  expect(nothingAllowed().message).toMatch(/index is empty, so that nothing was read/);
  expect(nothingAllowed({ path_prefix: "minutes" }).message).toContain('path "minutes"');
  expect(nothingFound().message).toMatch(/No passage of the index fits/);
  expect(nothingFound().message).not.toContain("was read");
});

test("a moment is told in local time first", () => {
  const at = new Date("2026-11-21T21:00:00Z");
  expect(formatInZone(at, "Europe/Berlin")).toContain("22:00");
  expect(formatMoment(at, "Europe/Berlin")).toMatch(
    /^2026-11-21 22:00 .*\(2026-11-21 21:00:00Z\)$/,
  );
});
