import { createRequire } from "node:module";
import type pino from "pino";
import type pretty from "pino-pretty";
import { loggedError } from "./logged-error.ts";

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
    base: { pid: process.pid },
    timestamp: create.stdTimeFunctions.isoTime,
    serializers: { err: (error: Error) => loggedError(create.stdSerializers.err(error)) },
    redact: ["*.password", "*.authorization", "*.connectionString"],
  };
  if (style === "json") return create(options, create.destination({ fd: 2, sync: true }));
  const openPretty = require("pino-pretty") as typeof pretty;
  return create(
    options,
    openPretty({ destination: 2, sync: true, ignore: "pid", translateTime: "SYS:HH:MM:ss" }),
  );
}
