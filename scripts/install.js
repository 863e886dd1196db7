import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { findMismatches, holdsOptionalPackages } from "./lock.js";
import { explainInstallFailure } from "./install-failure.js";
import { runScript } from "./phase.js";
import { root } from "./root.js";
import { runCommand } from "./run-command.js";

// Said in full: NODE_ENV=production or an `omit` in somebody's own npm settings would leave the compiler out.
const smallest = ["ci", "--include=dev", "--omit=optional"];
const complete = ["ci", "--include=dev", "--include=optional"];

/**
 * Installs the locked packages when they are not there yet.
 * @param {"build" | "full"} extent "build": what the product is built with and needs (a full installation satisfies it);
 *   "full": also the native bindings of the tests' tools
 * @returns {Promise<"installed" | "unchanged">}
 * @throws {Error} that names what failed and what to do
 */
export async function ensureInstalled(extent) {
  if (isInstalled(extent)) return "unchanged";
  const args = extent === "full" || holdsOptionalPackages(root) ? complete : smallest;
  await runNpm(args);
  if (isInstalled(extent)) return "installed";
  throw new Error(
    `npm ${args.join(" ")} ended well, but the installation is not usable: ${describeDefect()}`,
  );
}

const isInstalled = (extent) =>
  findMismatches(root).length === 0 && (extent === "build" || findBindingFault() === "");

/** The native parts of the test tools are optional packages: only loading them shows that they are there. */
function findBindingFault() {
  const { status, stderr } = spawnSync(
    process.execPath,
    ["-e", 'for (const name of ["@swc/core", "unrs-resolver", "jest"]) require(name);'],
    { cwd: root, encoding: "utf8" },
  );
  if (status === 0) return "";
  return /^(?:\w*Error.*)$/m.exec(stderr)?.[0] ?? `loading them ended with ${status}`;
}

function describeDefect() {
  const missing = findMismatches(root);
  if (missing.length > 0) {
    return `${missing.slice(0, 5).join(", ")} differ from package-lock.json. Remove node_modules and try again.`;
  }
  return `the native parts of @swc/core and unrs-resolver do not load here (${findBindingFault()}). Use a platform that they are published for, such as Linux or macOS on x64 or arm64.`;
}

async function runNpm(args) {
  const logs = mkdtempSync(join(tmpdir(), "nightdesk-npm-"));
  process.stderr.write(`npm ${args.join(" ")}\n`);
  const [command, ...before] = findNpm();
  const exitCode = await runCommand(command, [...before, ...args, `--logs-dir=${logs}`], {
    cwd: root,
    stdio: ["ignore", 2, 2],
  });
  if (exitCode !== 0) throw new Error(explainInstallFailure(args, exitCode, logs));
  rmSync(logs, { recursive: true, force: true });
}

/** The npm that runs this script, if any: a second one on the PATH may be older than the lock file. */
function findNpm() {
  const own = process.env.npm_execpath;
  return own !== undefined && basename(own) === "npm-cli.js" ? [process.execPath, own] : ["npm"];
}

if (process.argv[1] === import.meta.filename) {
  await runScript(async () => {
    process.stderr.write(`install: ${await ensureInstalled("full")}\n`);
    return 0;
  });
}
