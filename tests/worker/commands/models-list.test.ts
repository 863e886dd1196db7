import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { updateOwnCounts, upsertExam } from "../../../src/shared/store/hosts/exams.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import { startOpenAiDouble } from "../../doubles/openai-server.ts";
import { openDesk } from "../../producer/desk.ts";
import type { Desk } from "../../producer/desk.ts";
import { jsonLine } from "../../support/run-bin.ts";

let desk: Desk;
const open: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  desk = await openDesk();
});
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});
afterAll(() => desk.dispose());

async function configure(settings: object): Promise<void> {
  const base = { extends: "nightdesk:default", queue: { backend: "postgres" } };
  const database = { url: desk.databaseUrl };
  await desk.write("nightdesk.yaml", stringify({ ...base, database, ...settings }));
}

async function started<T extends { close(): Promise<void> }>(server: Promise<T>): Promise<T> {
  const double = await server;
  open.push(double);
  return double;
}

type Listed = {
  readonly hosts: readonly {
    readonly name: string;
    readonly error_code: string | null;
    readonly models: readonly { readonly name: string; readonly [key: string]: unknown }[];
  }[];
  readonly missing: readonly unknown[];
};
const list = async (): Promise<Listed> =>
  jsonLine(await desk.run("models", "list", "--json")) as unknown as Listed;

const EXAM = { identity: "ab".repeat(32), form: "list", prompt: "p", exam: "e" } as const;

test("shows of each model of Ollama its window, what it can do, who uses it, and its exam", async () => {
  const ollama = await started(
    startOllamaDouble({
      models: [
        {
          name: "chat:latest",
          capabilities: ["completion", "tools", "vision"],
          contextLength: 32_768,
        },
        { name: "vectors", capabilities: ["embedding"] },
      ],
    }),
  );
  await configure({
    model: { provider: "ollama", base_url: ollama.url, name: "chat", num_ctx: 4_096 },
    embed: { provider: "ollama", model_id: "vectors", base_url: ollama.url },
  });
  await upsertExam(desk.database, EXAM, {
    ...{ model: "chat", isKnown: true, state: "passed", calls: 12, jobId: randomUUID() },
    ...{ wrongAsked: 60, wrongConfirmed: 1, rightAsked: 60, rightConfirmed: 55 },
    ...{ yesFrom: null, parts: [] },
  });
  const counts = { wrong: { asked: 10, confirmed: 0 }, right: { asked: 10, confirmed: 9 } };
  const nobody = { wrong: { asked: 0, confirmed: 0 }, right: { asked: 0, confirmed: 0 } };
  await updateOwnCounts(desk.database, EXAM, { machine: counts, person: nobody });
  const { hosts, missing } = await list();
  const [chat, vectors] = hosts[0]?.models ?? [];
  expect(chat).toMatchObject({
    ...{ name: "chat:latest", window_tokens: 4_096, largest_window_tokens: 32_768 },
    ...{ tools: "native", reads_pictures: true, used_by: ["model.name", "verify.judge"] },
    kinds: expect.arrayContaining(["ask", "chat", "investigate"]),
    exams: [
      {
        form: "list",
        state: "passed",
        wrong: { asked: 60, confirmed: 1 },
        own: { machine: counts },
      },
    ],
  });
  expect(vectors).toMatchObject({ kinds: ["embed"], tools: null, used_by: ["embed.model_id"] });
  expect(missing).toEqual([]);
  const { stdout } = await desk.run("models", "list");
  expect(stdout).toMatch(
    /chat:latest +4,096 of 32,768 tokens +writes, calls tools, sees pictures +used by model\.name, verify\.judge; judge \(list\): passed, confirmed 1 of 60 wrong and 55 of 60 right statements, of sentences of your documents confirmed 0 of 10 wrong and 9 of 10 right/,
  );
  expect(ollama.requests.map(({ path }) => path)).not.toContain("/api/chat");
});

test("names the models of hosts as they are called here, and one that no host has", async () => {
  const server = await started(startOpenAiDouble({ models: [{ name: "Qwen/Qwen3" }] }));
  const host = { name: "shed", kind: "llama-server", url: server.url };
  await configure({
    model: { provider: "hosts", name: "qwen", big: "giant" },
    hosts: [{ ...host, models: { qwen: "Qwen/Qwen3", giant: "Qwen/Giant" } }],
  });
  const { hosts, missing } = await list();
  expect(hosts[0]).toMatchObject({ name: "shed", models: [{ name: "qwen", tools: "schema" }] });
  expect(missing).toEqual([{ name: "giant", used_by: ["model.big", "verify.judge"] }]);
  expect((await desk.run("models", "list")).stderr).toContain(
    "No host has giant, which model.big, verify.judge names.",
  );
});

test("tells a host that is down beside one that answers, and fails where none does", async () => {
  const up = await started(startOpenAiDouble({ models: [{ name: "m" }] }));
  const gone = await startOpenAiDouble({ models: [] });
  await gone.close();
  const hosts = [
    { name: "up", kind: "vllm", url: up.url },
    { name: "gone", kind: "vllm", url: gone.url },
  ];
  await configure({ model: { provider: "hosts", name: "m" }, hosts });
  expect((await list()).hosts.map(({ name, error_code: code }) => [name, code])).toEqual([
    ["up", null],
    ["gone", "MODEL_UNREACHABLE"],
    ["this machine", null],
  ]);
  await configure({ model: { provider: "hosts", name: "m" }, hosts: hosts.slice(1) });
  const none = await desk.run("models", "list", "--json");
  expect(none.code).toBe(69);
  expect(jsonLine(none)).toMatchObject({ ok: false, error_code: "MODEL_UNREACHABLE" });
});

test("asks no more than forty models of a service that lists hundreds, those in use first, and names the others", async () => {
  const models = Array.from({ length: 60 }, (_, at) => ({ name: `m${at}` }));
  const server = await started(startOpenAiDouble({ models, flavour: "bare" }));
  await configure({ model: { provider: "openai-compatible", base_url: server.url, name: "m55" } });
  const listed = (await list()).hosts[0]?.models ?? [];
  expect(listed).toHaveLength(60);
  expect(listed.filter(({ kinds }) => kinds === null)).toHaveLength(20);
  expect(listed[0]).toMatchObject({ name: "m55", used_by: ["model.name", "verify.judge"] });
});

test("says what a desk without a language model can do, and asks nobody", async () => {
  await configure({ model: { provider: "extractive" } });
  const { hosts } = await list();
  expect(hosts).toMatchObject([
    {
      name: "this machine",
      models: [
        {
          name: "extractive",
          kinds: expect.not.arrayContaining(["chat"]),
          used_by: ["model.name"],
        },
        { kinds: ["embed"], used_by: ["embed.model_id"] },
      ],
    },
  ]);
});

test("says that a model of this machine writes where verify alone names it", async () => {
  await configure({
    model: { provider: "transformers", name: "org/answers" },
    verify: { model: "org/checks" },
  });
  const [here] = (await list()).hosts;
  const checks = here?.models.find(({ name }) => name === "org/checks");
  expect(checks).toMatchObject({ kinds: expect.arrayContaining(["chat"]) });
});
