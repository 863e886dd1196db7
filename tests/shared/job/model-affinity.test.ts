import { describe, expect, test } from "@jest/globals";
import type { JobInput } from "../../../src/shared/job/job.ts";
import { modelAffinity } from "../../../src/shared/job/kinds.ts";
import { SETTINGS } from "../../support/pipeline-world.ts";

const settings = { ...SETTINGS.model, name: "mid", fast: "small", big: "large" };

describe("the model that a job waits for", () => {
  test.each<[string, JobInput, string]>([
    ["a plain question", { kind: "ask", question: "When?" }, "small"],
    ["a trigger", { kind: "ask", question: "Compare a and b" }, "large"],
    ["--big", { kind: "ask", question: "When?", options: { route: "big" } }, "large"],
    ["--model", { kind: "ask", question: "When?", options: { model: "other" } }, "other"],
    ["a summary", { kind: "summarize", path: "a.md" }, "small"],
    [
      "a summary with --big",
      { kind: "summarize", path: "a.md", options: { route: "big" } },
      "large",
    ],
    ["a chat", { kind: "chat", prompt: "Hi" }, "mid"],
    ["a chat with a model", { kind: "chat", prompt: "Hi", model: "other" }, "other"],
    ["vectors", { kind: "embed", text: "x" }, ""],
    ["an index", { kind: "index" }, ""],
  ])("of %s", (_, input, expected) => {
    expect(modelAffinity(input, settings)).toBe(expected);
  });

  test("an alias and its model are one", () => {
    const input: JobInput = { kind: "ask", question: "When?", options: { model: "big one" } };
    expect(modelAffinity(input, { ...settings, aliases: { "big one": "large" } })).toBe("large");
  });
});
