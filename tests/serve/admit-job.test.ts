import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { admitJobs } from "../../src/serve/admit-job.ts";
import type { Config } from "../../src/shared/config/schema.ts";
import type { JobInput } from "../../src/shared/job/job.ts";
import { makeScratch } from "../shared/config/scratch.ts";
import type { Scratch } from "../shared/config/scratch.ts";

let scratch: Scratch;
let config: Config;
beforeAll(async () => {
  scratch = await makeScratch();
  for (const folder of ["letters", "bills", "private"])
    await mkdir(join(scratch.folder, "corpus", folder), { recursive: true });
  await scratch.write(
    "nightdesk.yaml",
    stringify({
      extends: "nightdesk:default",
      model: { provider: "ollama", name: "llama3.1:8b", aliases: { small: "qwen3:4b" } },
      security: { allowed_roots: ["corpus"] },
      index: {
        sources: ["letters", "bills", "private", "gone"].map((name) => ({
          ...{ name, root: `corpus/${name}` },
        })),
      },
    }),
  );
  config = await scratch.load();
});
afterAll(() => scratch.remove());

const TOKEN: Parameters<typeof admitJobs>[0] = {
  name: "t",
  kinds: ["ask", "summarize", "chat", "investigate"],
  sources: ["letters", "bills"],
  presets: ["readonly_safe"],
  models: [],
};

const admit = (input: JobInput, token: Partial<typeof TOKEN> = {}) =>
  admitJobs({ ...TOKEN, ...token }, config)(input);
const ask = (options: Extract<JobInput, { kind: "ask" }>["options"] = {}): JobInput => ({
  ...{ kind: "ask", question: "When?", options },
});
const boundTo = (prefix: string) => ({ options: { path_prefix: prefix } });

test.each<readonly [JobInput, string]>([
  [ask({ path_prefix: "corpus/letters/2026-" }), "corpus/letters/2026-"],
  [ask({ path_prefix: "letters" }), "corpus/letters/"],
  [ask({ source: "bills" }), "corpus/bills/"],
  [{ kind: "summarize", path: "corpus/bills/may.pdf" }, "corpus/bills/"],
  [{ kind: "summarize", path: "corpus/letters/../bills/may.pdf" }, "corpus/bills/"],
])("a job reads below the folder of its token: %j below %s", (input, prefix) => {
  expect(admit(input)).toMatchObject(boundTo(prefix));
});

test("what a job of a token with one source reads is in its folder, wherever its path leads", () => {
  const token = { sources: ["letters"] };
  for (const input of [ask(), { kind: "summarize", path: "corpus/private/x.md" } as const])
    expect(admit(input, token)).toMatchObject(boundTo("corpus/letters/"));
});

test.each<readonly [JobInput, string]>([
  [ask(), "name one by options.path_prefix"],
  [ask({ path_prefix: "corpus/private/" }), "options.path_prefix must lie in corpus/letters/"],
  [ask({ path_prefix: "corpus/" }), "options.path_prefix must lie in corpus/letters/"],
  // It lies in no folder that the token may not read, and names one that it may not know of.
  [ask({ path_prefix: "corpus/private/../letters/" }), "options.path_prefix must lie in"],
  [ask({ source: "private" }), "options.source must be one of letters, bills"],
  [{ kind: "summarize", path: "corpus/private/x.md" }, "path must lie in"],
  [{ kind: "summarize", path: "corpus/letters/../private/x.md" }, "path must lie in"],
  [{ kind: "extract", path: "corpus/letters/x.md", preset: "classify" }, "and not extract"],
])("a job elsewhere is refused: %j, because %s", (input, reason) => {
  expect(admit(input)).toContain(reason);
});

test("a source whose folder is not there lets nobody read one whose name begins like it", () => {
  const token = { sources: ["gone"] };
  expect(admit(ask({ path_prefix: "corpus/gone/2026/" }), token)).toMatchObject(
    boundTo("corpus/gone/2026/"),
  );
  for (const elsewhere of ["corpus/gone-private/", "corpus/gone-private/x.md"])
    expect(admit(ask({ path_prefix: elsewhere }), token)).toContain("must lie in corpus/gone/");
});

test("an investigation names a preset that its token allows, and none by itself", () => {
  const investigate = (preset?: string): JobInput => ({
    ...{ kind: "investigate", task: "Look" },
    ...(preset === undefined ? {} : { preset }),
  });
  const token = { sources: ["letters"] };
  expect(admit(investigate("readonly_safe"), token)).toMatchObject(boundTo("corpus/letters/"));
  for (const preset of [undefined, "readonly_web"])
    expect(admit(investigate(preset), token)).toContain("preset must be one of");
});

test("models are those of the token, by their names or aliases, its first where none is named", () => {
  const token = { models: ["qwen3:4b", "gemma3:4b"], sources: ["letters"] };
  const named = (model?: string) => ask(model === undefined ? {} : { model });
  expect(admit(named(), token)).toMatchObject({ options: { model: "qwen3:4b" } });
  expect(admit(named("small"), token)).toMatchObject({ options: { model: "small" } });
  expect(admit(named("llama3.1:8b"), token)).toContain("the token allows the models qwen3:4b");
  expect(admit(named("llama3.1:8b"), { sources: ["letters"] })).toMatchObject({
    options: { model: "llama3.1:8b" },
  });
  const chat = { kind: "chat", prompt: "Hello?" } as const;
  expect(admit(chat, token)).toEqual({ ...chat, model: "qwen3:4b" });
  expect(admit({ ...chat, model: "llama3.1:8b" }, token)).toContain("the token allows the models");
  expect(admit(chat)).toEqual(chat);
  const byAlias = { ...token, models: ["small"] };
  expect(admit(named("qwen3:4b"), byAlias)).toMatchObject({ options: { model: "qwen3:4b" } });
});
