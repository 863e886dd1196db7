import { posix } from "node:path";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { checkCharacters } from "./check-name.ts";
import type { SecurityPolicy } from "./policy.ts";
import { quotePath } from "./quote-path.ts";

/** What a spelling means before the disk is asked: a name to look up, or one absolute place. */
export type ParsedPath =
  | { readonly kind: "bare"; readonly name: string }
  | { readonly kind: "placed"; readonly absolute: string };

/**
 * Checks 2 and the first half of 3, on text alone. A path with a `/` is anchored at the security root and
 * collapsed lexically (`a/../b`, `./`, a trailing slash); a path without is a bare name.
 */
export function parsePath(path: string, policy: SecurityPolicy): ParsedPath | Refusal {
  const denied = checkCharacters(path) ?? checkAnchor(path, policy);
  if (denied !== null) return denied;
  if (posix.isAbsolute(path)) return { kind: "placed", absolute: tidy(path) };
  if (!path.includes("/") && path !== "." && path !== "..") return { kind: "bare", name: path };
  const mayLeave = policy.allowAnyPath || !policy.rootsMustBeWithinSecurityRoot;
  if (!mayLeave && climbsOut(path)) {
    return refuse(
      "PATH_DENIED",
      `${quotePath(path)} climbs out of the work root: paths are relative to the work root and stay in it.`,
    );
  }
  return { kind: "placed", absolute: tidy(posix.join(policy.securityRoot, path)) };
}

function checkAnchor(path: string, policy: SecurityPolicy): Refusal | null {
  if (/^(~|[a-z]:|\/\/)/i.test(path)) {
    return refuse(
      "PATH_DENIED",
      `${quotePath(path)} starts like a home folder, a drive or a network share: ` +
        `name the file relative to the work root.`,
    );
  }
  if (posix.isAbsolute(path) && policy.denyAbsolutePaths && !policy.allowAnyPath) {
    return refuse(
      "PATH_DENIED",
      `${quotePath(path)} is absolute and security.deny_absolute_paths is on: ` +
        `name the file relative to the work root.`,
    );
  }
  return null;
}

/** True when some `..` leads above the start, even if a later part comes back (`../root/x`). */
function climbsOut(path: string): boolean {
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

const tidy = (absolute: string): string => posix.resolve("/", absolute);
