import type { BatchFormat } from "../../shared/db/jobs/batch-format.ts";
import { parseLine } from "./parse-line.ts";
import type { LineContext, ParsedLine } from "./parse-line.ts";
import type { Line } from "./read-lines.ts";

/** A name that nothing here stands for, and the line that first holds it. */
export type UnknownModel = { readonly name: string; readonly line: number };

/** Parses the lines of one file. The first that is an object tells the format of all, unless it is given. */
export type LineParser = {
  parse(line: Line): ParsedLine;
  /** Of the lines so far. */
  format(): BatchFormat;
  /** Model names of the file that are not known, in the order of their lines; the first fifty. */
  unknownModels(): readonly UnknownModel[];
};

const MOST_NAMES = 50;

export function createLineParser(context: LineContext): LineParser {
  let { format } = context;
  const unknown = new Map<string, UnknownModel>();
  return {
    parse(line) {
      const { parsed, format: told } = parseLine(line, { ...context, format });
      format = told;
      if (!parsed.ok && parsed.unknownModel !== undefined && unknown.size < MOST_NAMES) {
        const { unknownModel: name, number } = parsed;
        if (!unknown.has(name)) unknown.set(name, { name, line: number });
      }
      return parsed;
    },
    format: () => format ?? "native",
    unknownModels: () => [...unknown.values()],
  };
}

/** Lines that Nightdesk itself writes: all native. @param affinityOf the model that will answer, or "" */
export const nativeLines = (affinityOf: LineContext["affinityOf"]): LineParser =>
  createLineParser({ format: "native", models: NO_NAMES, affinityOf });

const NO_NAMES: LineContext["models"] = {
  ofChat: () => undefined,
  isEmbedder: () => false,
  isOverridden: false,
  known: [],
};
