import { expect, test } from "@jest/globals";
import { readClaims, splitOf } from "./read-claims.ts";

const { passages, claims } = readClaims();
const textOf = new Map(passages.map(({ id, text }) => [id, text]));

const countsOf = (verdict: "good" | "bad"): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { kind } of claims.filter((claim) => claim.verdict === verdict)) {
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};

test("every claim cites passages that are there, and no id or claim stands twice", () => {
  expect(claims.flatMap((claim) => claim.passages).filter((id) => !textOf.has(id))).toEqual([]);
  expect(new Set(claims.map(({ id }) => id)).size).toBe(claims.length);
  expect(new Set(claims.map(({ passages: [id], claim }) => `${String(id)} ${claim}`)).size).toBe(
    claims.length,
  );
  expect(new Set(passages.map(({ id }) => id)).size).toBe(passages.length);
});

test("a verbatim claim stands in a passage that it cites", () => {
  const missing = claims.filter(
    ({ kind, passages: ids, claim }) =>
      kind === "verbatim" && !ids.some((id) => textOf.get(id)?.includes(claim)),
  );
  expect(missing).toEqual([]);
});

test("each kind has as many claims as its rate needs", () => {
  const bad = countsOf("bad");
  for (const kind of ["citation", "figure", "date", "unit", "name", "negation", "invention"]) {
    expect([kind, bad[kind]]).toEqual([kind, expect.any(Number)]);
    expect(bad[kind]).toBeGreaterThanOrEqual(150);
  }
  expect(Math.min(...Object.values(bad))).toBeGreaterThanOrEqual(60);
  expect(claims.filter(({ verdict }) => verdict === "good").length).toBeGreaterThanOrEqual(600);
});

test("about a third is kept for the end", () => {
  const kept = claims.filter((claim) => splitOf(claim) === "final").length;
  expect(kept / claims.length).toBeGreaterThan(0.25);
  expect(kept / claims.length).toBeLessThan(0.42);
});
