import type { CommandContext } from "../../shared/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Refusal } from "../../shared/failure.ts";

/** A refusal of the command itself, told as a failure is. @returns the exit code */
export async function printRefusal(
  { terminal, invocation }: CommandContext,
  { code, message }: Refusal,
): Promise<number> {
  if (invocation.options["json"] === true)
    await terminal.printJson({ ok: false, error_code: code, error_message: message });
  else terminal.say(`nightdesk: ${code}: ${message}`);
  return EXIT.refused;
}
