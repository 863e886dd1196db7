import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT, printRefusal } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { selectVersions } from "../../shared/store/index/document-versions.ts";
import { selectIndexedDocuments } from "../../shared/views/index-documents.ts";
import { documentJson, documentPage } from "../../shared/views/index-document-page.ts";
import { printPage } from "../print/sections.ts";
import { expandPaths } from "../selection/paths.ts";

/** Prints what the index knows of documents: their date and its source, other versions, how they were read. */
export const indexShow: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal, config } = context;
  const expanded = await expandPaths(invocation.args, config, invocation.cwd);
  if (expanded.kind === "refused") return printRefusal(expanded, invocation);
  const { paths } = expanded;
  return withDatabase(context, "must-exist", async (database) => {
    const documents = await selectIndexedDocuments(database, paths);
    if (documents.length === 0) {
      throw new Failure(
        "NOT_FOUND",
        `The index holds no document ${paths.map((path) => JSON.stringify(path)).join(", ")}. ` +
          "To index what is new: nightdesk index. Why a file could not be: nightdesk sql \"select path, error_message from failures where origin = 'document'\"",
      );
    }
    const versions = await selectVersions(
      database,
      documents.map(({ path }) => path),
    );
    for (const document of documents) {
      const version = versions.get(document.path);
      if (terminal.isJson) await terminal.printJson(documentJson(document, version));
      else await printPage(terminal, documentPage(document, version));
    }
    const missing = paths.length - new Set(documents.map(({ path }) => path)).size;
    if (missing > 0) terminal.say(`Not in the index: ${missing} of ${paths.length} files.`);
    return EXIT.ok;
  });
};
