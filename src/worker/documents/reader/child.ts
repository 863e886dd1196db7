import { hasCode } from "../../../shared/store/connection/errors.ts";
import { endWithParent, firstLineOf } from "../../forked-process.ts";
import type { Unreadable } from "../extraction.ts";
import type { Fault, ReaderRequest } from "./reading-process.ts";
import { NoText } from "./text-builder.ts";

// The process that runs third-party parsers: reading-process.ts starts it and sends requests as messages. It prints nothing.

type Read = (bytes: Buffer, limits: unknown) => unknown;

async function handleRequest({ home, name, bytes, limits }: ReaderRequest): Promise<unknown> {
  const exported = (await import(home)) as Readonly<Record<string, unknown>>;
  const read = exported[name];
  if (typeof read !== "function") throw new TypeError(`${home} exports no function ${name}`);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return await (read as Read)(buffer, limits);
  } catch (error) {
    if (error instanceof NoText) {
      const { code, message, scan } = error;
      const why = { kind: "unreadable", code, why: message, lasts: "always", ...scan } as const;
      return why satisfies Unreadable;
    }
    if (hasCode(error, "ERR_MODULE_NOT_FOUND")) throw error;
    // The message of the error may quote the text, so only its name is used.
    const what = error instanceof Error ? error.name : "an error";
    return {
      kind: "unreadable",
      code: "FILE_FORMAT_INVALID",
      why: `is not what its ending says, or broken (${what}): save it anew with the program that made it.`,
      // An error of the operating system, such as too many open files, says nothing about these bytes.
      lasts: error instanceof Error && "syscall" in error ? "never" : "always",
    } satisfies Unreadable;
  }
}

endWithParent();
// A parser that rejects a promise nobody awaits must not end the process before it replies.
process.on("unhandledRejection", () => undefined);
process.send?.("ready");
process.on("message", (request: ReaderRequest) => {
  void handleRequest(request).then(
    (reply) => process.send?.(reply),
    // A fault of Nightdesk, which must not be reported as one of the file.
    (error: unknown) => process.send?.({ kind: "fault", what: firstLineOf(error) } satisfies Fault),
  );
});
