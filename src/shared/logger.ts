import { createRequire } from "node:module";
import type pino from "pino";
import { prettyLine } from "./terminal/pretty-line.ts";
import { isStorageFault } from "./store/connection/errors.ts";
import { escapeInJson } from "./terminal/styled-text.ts";

export type Logger = pino.Logger;

const require = createRequire(import.meta.url);

/**
 * JSON lines on stderr, pretty on a terminal. Errors go under `err`; document text, prompts and credentials
 * never go into a log. Lines are written at once, so that the last one before a crash is there.
 */
export function createLogger(level: string, style: "json" | "pretty"): Logger {
  // Loaded by whoever logs, which most commands do not.
  const create = require("pino") as typeof pino;
  const options: pino.LoggerOptions = {
    level,
    base: style === "json" ? { pid: process.pid } : null,
    timestamp: create.stdTimeFunctions.isoTime,
    serializers: { err: (error: Error) => loggedError(create.stdSerializers.err(error)) },
    redact: ["*.password", "*.authorization", "*.connectionString"],
  };
  const stderr = create.destination({ fd: 2, sync: true });
  stderr.on("error", forgoLines);
  const written = style === "json" ? escapeInJson : prettyLine;
  return create(options, { write: (line) => stderr.write(written(line)) });
}

/** A log on a full disk loses lines, and never ends its process. */
function forgoLines(error: Error): void {
  if (!isStorageFault(error)) throw error;
}

/**
 * An error as a log shows it. pg hangs its whole client on the error of an idle connection, and with it the statements
 * that waited there and their values, which may hold text of documents.
 * @param serialized what pino makes of the error
 */
export const loggedError = (
  serialized: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(serialized).filter(([name]) => name !== "client"));
