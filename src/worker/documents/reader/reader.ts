import type {
  Extraction,
  Extractor,
  ReaderFunction,
  ReadInChild,
  Unreadable,
} from "../extraction.ts";
import { openReadingProcess } from "./reading-process.ts";
import type { ProcessLimits, ReaderRequest } from "./reading-process.ts";
import type { TextLimits } from "./text-builder.ts";

export type ReaderLimits = ProcessLimits & { readonly text: TextLimits };

/** An extractor that runs a reader in the child process. */
export const inChild = (version: string, reader: ReaderFunction): Extractor => ({
  version,
  extract: (bytes, read, encoding) => read(reader, bytes, encoding),
});

/**
 * Opens a process for the parsers, as `openReadingProcess` does.
 * @param procFolder see `watchResidentBytes`
 */
export function openDocumentReader(limits: ReaderLimits, procFolder?: string): ReadInChild {
  const { read } = openReadingProcess(limits, procFolder);
  return async (reader, bytes, encoding) => {
    const request = { ...reader, bytes, limits: { ...limits.text, encoding } };
    const outcome = await read<Extraction>(request);
    return outcome.kind === "replied" ? outcome.reply : REASONS[outcome.how](limits);
  };
}

/**
 * Runs one request in a process of its own, which ends after the reply.
 * @throws Failure TOOL_ERROR if the process can't be started, or the function can't be loaded
 */
export async function readOnceInChild<Reply extends object>(
  request: ReaderRequest,
  limits: ProcessLimits,
): Promise<Reply | Unreadable> {
  const { read, close } = openReadingProcess(limits);
  try {
    const outcome = await read<Reply>(request);
    return outcome.kind === "replied" ? outcome.reply : REASONS[outcome.how](limits);
  } finally {
    close();
  }
}

const MEGABYTE = 1_000_000;

/** The refusal for each way to end. A busy machine can cause any of them; a crash can also be a kill from outside. */
const REASONS: Readonly<
  Record<"time" | "memory" | "crash", (limits: ProcessLimits) => Unreadable>
> = {
  time: ({ timeoutMs }) => ({
    kind: "unreadable",
    code: "FILE_TOO_LARGE",
    why: `takes longer to read than ${timeoutMs / 1_000} s: split it, or raise documents.reader.timeout_s.`,
    lasts: "perhaps",
  }),
  memory: ({ memoryBytes }) => ({
    kind: "unreadable",
    code: "FILE_TOO_LARGE",
    why: `takes more memory to read than ${memoryBytes / MEGABYTE} MB: split it, or raise documents.reader.memory_mb.`,
    lasts: "perhaps",
  }),
  crash: () => ({
    kind: "unreadable",
    code: "FILE_FORMAT_INVALID",
    why: "ended the process that read it, twice: save it anew with the program that made it.",
    lasts: "never",
  }),
};
