import { rm } from "node:fs/promises";
import { DUPLICATE_FILE, hasCode } from "../shared/db/error-code.ts";
import { commandComplete, errorResponse, readyForQuery } from "./backend-messages.ts";
import { dataPath } from "./open-directory.ts";
import type { EmbeddedCommand } from "./read-command.ts";
import type { Session } from "./session.ts";
import { copyData, writeCheckpoint, writeDump } from "./write-dump.ts";

const answer = (message: Buffer): Buffer => Buffer.concat([message, readyForQuery("I")]);

const failed = (code: string, message: string): Buffer =>
  answer(errorResponse({ severity: "ERROR", code, message }));

/**
 * Copies the data in the client's turn. The packing that is left needs no turn: what it resolves to is the answer
 * for the client. Only outside of a transaction.
 */
export async function runCommand(
  command: EmbeddedCommand,
  session: Session,
  directory: string,
): Promise<() => Promise<Buffer>> {
  if (command.kind === "invalid") {
    const message =
      "nightdesk backup [replace] '<absolute file>' and nightdesk checkpoint are the commands of the embedded database";
    return async () => failed("42601", message);
  }
  try {
    await session.checkpoint();
    const copy = await copyData(dataPath(directory));
    return () => finish(command, copy, directory);
  } catch (error) {
    return async () => failed("58030", `the dump could not be made: ${textOf(error)}`);
  }
}

async function finish(
  command: Exclude<EmbeddedCommand, { kind: "invalid" }>,
  copy: string,
  directory: string,
): Promise<Buffer> {
  try {
    if (command.kind === "backup") await writeDump(copy, command.file, command.existing);
    else await writeCheckpoint(copy, directory);
    return answer(commandComplete(command.kind.toUpperCase()));
  } catch (error) {
    if (hasCode(error, "EEXIST"))
      return failed(DUPLICATE_FILE, "a file is there already, and is kept");
    return failed("58030", `the dump could not be written: ${textOf(error)}`);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
