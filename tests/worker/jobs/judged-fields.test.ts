import { expect, test } from "@jest/globals";
import { schemaCompiler } from "../../../src/worker/json-schema.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import type { AskedStatement, AskJudge } from "../../../src/worker/evidence/types.ts";
import { extractFile } from "../../../src/worker/jobs/extract.ts";
import { scripted, worldOf } from "../../support/pipeline-world.ts";
import { testSchemaThread } from "../offload/test-offload.ts";

const offloadSchema = testSchemaThread();
const INVOICE =
  "# Invoice 7\n\nOf 3 May 2026, for Ada Lind\n\nNet total 110.40 GBP\n\nVAT 22.08 GBP\n\nTo pay 132.48 GBP\n\nThank you.\n";
const LINES = ["Net total 110.40 GBP", "VAT 22.08 GBP", "To pay 132.48 GBP"];
const NULLABLE = { type: ["number", "null"] };

type Given = Readonly<Record<string, readonly [value: unknown, quote: string | null]>>;

/** A reply of a model, held against the invoice, and what a judge was asked of it. */
async function extract(
  given: Given,
  says: ((text: string) => "yes" | "no" | null) | undefined,
  properties: Readonly<Record<string, object>> = {},
) {
  const asked: AskedStatement[] = [];
  const judge: AskJudge = async (statements) => {
    asked.push(...statements);
    return statements.map(({ text }) => {
      const verdict = says?.(text) ?? null;
      return verdict === null ? null : { says: verdict, detail: `judge: ${verdict}` };
    });
  };
  const reply = JSON.stringify(
    Object.fromEntries(
      Object.entries(given).map(([name, [value, quote]]) => [name, { value, quote }]),
    ),
  );
  const trace = startTrace();
  const { signal } = new AbortController();
  const world = worldOf({ files: { "a.md": INVOICE }, models: [scripted([reply, reply])] });
  const outcome = await extractFile(
    { input: { kind: "extract", path: "a.md", schema: { type: "object", properties } } },
    {
      ...{ ...world, compileSchema: schemaCompiler(), offloadSchema },
      judge: says === undefined ? undefined : judge,
    },
    trace,
    signal,
  );
  return { outcome, asked, bindings: trace.record().bindings };
}

const TOTAL: Given = { total: [132.48, "To pay 132.48 GBP"] };
const NET: Given = { total: [110.4, "Net total 110.40 GBP"] };
const SOUGHT: Given = { total: [132.48, null] };

test("a field is asked of as a statement with its description, beside all lines of its type", async () => {
  const { asked } = await extract(
    { ...TOTAL, due: ["2026-05-03", "Of 3 May 2026, for Ada Lind"] },
    () => "yes",
    { total: { type: "number", description: "what is to be paid" } },
  );
  expect(asked).toEqual([
    {
      text: "total = 132.48 (what is to be paid)",
      lines: [
        { source: "a.md", text: "Invoice 7" },
        ...LINES.map((text) => ({ source: "a.md > Invoice 7", text })),
      ],
    },
    {
      text: "due = 2026-05-03",
      lines: [{ source: "a.md > Invoice 7", text: "Of 3 May 2026, for Ada Lind" }],
    },
  ]);
});

test("a text is shown with the lines beside its own", async () => {
  const { asked } = await extract({ customer: ["Ada Lind", null] }, () => "yes");
  expect(asked.map(({ lines }) => lines.map(({ text }) => text))).toEqual([
    ["Invoice 7", "Of 3 May 2026, for Ada Lind", "Net total 110.40 GBP", "VAT 22.08 GBP"],
  ]);
});

test.each<[string, Given, "yes" | "no" | null, object]>([
  ["a clear one without a judge", TOTAL, null, { grade: "supported", reason: null }],
  ["a clear one that it confirms", TOTAL, "yes", { grade: "supported", reason: null }],
  ["a clear one that it denies", TOTAL, "no", { grade: "unconfirmed", reason: "judge" }],
  ["one that was looked up", SOUGHT, null, { grade: "unconfirmed", reason: "no_quote" }],
  ["one that was looked up and is confirmed", SOUGHT, "yes", { grade: "supported" }],
  ["another label's", NET, null, { grade: "unconfirmed", reason: "other_label" }],
  ["another label's that it confirms", NET, "yes", { grade: "unconfirmed" }],
])("the grade of a value: %s", async (_, given, says, expected) => {
  const { bindings } = await extract(given, () => says);
  expect(bindings).toMatchObject([{ pointer: "/total", state: "bound", ...expected }]);
  expect(bindings[0]?.judged?.says ?? null).toBe(says);
});

test("a value of another label that the judge denies is left out, and what it said stays", async () => {
  const given: Given = { ...NET, vat: [22.08, "VAT 22.08 GBP"] };
  const { outcome, bindings } = await extract(
    given,
    (text) => (text.startsWith("total") ? "no" : "yes"),
    { total: NULLABLE },
  );
  expect(outcome).toMatchObject({ kind: "succeeded", summary: { total: null, vat: 22.08 } });
  expect(bindings).toMatchObject([
    {
      ...{ pointer: "/total", value: null, state: "null", grade: null, reason: "other_label" },
      judged: { says: "no" },
    },
    { pointer: "/vat", grade: "supported" },
  ]);
});

test("where nothing else is left the job is refused", async () => {
  const { outcome } = await extract(NET, () => "no", { total: NULLABLE });
  expect(outcome).toMatchObject({ kind: "refused", code: "ANSWER_UNSUPPORTED" });
});

test("nobody is asked of values in lists, of choices, and where no judge is configured", async () => {
  const currency = { enum: ["GBP", "EUR"] };
  const choice = await extract(
    { currency: ["GBP", "VAT 22.08 GBP"], amounts: [[22.08], "VAT 22.08 GBP"] },
    () => "yes",
    { currency },
  );
  expect(choice.asked).toEqual([]);
  expect((await extract(TOTAL, undefined)).bindings).toMatchObject([
    { grade: "supported", judged: null },
  ]);
});
