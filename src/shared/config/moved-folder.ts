import { existsSync } from "node:fs";
import { readFile, readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parseJson } from "../schema/json-value.ts";
import { quoteForShell } from "../terminal/styled-text.ts";
import { FILE_NAME, stateOfFolder } from "./select-config-file.ts";
import type { ConfigRequest } from "./select-config-file.ts";

/**
 * Explains that a folder of the same name with a database has disappeared, as after a move; null if there is none.
 * @param folder that has no configuration yet
 */
export async function explainMove(
  folder: string,
  env: ConfigRequest["env"],
): Promise<string | null> {
  const own = stateOfFolder(folder, env);
  if (own === undefined) return null;
  const stem = stemOf(basename(own));
  for (const name of await readdir(dirname(own)).catch(() => [])) {
    const state = join(dirname(own), name);
    if (stemOf(name) !== stem || !existsSync(join(state, "pgdata"))) continue;
    const text = await readFile(join(state, FILE_NAME), "utf8").catch(() => "");
    const was = parseJson(/^workroot: (".*")$/m.exec(text)?.[1] ?? "null");
    if (typeof was !== "string" || existsSync(was)) continue;
    return (
      `${was} is not there any more, and its index and results are kept in ${state}. If it is this folder now: ` +
      `nightdesk init --in ${quoteForShell(folder)}, and set database.directory in its nightdesk.yaml to ${JSON.stringify(state)}.`
    );
  }
  return null;
}

/** The name of a folder without the hash of its path. */
const stemOf = (state: string): string => state.slice(0, state.lastIndexOf("-") + 1);
