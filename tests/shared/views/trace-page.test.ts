import { expect, test } from "@jest/globals";
import type { TraceLine } from "../../../src/shared/views/trace-lines.ts";
import { openTracePage } from "../../../src/shared/views/trace-page.ts";

const call = (pass: string, violations: readonly string[], more = {}) =>
  ({
    ...{ type: "call", seq: 1, scope: "job", pass, prompt: { violations }, cached_from: null },
    ...{ prompt_tokens: 10, completion_tokens: 1, duration_ms: 5, reply: "It is." },
    ...more,
  }) as unknown as TraceLine;

test("a draft that broke the format is no revision, and a reply of another job costs nothing", () => {
  const page = openTracePage();
  page.take(call("second", []));
  page.take(call("retry", ["CITATION_INVALID"]));
  page.take(call("second", ["AUDITOR_CORRECTS"]));
  page.take(call("first", [], { cached_from: "another run" }));
  page.take(call("second", [], { scope: "check 0.1" }));
  const cost = page.page().sections.find(({ id }) => id === "cost");
  const [table] = cost?.blocks ?? [];
  const row = (stage: string, calls: number) =>
    expect.arrayContaining([stage, { kind: "number", value: calls }]);
  expect(table).toMatchObject({ rows: [row("draft", 2), row("revise", 1), row("check", 1)] });
});
