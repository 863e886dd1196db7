import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../conformance/signal.ts";
import type { Script } from "../doubles/ollama/double-model.ts";
import { startOpenAiDouble } from "../doubles/openai-server.ts";
import type { OpenAiDouble } from "../doubles/openai-server.ts";
import { findFreePort } from "../services/free-port.js";
import { startGatedHost } from "./gated-host.ts";
import { writeTinyLanguageModel } from "./tiny-language-model.ts";

export type EngineOptions = {
  /** 2 unless told. */
  readonly slots?: number;
  /** Tokens of the window of each slot; of all together where they share one. */
  readonly windowTokens?: number;
  readonly pool?: "apart" | "shared";
  readonly embeds?: boolean;
  /** Only who has it is let in. */
  readonly key?: string;
  /** Stands before all of its routes, as a gateway has it: `/team`. */
  readonly below?: string;
  /** any_bytes: the model writes what is no text, also where a schema holds it. */
  readonly writes?: "ascii" | "any_bytes";
};

export type RunningEngine = {
  readonly url: string;
  /** Resolves when so many calls have a slot. */
  untilBusy(calls: number): Promise<void>;
  /** Kills it, whatever it is doing. */
  goDown(): Promise<void>;
  /** Starts it again at the same place. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
};

/** What speaks as llama.cpp's server does, with a model of the names "m" and "second". */
export type Engine = {
  readonly name: "the double" | "llama-server";
  start(options?: EngineOptions): Promise<RunningEngine>;
};

const WINDOW_TOKENS = 2048;
const NAMES = ["m", "second"] as const;

const double: Engine = {
  name: "the double",
  async start({ slots = 2, windowTokens = WINDOW_TOKENS, pool, embeds, writes, key, below } = {}) {
    // Those that share a window meet there, however fast they are.
    const met = (): Promise<void> => started.until((requests) => requests.length > 1);
    const started: OpenAiDouble = await startOpenAiDouble({
      models: [
        {
          name: NAMES[0],
          capabilities: ["completion", "tools"],
          respond: (_, request) => {
            if (writes === "any_bytes") return MISSES_ITS_FORM;
            return pool === "shared" ? { ...respond(request), after: met() } : respond(request);
          },
        },
      ],
      aliases: NAMES.slice(1),
      windowTokens,
      numParallel: slots,
      ...(pool === undefined ? {} : { pool }),
      ...(embeds === undefined ? {} : { embeds }),
    });
    const gate =
      key === undefined && below === undefined
        ? undefined
        : await startGatedHost(started.url, {
            ...(key === undefined ? {} : { key }),
            ...(below === undefined ? {} : { below }),
          });
    return {
      ...started,
      url: gate?.url ?? started.url,
      async close() {
        await gate?.close();
        await started.close();
      },
      untilBusy: (calls) =>
        started.until(
          (requests) => requests.filter(({ state }) => state === "running").length >= calls,
        ),
    };
  },
};

const MISSES_ITS_FORM: Script = {
  text: "{ ",
  ending: "error_line",
  errorText: "The model produced output that does not match the expected peg-native format",
};
const NEVER = new Promise<never>(() => undefined);
const LONG_REPLY = 500;

type WireSchema = {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
};

/** What the tiny model does: it calls a tool that is offered, keeps to a schema, and else writes on and on. */
function respond(request: Readonly<Record<string, unknown>>): Script {
  const format = request["response_format"] as
    { readonly json_schema: { readonly schema: WireSchema } } | undefined;
  if (format?.json_schema.schema.type === "nonsense") {
    const error =
      "Unable to generate parser for this template. Automatic parser generation failed: JSON schema error at #: unrecognized type nonsense";
    return { text: "", failure: { status: 400, error } };
  }
  if (format?.json_schema.schema.properties?.["claims"] !== undefined) {
    const claims = [{ quote: null, text: "It is so.", cites: [1] }];
    return { text: JSON.stringify({ declined: false, missing: null, claims }) };
  }
  if (format !== undefined) return { text: '{"answer": "ab", "count": 7}' };
  if (request["tools"] !== undefined) {
    const isCut = Number(request["max_tokens"]) < 60;
    const args = isCut ? '{"path": "a' : { path: "a.md" };
    return { text: "", toolCalls: [{ name: "read_text_file", args }] };
  }
  if (request["temperature"] !== 0) return { text: "word ".repeat(30) };
  const isLong = Number(request["max_tokens"]) >= LONG_REPLY;
  return { text: "word ".repeat(10_000), ...(isLong ? { pause: NEVER } : {}) };
}

/** @param program llama-server, or what takes its options and is it */
const llamaServer = (program: string): Engine => ({
  name: "llama-server",
  async start({ slots = 2, windowTokens = WINDOW_TOKENS, pool, embeds, writes, key, below } = {}) {
    const folder = mkdtempSync(join(tmpdir(), "nightdesk-llama-"));
    const model = join(folder, "tiny.gguf");
    writeTinyLanguageModel(model, writes);
    const port = await findFreePort();
    const window =
      pool === "shared"
        ? ["-c", windowTokens, "--kv-unified"]
        : ["-c", windowTokens * slots, "--no-kv-unified"];
    const options = [
      ...["-m", model, "--host", "127.0.0.1", "--port", port, "--alias", NAMES.join()],
      ...["-np", slots, "-t", 1, "--no-warmup", ...window],
      ...(embeds === true ? ["--embeddings", "--pooling", "mean"] : []),
      ...(key === undefined ? [] : ["--api-key", key]),
      ...(below === undefined ? [] : ["--api-prefix", below]),
    ];
    const run = (): Promise<Process> => startProcess(program, options.map(String), url);
    const url = `http://127.0.0.1:${port}${below ?? ""}`;
    let process = await run();
    return {
      url,
      untilBusy: (calls) =>
        eventually("as many calls have a slot", async () => (await busySlots(url, key)) >= calls),
      goDown: () => process.kill(),
      async comeBack() {
        process = await run();
      },
      async close() {
        await process.kill();
        rmSync(folder, { recursive: true });
      },
    };
  },
});

type Process = { kill(): Promise<void> };

async function startProcess(
  program: string,
  options: readonly string[],
  url: string,
): Promise<Process> {
  const child = spawn(program, options, { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(-4_000);
  });
  const ended = once(child, "close");
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await ended;
  };
  try {
    await eventually(`${program} answers`, async () => {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${said}`);
      return isHealthy(url);
    });
  } catch (error) {
    await kill();
    throw error;
  }
  return { kill };
}

const isHealthy = (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    ({ ok }) => ok,
    () => false,
  );

async function busySlots(url: string, key: string | undefined): Promise<number> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const slots = (await (await fetch(`${url}/slots`, { headers })).json()) as {
    is_processing: boolean;
  }[];
  return slots.filter(({ is_processing }) => is_processing).length;
}

const program = process.env["TEST_LLAMA_SERVER"];

/** The double always, and the server itself where TEST_LLAMA_SERVER names its program. */
export const ENGINES: readonly Engine[] =
  program === undefined || program === "" ? [double] : [double, llamaServer(program)];
