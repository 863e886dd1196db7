import { hasCode } from "../../../shared/store/connection/errors.ts";
import { endWithParent, firstLineOf } from "../../forked-process.ts";
import type { Unreadable } from "../extraction.ts";
import type { Fault, ReaderRequest } from "./reading-process.ts";
import { NoText } from "./text-builder.ts";

// The process that reads formats with parsers of others: started by reader.ts, told by messages, silent otherwise.

type Read = (bytes: Buffer, limits: unknown) => unknown;

async function answer({ home, name, bytes, limits }: ReaderRequest): Promise<unknown> {
  const exported = (await import(home)) as Readonly<Record<string, unknown>>;
  const read = exported[name];
  if (typeof read !== "function") throw new TypeError(`${home} exports no function ${name}`);
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return await (read as Read)(buffer, limits);
  } catch (error) {
    if (error instanceof NoText) {
      const { code, message, pictured } = error;
      const why = { kind: "unreadable", code, why: message, lasts: "always", pictured } as const;
      return why satisfies Unreadable;
    }
    if (hasCode(error, "ERR_MODULE_NOT_FOUND")) throw error;
    // Its words may repeat the text that it stumbled over.
    const what = error instanceof Error ? error.name : "an error";
    return {
      kind: "unreadable",
      code: "FILE_FORMAT_INVALID",
      why: `is not what its ending says, or broken (${what}): save it anew with the program that made it.`,
      // One of the operating system, such as that no file can be opened any more, says nothing of these bytes.
      lasts: error instanceof Error && "syscall" in error ? "never" : "always",
    } satisfies Unreadable;
  }
}

endWithParent();
// A parser that throws where nobody waits must not stand between its file and an answer.
process.on("unhandledRejection", () => undefined);
process.send?.("ready");
process.on("message", (request: ReaderRequest) => {
  void answer(request).then(
    (reply) => process.send?.(reply),
    // A fault of ours, of which no file is to be told.
    (error: unknown) => process.send?.({ kind: "fault", what: firstLineOf(error) } satisfies Fault),
  );
});
