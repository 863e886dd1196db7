import pino from "pino";

export type Logger = pino.Logger;

/**
 * JSON lines on stderr, pretty on a terminal. Errors go under `err`; document text, prompts and credentials
 * never go into a log. Lines are written at once, so that the last one before a crash is there.
 */
export async function createLogger(level: string, style: "json" | "pretty"): Promise<Logger> {
  const options: pino.LoggerOptions = {
    level,
    base: { pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: ["*.password", "*.authorization", "*.connectionString"],
  };
  if (style === "json") return pino(options, pino.destination({ fd: 2, sync: true }));
  // Loaded only where a person reads.
  const { default: pretty } = await import("pino-pretty");
  return pino(
    options,
    pretty({ destination: 2, sync: true, ignore: "pid", translateTime: "SYS:HH:MM:ss" }),
  );
}
