import { dirname, join, resolve } from "node:path";
import { configRequestOf, openTerminalOf } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import {
  isPlainWorkspace,
  keepFolderConfig,
  makeFolderConfig,
} from "../../shared/config/make-folder-config.ts";
import { loadConfig } from "../../shared/config/load-config.ts";
import {
  FILE_NAME,
  selectConfigFile,
  entryExists,
  stateOfFolder,
} from "../../shared/config/select-config-file.ts";
import type { ConfigRequest } from "../../shared/config/select-config-file.ts";
import { Failure } from "../../shared/failure.ts";

/** Writes the configuration of a document folder into that folder, where the user can change it. */
export const init: CommandHandler = async (invocation) => {
  const request = configRequestOf(invocation);
  const folder = await folderOf(request);
  if (entryExists(join(folder, FILE_NAME)) || isPlainWorkspace(folder)) {
    const text = `${JSON.stringify(folder)} has a configuration or a database of its own already: nightdesk config show`;
    throw new Failure("INPUT_INVALID", text);
  }
  const state = stateOfFolder(folder, request.env);
  const isMade = state !== undefined && entryExists(join(state, FILE_NAME));
  const size = invocation.options["yes"] === true ? "any" : "usual";
  const made = isMade ? { folder, state } : await makeFolderConfig(folder, request, size);
  const file = await keepFolderConfig(made, request);
  const terminal = openTerminalOf(invocation);
  if (invocation.options["json"] === true)
    await terminal.printJson({ ok: true, file, state: made.state });
  else {
    await terminal.print(file);
    terminal.say(`Written. Its index and database stay in ${made.state}.`);
  }
  return EXIT.ok;
};

/** The named folder; otherwise the folder whose configuration applies here, such as a parent folder. */
async function folderOf(request: ConfigRequest): Promise<string> {
  const { file, how } = selectConfigFile(request);
  if (request.flags.in !== undefined) return resolve(request.cwd, request.flags.in);
  if (how === "folder") return (await loadConfig(request)).roots.workroot;
  return how === "found" ? dirname(file) : request.cwd;
}
