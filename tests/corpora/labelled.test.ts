import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { z } from "zod";

// Sets that wait for the rules which they judge: what they say of themselves holds.

const linesOf = <T>(path: string, schema: z.ZodType<T>): T[] =>
  readFileSync(join(import.meta.dirname, path), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => schema.parse(JSON.parse(line)));
const text = z.string().min(1);

test("claims of prose stand in it, and cite what it cites", () => {
  const cases = linesOf(
    "claims/splits.jsonl",
    z.strictObject({
      id: text,
      language: z.enum(["en", "de", "fr", "es", "ja"]),
      text,
      claims: z.array(z.strictObject({ text, cites: z.array(z.int().positive()) })),
      about: text,
    }),
  );
  expect(cases.length).toBeGreaterThanOrEqual(140);
  expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
  const lost = cases.flatMap(({ id, text: prose, claims }) => {
    const unmarked = prose.replace(/\s*\[\d+(?:, ?\d+)*\]/g, "");
    return claims
      .filter((claim) => ![prose, unmarked].some((whole) => whole.includes(claim.text)))
      .map((claim) => [id, claim.text]);
  });
  expect(lost).toEqual([]);
});

describe("questions over the examples", () => {
  const answerable = z.strictObject({
    id: text,
    language: text,
    kind: text,
    question: text,
    expected: z.array(z.array(text).min(1)).min(1),
    files: z.array(text).min(1),
  });
  const unanswerable = z.strictObject({
    ...{ id: text, language: text, kind: text, question: text },
    unanswerable: text,
  });
  const questions = linesOf("../../examples/eval.jsonl", z.union([answerable, unanswerable]));
  const root = join(import.meta.dirname, "../../examples");

  test("are a third without an answer, each asked once", () => {
    const without = questions.filter((question) => "unanswerable" in question);
    expect(without.length * 3).toBe(questions.length);
    expect(new Set(questions.map(({ question }) => question)).size).toBe(questions.length);
  });

  test("expect facts of which one spelling stands in a file that is named", () => {
    const missing = questions.flatMap((question) => {
      if (!("expected" in question)) return [];
      const absent = question.files.filter((file) => !existsSync(join(root, file)));
      if (absent.length > 0) return [[question.id, absent]];
      const held = question.files
        .map((file) => readFileSync(join(root, file), "utf8").toLowerCase())
        .join("\n");
      return question.expected
        .filter((spellings) => !spellings.some((one) => held.includes(one.toLowerCase())))
        .map((spellings) => [question.id, spellings]);
    });
    expect(missing).toEqual([]);
  });
});

test("labels of short texts stand in them", () => {
  const texts = linesOf(
    "labelled-texts/texts.jsonl",
    z.strictObject({
      ...{ id: text, language: text, label: text, text },
      people: z.array(z.strictObject({ name: text, role: text.nullable() })),
      organisations: z.array(text),
      actions: z.array(
        z.strictObject({ action: text, owner: text.nullable(), due: text.nullable() }),
      ),
      dates: z.array(text),
    }),
  );
  expect(texts).toHaveLength(200);
  const lost = texts.flatMap(({ id, text: whole, people, organisations, actions, dates }) =>
    [
      ...people.flatMap(({ name, role }) => [name, role ?? ""]),
      ...organisations,
      ...actions.flatMap(({ action, owner, due }) => [action, owner ?? "", due ?? ""]),
      ...dates,
    ]
      .filter((part) => !whole.includes(part))
      .map((part) => [id, part]),
  );
  expect(lost).toEqual([]);
});
