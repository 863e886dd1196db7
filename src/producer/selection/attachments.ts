import { withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { isAttachmentHolder } from "../../shared/files/attachment-path.ts";
import { selectAttachmentsOf } from "../../shared/store/index/documents.ts";
import { countOf } from "../../shared/views/quantity.ts";

/**
 * With --attachments, adds after each mail the attachments that the index knows; without the option, returns the paths.
 * The result has no duplicates.
 */
export async function withAttachmentsOf(
  context: CommandContext,
  paths: readonly string[],
): Promise<readonly string[]> {
  const { terminal, invocation } = context;
  if (invocation.options["attachments"] !== true) return paths;
  const mails = paths.filter(isAttachmentHolder);
  const held =
    mails.length === 0
      ? new Map<string, readonly string[]>()
      : await withDatabase(context, "create", (database) => selectAttachmentsOf(database, mails));
  const found = [...held.values()].reduce((sum, each) => sum + each.length, 0);
  terminal.say(`${countOf(found, "attachment")} in ${countOf(mails.length, "mail")}.`);
  const unindexed = mails.filter((mail) => !held.has(mail)).length;
  if (unindexed > 0) {
    terminal.say(
      `Mails whose attachments are not known, because they are not in the index: ${unindexed}. To have them: nightdesk index`,
    );
  }
  return [...new Set(paths.flatMap((path) => [path, ...(held.get(path) ?? [])]))];
}
