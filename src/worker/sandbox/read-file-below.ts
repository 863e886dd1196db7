import { refuse, type Refusal } from "../../shared/failure.ts";
import { checkCharacters, checkName } from "./check-name.ts";
import { type Place, shownPath } from "./pinned-root.ts";
import { quotePath } from "./quote-path.ts";
import { readBytes } from "./read-bytes.ts";
import { type Ground, visitFile } from "./visit-file.ts";

/** A file's content and what tells whether it has changed since. Times are nanoseconds since 1970. */
export type FileBytes = {
  readonly kind: "bytes";
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  readonly bytes: Buffer;
  /** Taken before the bytes, so a change in between shows as a difference the next time. */
  readonly stat: {
    readonly size: bigint;
    readonly mtimeNs: bigint;
    readonly ctimeNs: bigint;
    readonly ino: bigint;
    readonly dev: bigint;
  };
};

/** Reads one file by its plain path below a root: no lookup, no `..`, and the same rules on what was opened. */
export function readFileBelow(ground: Ground, place: Place): FileBytes | Refusal {
  const denied =
    checkPlain(place) ?? checkFound(place) ?? checkName(place.relativePath, ground.rules);
  if (denied !== null) return denied;
  const visited = visitFile(ground, place, (file): FileBytes | Refusal => {
    const bytes = ground.descriptors.withReadable(file.descriptor, (readable) =>
      readBytes(file, readable, ground.rules.maxBytes),
    );
    if (!Buffer.isBuffer(bytes)) return bytes;
    const { size, mtimeNs, ctimeNs, ino, dev } = file.stat;
    return { kind: "bytes", path: file.path, bytes, stat: { size, mtimeNs, ctimeNs, ino, dev } };
  });
  return visited.kind === "refused" ? visited : visited.value;
}

/** Said of the path that everything else names the file by. */
const checkFound = ({ root, relativePath }: Place): Refusal | null =>
  checkCharacters(relativePath) === null ? null : checkCharacters(shownPath(root, relativePath));

function checkPlain({ root, relativePath }: Place): Refusal | null {
  if (!/^\/|(^|\/)(\.{0,2})(\/|$)/.test(relativePath)) return null;
  return refuse(
    "PATH_DENIED",
    `${quotePath(relativePath)} is no plain path below ${quotePath(shownPath(root, ""))}: ` +
      `parts are separated by one "/" and none is "." or "..".`,
  );
}
