import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { Invocation } from "../../shared/commands/command.ts";
import type { Database } from "../../shared/db/database.ts";
import { Failure } from "../../shared/failure.ts";

/**
 * Runs a command of the durable memory on its open database.
 * @throws Failure MEMORY_ERROR where memory.enabled is false
 */
export async function withMemory<T>(
  invocation: Invocation,
  body: (context: CommandContext, database: Database) => Promise<T>,
): Promise<T> {
  const context = await openContext(invocation);
  if (!context.config.memory.enabled) {
    throw new Failure(
      "MEMORY_ERROR",
      `The durable memory is switched off: memory.enabled is false. Set it to true in ${context.config.file} to use it.`,
    );
  }
  return withDatabase(context, "must-exist", (database) => body(context, database));
}
