import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import { openContext } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { downloadFile, planDownload } from "../embedders/fetch/download.ts";
import type { PlannedFile } from "../embedders/fetch/download.ts";
import { readRemoteModel } from "../embedders/fetch/model-hub.ts";
import type { ModelHub } from "../embedders/fetch/model-hub.ts";
import { readLabels } from "../embedders/transformers/entailment.ts";
import { modelFolderOf, modelPlaceOf } from "../embedders/transformers/model-files.ts";
import type { Dtype, ModelFolder } from "../embedders/transformers/model-files.ts";
import { parseUrl } from "../../shared/parse-url.ts";

const DEFAULT_HOST = "https://huggingface.co";

type Plan = {
  readonly hub: ModelHub;
  readonly commit: string;
  readonly place: ModelFolder;
  readonly folder: string;
  readonly files: readonly PlannedFile[];
};

/** Downloads a model for `provider: transformers` of embed or verify.entailment: the only way that one ever gets here. */
export const modelsFetch: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const plan = await makePlan(context);
  const { terminal } = context;
  printPlan(terminal, plan);
  const missing = plan.files.filter(({ isThere }) => !isThere);
  if (missing.length > 0 && !(await isAllowed(context, missing))) {
    terminal.say("Nothing was downloaded.");
    return EXIT.error;
  }
  for (const file of missing) await download(terminal, plan, file);
  await printEnd(context, plan);
  return EXIT.ok;
};

async function makePlan({ invocation, config }: CommandContext): Promise<Plan> {
  const { args, options } = invocation;
  const model = checkName(args[0] ?? "");
  const { embed, verify } = config;
  const of = [verify.entailment, embed].find(({ model_id }) => model_id === model);
  const dtype = (options["dtype"] ?? of?.dtype ?? embed.dtype) as Dtype;
  const settings = {
    model_id: model,
    cache_dir: embed.cache_dir,
    local_model_path: of?.local_model_path ?? null,
  };
  const place = modelPlaceOf(settings, config.roots.workroot);
  const folder = modelFolderOf(settings, config.roots.workroot);
  const url = checkHost(String(options["host"] ?? DEFAULT_HOST));
  const hub = { url, model, revision: String(options["revision"] ?? "main") };
  const remote = await readRemoteModel(hub);
  const files = await planDownload(remote, model, dtype, place);
  return { hub, commit: remote.commit, place, folder, files };
}

/** The name becomes part of a path and of an address. */
function checkName(name: string): string {
  const words = name.split("/");
  const isName = words.length <= 2 && words.every((word) => /^[A-Za-z0-9][\w.-]*$/.test(word));
  if (isName && !name.includes("..")) return name;
  throw new Failure(
    "USAGE_ERROR",
    `${JSON.stringify(name)} is no name of a model: expected OWNER/NAME, like Xenova/all-MiniLM-L6-v2.`,
  );
}

function checkHost(host: string): string {
  const url = parseUrl(host);
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.search === "") {
    return url.href.replace(/\/+$/, "");
  }
  throw new Failure(
    "USAGE_ERROR",
    "--host expects an address like https://mirror.example, without a name or a password in it.",
  );
}

function printPlan(terminal: Terminal, { hub, commit, folder, files }: Plan): void {
  terminal.say(`${hub.model} at ${commit.slice(0, 12)} from ${hub.url} to ${folder}:`);
  for (const { path, bytes, isThere } of files) {
    terminal.say(`  ${path}  ${megabytes(bytes)}${isThere ? "  is there" : ""}`);
  }
}

async function isAllowed(
  { invocation, terminal }: CommandContext,
  missing: readonly PlannedFile[],
): Promise<boolean> {
  if (invocation.options["yes"] === true) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Failure(
      "USAGE_ERROR",
      "There is no terminal to ask on whether this may be downloaded. Give --yes to allow it.",
    );
  }
  const bytes = missing.reduce((sum, file) => sum + file.bytes, 0);
  terminal.clearStatus();
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  // The end of the input, and Ctrl-C, are an answer too.
  const left = once(prompt, "close").then(() => "");
  const answer = await Promise.race([
    prompt.question(`Download ${megabytes(bytes)}? [y/N] `),
    left,
  ]);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function download(
  terminal: Terminal,
  { hub, commit, place }: Plan,
  file: PlannedFile,
): Promise<void> {
  await downloadFile({ hub, commit, file, folder: place }, (bytes) => {
    terminal.status(`${file.path}  ${megabytes(bytes)} of ${megabytes(file.bytes)}`);
  });
  terminal.clearStatus();
  if (!terminal.isInteractive) terminal.say(`${file.path}: downloaded`);
}

async function printEnd({ invocation, terminal }: CommandContext, plan: Plan): Promise<void> {
  const { hub, commit, folder, files } = plan;
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ok: true,
      model: hub.model,
      host: hub.url,
      commit,
      folder,
      files: files.map(({ path, bytes, isThere }) => ({ path, bytes, downloaded: !isThere })),
    });
    return;
  }
  await terminal.print(folder);
  const isForEntailment = readLabels(folder).places !== undefined;
  terminal.say(
    isForEntailment
      ? `Use it with verify.entailment: { provider: transformers, model_id: ${hub.model} }; then run: nightdesk doctor`
      : `Use it with embed.provider: transformers and embed.model_id: ${hub.model}; then run: nightdesk embed`,
  );
}

const megabytes = (bytes: number): string =>
  bytes < 100_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
