import { hash } from "node:crypto";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The folder of the embedded database and its logs and dumps, absolute. A relative `database.directory` counts from the work
 * root. Where it is not there and can't be made, as below a work root that is read-only, the folder is one of the user's that is
 * named by the work root, and stays that one when the work root can be written later.
 */
export function selectDatabaseDirectory(
  directory: string,
  workroot: string,
  env: Environment,
): string {
  const configured = resolve(workroot, directory);
  const own = isAbsolute(directory) ? undefined : userDirectory(workroot, env);
  if (own === undefined || existsSync(configured)) return configured;
  return existsSync(own) || !canBeMade(configured) ? own : configured;
}

function userDirectory(workroot: string, env: Environment): string | undefined {
  const base = userStateFolder(env);
  return base === undefined ? undefined : join(base, hashOfFolder(realpathSync(workroot)));
}

/** Below the XDG base directory for state; undefined for a user without a home. */
export function userStateFolder({
  XDG_STATE_HOME: state,
  HOME: home,
}: Environment): string | undefined {
  if (state !== undefined && isAbsolute(state)) return join(state, "nightdesk");
  return home !== undefined && isAbsolute(home)
    ? join(home, ".local", "state", "nightdesk")
    : undefined;
}

/** @param folder its real path */
export const hashOfFolder = (folder: string): string => hash("sha256", folder).slice(0, 16);

function canBeMade(directory: string): boolean {
  const parent = dirname(directory);
  if (!existsSync(parent)) return canBeMade(parent);
  try {
    accessSync(parent, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    // Whatever the reason is, nothing can be made there.
    return false;
  }
}
