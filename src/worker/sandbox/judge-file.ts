import type { BigIntStats } from "node:fs";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { checkCharacters, checkName } from "./check-name.ts";
import { below, shownPath, type Place } from "./pinned-root.ts";
import type { FileRules } from "./policy.ts";
import { quotePath } from "./quote-path.ts";

/**
 * Checks 10 to 14, on what was opened: its real path (null: it could not be told) and its status. Gives the
 * path below the root as it is spelled on disk. Pure. The target of a link that leads out is never named.
 */
export function judgeFile(
  place: Place,
  realPath: string | null,
  stat: BigIntStats,
  rules: FileRules,
): { readonly kind: "allowed"; readonly relativePath: string } | Refusal {
  const asked = quotePath(shownPath(place.root, place.relativePath));
  const relativePath = realPath === null ? null : below(place.root.realPath, realPath);
  if (relativePath === null) {
    return refuse(
      "PATH_DENIED",
      `${asked} leads out of its allowed root ${quotePath(shownPath(place.root, "") || ".")}, changed while it was opened, or ` +
        `has a name that is not UTF-8: put the file itself below the root.`,
    );
  }
  if (rules.otherDevices === "deny" && stat.dev !== place.root.device) {
    return refuse(
      "PATH_DENIED",
      `${asked} lies on another device than its allowed root: list the folder mounted there in ` +
        `security.allowed_roots.`,
    );
  }
  if (stat.isDirectory()) {
    return refuse("PATH_IS_DIRECTORY", `${asked} is a directory: name a file in it.`);
  }
  const denied = checkCharacters(relativePath) ?? checkName(relativePath, rules);
  return denied ?? judgeKind(asked, stat, rules) ?? { kind: "allowed", relativePath };
}

function judgeKind(asked: string, stat: BigIntStats, rules: FileRules): Refusal | null {
  if (!stat.isFile()) {
    return refuse(
      "FILE_READ_ERROR",
      `${asked} is a ${kindOf(stat)}, which is never read: name a regular file.`,
    );
  }
  if (rules.hardLinks === "deny" && stat.nlink !== 1n) {
    return refuse(
      "PATH_DENIED",
      `${asked} has ${String(stat.nlink)} hard links, so it may also lie outside the allowed roots: copy it, ` +
        `or set security.allow_hard_links to true.`,
    );
  }
  return null;
}

function kindOf(stat: BigIntStats): string {
  if (stat.isFIFO()) return "named pipe";
  return stat.isSocket() ? "socket" : "device";
}
