import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const unreachable = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTCACHED",
  "ENOTFOUND",
  "ERR_SOCKET_TIMEOUT",
  "ETIMEDOUT",
  "FETCH_ERROR",
]);

/**
 * What failed in an npm run and what to do about it.
 * @param {string[]} args npm's arguments
 * @param {number} exitCode
 * @param {string} logs the folder that npm wrote its log into
 * @returns {string} lines for a person; npm's own lines stand above them on the terminal
 */
export function explainInstallFailure(args, exitCode, logs) {
  const code = readErrorCode(logs);
  const what = `npm ${args.join(" ")} failed (exit ${exitCode}${code === null ? "" : `, ${code}`}).`;
  return `${what}\n${adviceFor(code)}\nnpm's full log: ${logs}`;
}

function adviceFor(code) {
  if (unreachable.has(code)) {
    return "The package registry could not be reached. Connect this machine to the network, or name a registry or proxy that it reaches (`npm config set registry URL`, `npm config set proxy URL`), then run the same command again.";
  }
  if (code === "E401" || code === "E403") {
    return "The package registry refused this machine. Log in to it (`npm login`) or name another one (`npm config set registry URL`), then run the same command again.";
  }
  if (code === "E404" || code === "ETARGET") {
    return "The package registry lacks a version that package-lock.json names. Use a registry that has it (`npm config set registry URL`), then run the same command again.";
  }
  if (code === "EUSAGE") {
    return "package.json and package-lock.json do not agree. Run `npm install`, look at what changed in package-lock.json, and commit it.";
  }
  if (code === "ENOSPC")
    return "The disk is full. Free some space, then run the same command again.";
  return "npm's own lines above say why. Mend that, then run the same command again.";
}

function readErrorCode(logs) {
  const text = readdirSync(logs)
    .map((name) => readFileSync(join(logs, name), "utf8"))
    .join("\n");
  return /^\d+ error code (\S+)$/m.exec(text)?.[1] ?? null;
}
