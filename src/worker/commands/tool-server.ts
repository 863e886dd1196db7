import { z } from "zod";
import { openContext, openDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { cleanForDatabase } from "../../shared/styled-text.ts";
import { checksJson, runChecks } from "../doctor/run-checks.ts";
import { openFirst } from "../open-first.ts";
import { parseOperators } from "../search/parse-operators.ts";
import { serveLines, withinTime } from "../tool-server/serve-lines.ts";
import type { Answer, Request } from "../tool-server/serve-lines.ts";
import { typedErrorOf } from "../tool-server/typed-error.ts";
import { checkWords, foundJson, openFinder } from "./find-passages.ts";
import { parseSearchOptions } from "./search-options.ts";

const LIMITS = { lineBytes: 64 * 1_024, atOnce: 4 } as const;
const SEARCH_MS = 60_000;
const DOCTOR_MS = 120_000;

/** Answers requests of one process, a line each, until stdin ends: what a page needs of search and doctor. */
export const toolServer: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const database = openFirst(() => openDatabase(context, "must-exist"));
  const methods = {
    search: openSearch(context, () => database.get()),
    doctor: openDoctor(invocation),
  };
  const handle = async ({ method, params = {} }: Request): Promise<Answer> => {
    try {
      if (method !== "search" && method !== "doctor") throw unknownMethod(method);
      return { ok: true, result: await methods[method](params) };
    } catch (error) {
      const { code, message } = typedErrorOf(error, context.logger);
      return { ok: false, error_code: code, error_message: message };
    }
  };
  const write = (line: string): Promise<void> => context.terminal.printJsonText(line);
  try {
    await serveLines({ input: process.stdin, write, limits: LIMITS }, handle);
  } finally {
    await database.opened()?.then(
      (opened) => opened.end(),
      () => undefined,
    );
  }
  return EXIT.ok;
};

const unknownMethod = (method: string): Failure =>
  new Failure(
    "INPUT_INVALID",
    `There is no method ${JSON.stringify(method.slice(0, 100))}; there are search and doctor.`,
  );

type Method = (params: Readonly<Record<string, unknown>>) => Promise<unknown>;

const searchParams = z.strictObject({
  text: z.string().max(10_000).transform(cleanForDatabase),
  limit: z.int().min(1).max(200).optional(),
  mode: z.enum(["hybrid", "lexical", "vector"]).optional(),
  path: z.string().max(4_096).optional(),
  source: z.string().max(200).optional(),
  where: z.array(z.string().max(800)).max(20).optional(),
  since: z.string().max(20).optional(),
  until: z.string().max(20).optional(),
});

/** What `query TEXT --explain --json` prints; the parameters are its options. */
function openSearch(context: CommandContext, database: () => Promise<Database>): Method {
  const { config, invocation } = context;
  const openMode = (mode: "hybrid" | "lexical") =>
    openFirst(async () => openFinder(context, await database(), mode));
  const [words, both] = [openMode("lexical"), openMode("hybrid")];
  const search: Method = async (params) => {
    const { text, ...options } = paramsOf(searchParams, params);
    checkWords(text);
    const read = parseSearchOptions({ options: optionsOf(options), cwd: invocation.cwd }, config);
    if (read.kind === "refused") throw new Failure("INPUT_INVALID", read.message);
    const find = await (read.options.mode === "lexical" ? words : both).get();
    const found = await find({ ...read.options, ...parseOperators(text) }, "explain");
    return { ok: true, text, ...foundJson(found) };
  };
  return (params) => withinTime(search(params), SEARCH_MS);
}

/** The values of a list option are known to be texts where the option is read, and nowhere before. */
const optionsOf = (params: object): Invocation["options"] => ({ ...params });

const doctorParams = z.strictObject({ ollama: z.boolean().optional() });

/** What `doctor --json` prints; `{"ollama": false}` is its `--no-ollama`. */
function openDoctor(invocation: Invocation): Method {
  return async (params) => {
    const options = { ...invocation.options, ...paramsOf(doctorParams, params) };
    return checksJson(await withinTime(runChecks({ ...invocation, options }), DOCTOR_MS));
  };
}

/** @throws Failure INPUT_INVALID that names the first parameter that can't be taken */
function paramsOf<T>(schema: z.ZodType<T>, given: unknown): T {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const place = (issue?.path ?? []).map(String).join(".");
  throw new Failure(
    "INPUT_INVALID",
    `params${place === "" ? "" : `.${place}`} can't be taken: ${issue?.message ?? "not valid"}.`,
  );
}
