import { hash } from "node:crypto";
import { accessSync, constants, existsSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The absolute folder of the embedded database, its logs and its dumps. A relative `database.directory` counts from the work
 * root. If that folder does not exist and cannot be created, for example in a read-only work root, the folder lies in the user's
 * state folder, under a hash of the work root. Once it exists there it is used even if the work root becomes writable.
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

/** Nightdesk's folder in the XDG base directory for state; undefined for a user without a home. */
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
    // Any error means that nothing can be created there.
    return false;
  }
}
