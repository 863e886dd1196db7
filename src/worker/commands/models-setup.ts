import { mkdir } from "node:fs/promises";
import { openContext } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import { askForYes } from "../../shared/commands/ask-for-yes.ts";
import { ownEnvironment, runChild } from "../child-process.ts";
import type { ChildEnd } from "../child-process.ts";
import { findPackage, OCR_PACKAGES, ocrFolderOf } from "../ocr/packages.ts";
import type { OcrPackage } from "../ocr/packages.ts";
import { assertSpace, megabytes } from "./ask-to-download.ts";

/** Installs the optional packages that read pictures of pages, beside the models. A second call does nothing. */
export const modelsSetup: CommandHandler = async (invocation) => {
  const [what = ""] = invocation.args;
  if (what !== "ocr") {
    throw new Failure("USAGE_ERROR", `${JSON.stringify(what)} can't be set up: expected ocr.`);
  }
  const context = await openContext(invocation);
  const { terminal } = context;
  const folder = ocrFolderOf(context.config);
  const packages = OCR_PACKAGES.map((each) => ({ ...each, place: findPackage(each, folder) }));
  for (const { name, version, bytes, place } of packages) {
    terminal.say(
      `  ${name} ${version}  ${megabytes(bytes)}${place === undefined ? "" : "  is there"}`,
    );
  }
  const missing = packages.filter(({ place }) => place === undefined);
  const bytes = missing.reduce((sum, each) => sum + each.bytes, 0);
  if (missing.length > 0) {
    await assertSpace(folder, bytes);
    const question = `Install ${missing.length} packages, ${megabytes(bytes)}, into ${folder}?`;
    if (!(await askForYes(invocation, question, "these may be installed"))) {
      terminal.say("Nothing was installed.");
      return EXIT.error;
    }
    await install(context, folder, missing);
  }
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ok: true,
      folder,
      packages: packages.map(({ name, version, bytes: size, place }) => ({
        ...{ name, version, bytes: size, installed: place === undefined },
      })),
    });
  } else await terminal.print(folder);
  return EXIT.ok;
};

async function install(
  { invocation, terminal }: CommandContext,
  folder: string,
  missing: readonly OcrPackage[],
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const say = (line: string) => {
    terminal.status(line);
  };
  const ended = await runNpm(
    [
      ...["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund"],
      ...["--save-exact", "--loglevel", "http", "--fetch-retries", "1"],
      ...missing.map(({ name, version }) => `${name}@${version}`),
    ],
    { cwd: folder, env: invocation.env, onMessage: say },
  );
  terminal.clearStatus();
  const lacking = missing.filter((each) => findPackage(each, folder) === undefined);
  if (lacking.length === 0) return;
  const said = ended.messages.findLast((line) => /^npm (?:ERR!|error)/.test(line)) ?? "";
  throw new Failure(
    "OCR_MISSING",
    `npm ended with ${ended.code ?? ended.signal ?? "a signal"} and did not install ` +
      `${lacking.map(({ name }) => name).join(", ")}. ${said} Mend that, and give the command again.`,
  );
}

type NpmOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onMessage: (line: string) => void;
};

async function runNpm(args: readonly string[], options: NpmOptions): Promise<ChildEnd> {
  const { env } = options;
  try {
    return await runChild(
      { ...options, file: "npm", args, env: { ...ownEnvironment(env), ...registryOf(env) } },
      new AbortController().signal,
    );
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    throw new Failure(
      "OCR_MISSING",
      `There is no npm on the PATH. Install the packages beside Nightdesk: npm install ${OCR_PACKAGES.map(({ name, version }) => `${name}@${version}`).join(" ")}`,
    );
  }
}

/** The variables that configure npm's registry and proxies. */
const registryOf = (env: NpmOptions["env"]): NpmOptions["env"] =>
  Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(?:npm_config_|https?_proxy$|no_proxy$)/i.test(name)),
  );
