import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { openContext } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { runInterruptible } from "../../shared/terminal/interruptible.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import { downloadFile, planDownload } from "../embedders/fetch/download.ts";
import type { PlannedFile } from "../embedders/fetch/download.ts";
import { readRemoteModel } from "../embedders/fetch/model-hub.ts";
import type { ModelHub } from "../embedders/fetch/model-hub.ts";
import { labelsOf } from "../embedders/transformers/cross-encoder.ts";
import { placesAmong } from "../embedders/transformers/entailment.ts";
import { isForReranking } from "../embedders/transformers/reranker.ts";
import { isCausal } from "../models/transformers.ts";
import {
  modelFolderOf,
  modelPlaceOf,
  OPTIONAL_FILES,
} from "../embedders/transformers/model-files.ts";
import type { Dtype, ModelFolder } from "../embedders/transformers/model-files.ts";
import { parseUrl } from "../../shared/http/parse-url.ts";
import { askToDownload, assertSpace, megabytes } from "./ask-to-download.ts";

const DEFAULT_HOST = "https://huggingface.co";

type Plan = {
  readonly hub: ModelHub;
  readonly commit: string;
  readonly place: ModelFolder;
  readonly folder: string;
  readonly files: readonly PlannedFile[];
};

/**
 * Downloads a model for transformers of model, embed, verify.entailment or retrieve.rerank. No other code downloads such a
 * model.
 */
export const modelsFetch: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const plan = await makePlan(context);
  const { terminal } = context;
  printPlan(terminal, plan);
  const missing = plan.files.filter(({ isThere }) => !isThere);
  const bytes = missing.reduce((sum, file) => sum + file.bytes - file.keptBytes, 0);
  // Each file is first written whole beside its place, even if it replaces another, so it needs its full size.
  await assertSpace(plan.folder, bytes);
  if (missing.length > 0 && !(await askToDownload(context, bytes))) {
    terminal.say("Nothing was downloaded.");
    return EXIT.error;
  }
  await mkdir(plan.place.base, { recursive: true });
  for (const file of missing) await download(terminal, plan, file);
  await printEnd(context, plan);
  return EXIT.ok;
};

async function makePlan({ invocation, config }: CommandContext): Promise<Plan> {
  const { args, options } = invocation;
  const model = checkName(args[0] ?? "");
  const { embed, verify, retrieve } = config;
  const of = [verify.entailment, retrieve.rerank, embed].find(({ model_id }) => model_id === model);
  const dtype = (options["dtype"] ??
    of?.dtype ??
    dtypeOfAnswers(config.model, model) ??
    embed.dtype) as Dtype;
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

/** The precision of a model that `model` names; undefined for any other model. */
const dtypeOfAnswers = (
  { provider, name, fast, big, transformers }: Config["model"],
  model: string,
): Dtype | undefined =>
  provider === "transformers" && [name, fast, big].includes(model) ? transformers.dtype : undefined;

/** Checks the name, because it becomes part of a path and of a URL. */
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

function printPlan(terminal: Terminal, plan: Plan): void {
  const { hub, commit, folder, files } = plan;
  terminal.say(`${hub.model} at ${commit.slice(0, 12)} from ${hub.url} to ${folder}:`);
  for (const { path, bytes, isThere, keptBytes } of files) {
    const kept = keptBytes === 0 ? "" : `  ${megabytes(keptBytes)} are there`;
    terminal.say(`  ${path}  ${megabytes(bytes)}${isThere ? "  is there" : kept}`);
  }
  for (const path of ownFilesOf(plan)) {
    terminal.say(`  ${path}  is there, and not at the host: a language model is used with it`);
  }
}

/** Optional files that are there and not at the host: a language model is loaded with them all the same. */
const ownFilesOf = ({ folder, files }: Plan): readonly string[] =>
  OPTIONAL_FILES.filter(
    (name) => files.every(({ path }) => path !== name) && existsSync(join(folder, name)),
  );

async function download(
  terminal: Terminal,
  { hub, commit, place }: Plan,
  file: PlannedFile,
): Promise<void> {
  let there = file.keptBytes;
  const onInterrupt = () =>
    `Stopped. ${megabytes(there)} of ${file.path} are kept beside its place: give the same command again to go on.`;
  await runInterruptible(terminal, onInterrupt, () =>
    downloadFile({ hub, commit, file, folder: place }, (bytes) => {
      there = bytes;
      terminal.status(`${file.path}  ${megabytes(bytes)} of ${megabytes(file.bytes)}`);
    }),
  );
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
      files: files.map(({ path, bytes, isThere, keptBytes }) => ({
        ...{ path, bytes, downloaded: !isThere, kept_bytes: keptBytes },
      })),
    });
    return;
  }
  await terminal.print(folder);
  terminal.say(usageOf(folder, hub.model));
}

/** How to use a transformers model, by its kind and its labels. */
function usageOf(folder: string, model: string): string {
  if (isCausal(folder))
    return (
      `Use it with model: { provider: transformers, name: ${model} } and its precision in model.transformers.dtype; ` +
      "then run: nightdesk doctor"
    );
  const labels = labelsOf(folder);
  const keys =
    placesAmong(labels) !== undefined
      ? "verify.entailment"
      : isForReranking(labels)
        ? "retrieve.rerank"
        : null;
  return keys === null
    ? `Use it with embed.provider: transformers and embed.model_id: ${model}; then run: nightdesk embed`
    : `Use it with ${keys}: { provider: transformers, model_id: ${model} }; then run: nightdesk doctor`;
}
