import { type BigIntStats, closeSync, fstatSync } from "node:fs";
import { refuse, type Refusal } from "../../shared/failure.ts";
import type { Descriptors } from "./descriptors.ts";
import { judgeFile } from "./judge-file.ts";
import { type Place, shownPath } from "./pinned-root.ts";
import type { FileRules } from "./policy.ts";
import { quotePath } from "./quote-path.ts";
import { refuseSystemError } from "./refuse-system-error.ts";

/** What a visit runs with: how descriptors are told apart, and what a file must satisfy. */
export type Ground = { readonly descriptors: Descriptors; readonly rules: FileRules };

/** An allowed file while it is open. */
export type OpenFile = {
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  readonly descriptor: number;
  readonly stat: BigIntStats;
};

// An editor saves by renaming a new file over the old one: what was opened just before is gone, and a new
// attempt finds the new file.
const attempts = 3;

/** What a visit gave, or why there was none. */
export type Visited<T> = { readonly kind: "visited"; readonly value: T } | Refusal;

/** Opens the place, decides on what was opened (checks 7 to 15), and closes it after `visit`. */
export function visitFile<T>(
  ground: Ground,
  place: Place,
  visit: (file: OpenFile) => T,
): Visited<T> {
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const outcome = visitOnce(ground, place, visit);
    if (outcome !== "deleted") return outcome;
  }
  const asked = quotePath(shownPath(place.root, place.relativePath));
  return refuse("FILE_NOT_FOUND", `${asked} was deleted while it was opened: try again.`);
}

function visitOnce<T>(
  { descriptors, rules }: Ground,
  place: Place,
  visit: (file: OpenFile) => T,
): Visited<T> | "deleted" {
  let descriptor: number | null = null;
  try {
    descriptor = descriptors.open(place);
    if (!descriptors.isInPlace(place.root)) return refuseSwappedRoot(place);
    const stat = fstatSync(descriptor, { bigint: true });
    if (stat.nlink === 0n) return "deleted";
    const judged = judgeFile(place, descriptors.realPath(descriptor, place), stat, rules);
    if (judged.kind === "refused") return judged;
    const path = shownPath(place.root, judged.relativePath);
    return { kind: "visited", value: visit({ path, descriptor, stat }) };
  } catch (error) {
    return refuseSystemError(error, shownPath(place.root, place.relativePath));
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function refuseSwappedRoot({ root }: Place): Refusal {
  return refuse(
    "PATH_DENIED",
    `The allowed root ${quotePath(shownPath(root, "") || ".")} is no longer the folder that it was when this process started: ` +
      `put it back, or restart.`,
  );
}
