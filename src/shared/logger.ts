import pino from "pino";

export type Logger = pino.Logger;

/**
 * JSON lines on stderr, pretty on a terminal. Errors go under `err`; document text, prompts and credentials
 * never go into a log.
 */
export function createLogger(level: string, style: "json" | "pretty"): Logger {
  const options: pino.LoggerOptions = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ["*.password", "*.authorization", "*.connectionString"],
  };
  if (style === "json") return pino(options, pino.destination({ fd: 2, sync: true }));
  return pino({
    ...options,
    transport: {
      target: "pino-pretty",
      options: { destination: 2, ignore: "pid", translateTime: "SYS:HH:MM:ss" },
    },
  });
}
