import { loadConfigFor, openTerminalOf } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { showConfig } from "../../shared/config/show-config.ts";

export const configShow: CommandHandler = async (invocation) => {
  const config = await loadConfigFor(invocation);
  const terminal = openTerminalOf(invocation);
  const values = showConfig(config);
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      file: config.file,
      chosen: config.chosen,
      roots: config.roots,
      values,
    });
    return EXIT.ok;
  }
  for (const { key, value, origin } of values) {
    await terminal.print(`${key}: ${JSON.stringify(value)}  # ${origin}`);
  }
  await terminal.print(`# configuration: ${config.file} (${config.chosen})`);
  await terminal.print(`# work root: ${config.roots.workroot}`);
  await terminal.print(`# embedded database: ${config.roots.databaseDirectory}`);
  return EXIT.ok;
};
