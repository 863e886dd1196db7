import type { PinnedRoot, Place } from "./pinned-root.ts";

/**
 * How this platform tells which file a descriptor is. Internal; two implementations: proc-descriptors.ts,
 * which has no race, and compared-descriptors.ts, which has one and runs only with `security.allow_racy_reads`.
 * All calls are synchronous: on a local disk they take microseconds, where a thread-pool turn takes longer.
 */
export type Descriptors = {
  /** Opens the place, links followed, and never blocks. Throws the system's error. The caller closes it. */
  open(place: Place): number;
  /** The absolute path of the opened file, free of links; null when it can't be told, or is not UTF-8. */
  realPath(descriptor: number, place: Place): string | null;
  /** Whether the folder pinned at start is still what lies at its path. */
  isInPlace(root: PinnedRoot): boolean;
  /** Gives a descriptor of the same file that can be read, and closes what it opened. */
  withReadable<T>(descriptor: number, use: (readable: number) => T): T;
  /** An absolute path of the root folder that a walk can start from. */
  walkFrom(root: PinnedRoot): string;
};
