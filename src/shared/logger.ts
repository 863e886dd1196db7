import { createRequire } from "node:module";
import type pino from "pino";
import { prettyLine } from "./terminal/pretty-line.ts";
import { isStorageFault } from "./store/connection/errors.ts";
import { escapeInJson } from "./terminal/styled-text.ts";

export type Logger = pino.Logger;

const require = createRequire(import.meta.url);

/**
 * Logs JSON lines on stderr, formatted on a terminal. Errors go under `err`; document text, prompts and credentials are never
 * logged. Lines are written synchronously, so that the last one before a crash is there.
 */
export function createLogger(level: string, style: "json" | "pretty"): Logger {
  // Loaded on first use: most commands do not log.
  const create = require("pino") as typeof pino;
  const options: pino.LoggerOptions = {
    level,
    base: style === "json" ? { pid: process.pid } : null,
    timestamp: create.stdTimeFunctions.isoTime,
    // What is no error stays as it is, such as null.
    serializers: {
      err: (error: Error | null) => error && loggedError(create.stdSerializers.err(error)),
    },
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
 * An error for the log. pg attaches its whole client to the error of an idle connection, with the waiting statements and their
 * values, which may contain text of documents.
 * @param serialized pino's form of the error
 */
export const loggedError = (
  serialized: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(serialized).filter(([name]) => name !== "client"));
