import { describe, expect, test } from "@jest/globals";
import { readClaims, splitOf } from "./read-claims.ts";

const first = readClaims();
const second = readClaims("second-kept");

const countsOf = (
  { claims }: typeof first,
  verdict: "good" | "bad",
): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const { kind } of claims.filter((claim) => claim.verdict === verdict)) {
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
};

const HARD = ["citation", "figure", "date", "unit", "name", "negation", "invention"];

describe.each([
  ["the first set", first],
  ["the second set", second],
])("%s", (_name, { passages, claims }) => {
  const textOf = new Map(passages.map(({ id, text }) => [id, text]));

  test("cites passages that are there, and holds no id or claim twice", () => {
    expect(claims.flatMap((claim) => claim.passages).filter((id) => !textOf.has(id))).toEqual([]);
    expect(new Set(claims.map(({ id }) => id)).size).toBe(claims.length);
    expect(new Set(claims.map(({ passages: [id], claim }) => `${String(id)} ${claim}`)).size).toBe(
      claims.length,
    );
    expect(new Set(passages.map(({ id }) => id)).size).toBe(passages.length);
  });

  test("holds each verbatim claim in a passage that it cites", () => {
    const missing = claims.filter(
      ({ kind, passages: ids, claim }) =>
        kind === "verbatim" && !ids.some((id) => textOf.get(id)?.includes(claim)),
    );
    expect(missing).toEqual([]);
  });
});

test("each kind of the first set has as many claims as its rate needs", () => {
  const bad = countsOf(first, "bad");
  for (const kind of HARD) {
    expect([kind, bad[kind]]).toEqual([kind, expect.any(Number)]);
    expect(bad[kind]).toBeGreaterThanOrEqual(150);
  }
  expect(Math.min(...Object.values(bad))).toBeGreaterThanOrEqual(60);
  expect(first.claims.filter(({ verdict }) => verdict === "good").length).toBeGreaterThanOrEqual(
    600,
  );
});

test("each kind of the second set has a third of that or more", () => {
  const bad = countsOf(second, "bad");
  const good = countsOf(second, "good");
  expect(Object.keys(bad).sort()).toEqual(Object.keys(countsOf(first, "bad")).sort());
  expect(Object.keys(good).sort()).toEqual(Object.keys(countsOf(first, "good")).sort());
  for (const kind of [...HARD, "misplaced"]) expect(bad[kind]).toBeGreaterThanOrEqual(60);
  expect(Math.min(...Object.values(bad))).toBeGreaterThanOrEqual(30);
  expect(second.claims.filter(({ verdict }) => verdict === "good").length).toBeGreaterThanOrEqual(
    400,
  );
});

test("no passage of the second set stands in the first", () => {
  const ids = new Set(first.passages.map(({ id }) => id));
  const texts = new Set(first.passages.map(({ text }) => text));
  expect(second.passages.filter(({ id, text }) => ids.has(id) || texts.has(text))).toEqual([]);
});

test("about a third of the first set is kept for the end", () => {
  const kept = first.claims.filter((claim) => splitOf(claim) === "final").length;
  expect(kept / first.claims.length).toBeGreaterThan(0.25);
  expect(kept / first.claims.length).toBeLessThan(0.42);
});
