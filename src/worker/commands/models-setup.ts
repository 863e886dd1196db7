import { execFile } from "node:child_process";
import type { ExecFileException } from "node:child_process";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { openContext } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { isRecord, parseJson } from "../../shared/json-value.ts";
import type { GpuKind } from "../../shared/providers.ts";
import { LANGUAGE_MODEL } from "../models/llama-cpp/llama-cpp.ts";
import { startModelProcess } from "../models/llama-cpp/model-process.ts";
import { findRuntime, RUNTIME, runtimeFolderOf } from "../models/llama-cpp/runtime.ts";
import { askToDownload, assertSpace, megabytes } from "./ask-to-download.ts";

/** By platform and architecture of Node, the package with the binary for each kind of processor. */
const BINARIES: Readonly<Record<string, Partial<Record<GpuKind, string>>>> = {
  "linux-x64": {
    off: "@node-llama-cpp/linux-x64",
    cuda: "@node-llama-cpp/linux-x64-cuda",
    vulkan: "@node-llama-cpp/linux-x64-vulkan",
  },
  "linux-arm64": { off: "@node-llama-cpp/linux-arm64" },
  "darwin-arm64": {
    off: "@node-llama-cpp/mac-arm64-metal",
    metal: "@node-llama-cpp/mac-arm64-metal",
  },
  "darwin-x64": { off: "@node-llama-cpp/mac-x64" },
};

/** Measured of 3.22.1, for registries that do not tell, as mirrors do: bytes on disk. */
const MEASURED: Readonly<Record<string, number>> = {
  [RUNTIME.name]: 41_000_000,
  "@node-llama-cpp/linux-x64": 30_400_000,
};
/** What the library depends on, by the same measure. */
const DEPENDENCIES_BYTES = 14_000_000;
const VIEW_TIMEOUT_MS = 60_000;
const INSTALL_TIMEOUT_MS = 20 * 60_000;
const TRY_TIMEOUT_MS = 60_000;

type Plan = {
  readonly folder: string;
  readonly packages: readonly string[];
  readonly gpu: GpuKind;
  /** What it takes on disk; null where nobody tells. */
  readonly bytes: number | null;
};

/** Installs the runtime of provider llama-cpp into a folder of its own: it is no dependency, because few need it. */
export const modelsSetup: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  if (invocation.args[0] !== "llama-cpp") {
    throw new Failure(
      "USAGE_ERROR",
      `There is no runtime ${JSON.stringify(invocation.args[0] ?? "")} to set up. Expected: nightdesk models setup llama-cpp`,
    );
  }
  const plan = await makePlan(context);
  const size =
    plan.bytes === null
      ? "of a size that the registry does not tell"
      : `about ${megabytes(plan.bytes)}`;
  terminal.say(`${plan.packages.join(" and ")}, ${size} with what they need, to ${plan.folder}`);
  const key = "model.llama_cpp.runtime";
  await assertSpace(dirname(plan.folder), { what: "runtime", bytes: plan.bytes, key });
  if (!(await askToDownload(context, plan.bytes))) {
    terminal.say("Nothing was installed.");
    return EXIT.error;
  }
  terminal.status("Installing");
  await install(plan);
  terminal.status("Trying it");
  const processor = await tryRuntime(plan);
  terminal.clearStatus();
  if (invocation.options["json"] === true) {
    const { folder, packages } = plan;
    await terminal.printJson({ ok: true, folder, packages, processor });
    return EXIT.ok;
  }
  await terminal.print(plan.folder);
  terminal.say(
    `It runs here, on ${processor}. Next: nightdesk models fetch OWNER/NAME --gguf FILE, and model.provider: llama-cpp`,
  );
  return EXIT.ok;
};

async function makePlan({ invocation, config }: CommandContext): Promise<Plan> {
  const gpu = (invocation.options["gpu"] ?? "off") as GpuKind;
  const machine = `${process.platform}-${process.arch}`;
  const binary = BINARIES[machine]?.[gpu];
  if (binary === undefined) {
    const kinds = Object.keys(BINARIES[machine] ?? {});
    throw new Failure(
      "USAGE_ERROR",
      kinds.length === 0
        ? `There is no build of ${RUNTIME.name} for ${machine}. Use a model server instead: model.provider: openai-compatible`
        : `There is no build of ${RUNTIME.name} for ${gpu} on ${machine}; there is one for ${kinds.join(", ")}. Give --gpu.`,
    );
  }
  // Linux on musl takes the same package, whose library then does not load: trying it says so.
  const extra = gpu === "cuda" ? [`${binary}-ext`] : [];
  const names = [RUNTIME.name, binary, ...extra];
  const packages = names.map((name) => `${name}@${RUNTIME.version}`);
  const sizes = await Promise.all(names.map(sizeOf));
  const bytes = sizes.reduce<number | null>(
    (sum, size) => (sum === null || size === null ? null : sum + size),
    DEPENDENCIES_BYTES,
  );
  return { folder: runtimeFolderOf(config), packages, gpu, bytes };
}

/** Bytes of a package on disk, as the registry tells or as they were measured; null where neither does. */
async function sizeOf(name: string): Promise<number | null> {
  const of = ["view", `${name}@${RUNTIME.version}`, "dist.unpackedSize", "--json"];
  // npm would try for more than a minute, and nobody has said yes to anything yet.
  const size = parseJson(await npm([...of, "--fetch-retries=0"], VIEW_TIMEOUT_MS));
  return typeof size === "number" ? size : (MEASURED[name] ?? null);
}

/** Beside its place, so that there stands a whole one or none; an earlier one is replaced when the new one is there. */
async function install({ folder, packages }: Plan): Promise<void> {
  const beside = `${folder}.installing-${process.pid}`;
  const former = `${folder}.former-${process.pid}`;
  await rm(beside, { recursive: true, force: true });
  await mkdir(beside, { recursive: true });
  try {
    await writeFile(join(beside, "package.json"), JSON.stringify({ private: true }));
    await npm(
      [
        "install",
        "--prefix",
        beside,
        // Nothing of it is run, and no build for a processor that was not asked for comes along.
        "--ignore-scripts",
        "--omit=optional",
        "--no-audit",
        "--no-fund",
        "--save-exact",
        ...packages,
      ],
      INSTALL_TIMEOUT_MS,
    );
    await rename(folder, former).catch((error: unknown) => {
      if (!isRecord(error) || error["code"] !== "ENOENT") throw error;
    });
    await rename(beside, folder);
  } finally {
    await rm(beside, { recursive: true, force: true });
    await rm(former, { recursive: true, force: true });
  }
}

/** @throws Failure MODEL_NOT_FOUND for a build that does not run on this machine */
async function tryRuntime({ folder, gpu }: Plan): Promise<string> {
  const runtime = findRuntime(folder);
  if (runtime === undefined) {
    throw new Failure("MODEL_NOT_FOUND", `npm installed no ${RUNTIME.name} into ${folder}.`);
  }
  const load = {
    kind: "load",
    library: runtime.library,
    file: null,
    task: "complete",
    windowTokens: 0,
    parallel: 1,
    gpu,
    threads: null,
  } as const;
  const tried = await startModelProcess(
    {
      name: "llama-cpp",
      role: LANGUAGE_MODEL,
      load,
      loadTimeoutMs: TRY_TIMEOUT_MS,
      memoryBytes: null,
      execArgv: process.execArgv,
    },
    new AbortController().signal,
  );
  tried.close();
  return tried.ready.processor;
}

const run = promisify(execFile);
const MOST_OUTPUT_BYTES = 10_000_000;

/** @returns what it writes to stdout @throws Failure TOOL_ERROR without npm; MODEL_UNREACHABLE with npm's words */
async function npm(args: readonly string[], timeoutMs: number): Promise<string> {
  try {
    const { stdout } = await run("npm", args, { timeout: timeoutMs, maxBuffer: MOST_OUTPUT_BYTES });
    return stdout;
  } catch (error) {
    const { code, killed, stderr = "", message } = error as ExecFileException;
    if (typeof code === "string" && stderr === "") {
      throw new Failure(
        "TOOL_ERROR",
        `npm could not be started (${message}). It comes with Node.js.`,
      );
    }
    const how =
      killed === true
        ? `was ended after ${timeoutMs / 1_000} s`
        : `ended with status ${String(code)}`;
    throw npmFailed(args[0] ?? "", how, stderr);
  }
}

function npmFailed(command: string, how: string, stderr: string): Failure {
  const lines = stderr.split("\n").filter((line) => line.startsWith("npm error"));
  const words = lines.slice(0, 3).join(" ").replaceAll("npm error ", "").slice(0, 300);
  return new Failure(
    "MODEL_UNREACHABLE",
    `npm ${command} ${how} (${words || "without a reason"}). Is its registry reachable? Nothing was installed.`,
  );
}
