import { constants, fstatSync, lstatSync, openSync, realpathSync } from "node:fs";
import { posix } from "node:path";
import type { Descriptors } from "./descriptors.ts";
import type { PinnedRoot, Place } from "./pinned-root.ts";

const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * For platforms without /proc: resolves the name a second time and compares device and inode. A swap there and
 * back in between gets through, hence `security.allow_racy_reads`.
 */
export const comparedDescriptors: Descriptors = {
  open: (place) => openSync(absoluteOf(place), READ),
  realPath: (descriptor, place) => {
    const path = realpathSync.native(absoluteOf(place));
    const opened = fstatSync(descriptor, { bigint: true });
    const found = lstatSync(path, { bigint: true });
    const isSame = opened.ino === found.ino && opened.dev === found.dev;
    return isSame && realpathSync.native(path) === path ? path : null;
  },
  isInPlace: (root: PinnedRoot) => {
    const found = lstatSync(root.realPath, { bigint: true, throwIfNoEntry: false });
    return found?.ino === root.inode && found.dev === root.device;
  },
  withReadable: (descriptor, use) => use(descriptor),
  walkFrom: (root: PinnedRoot) => root.realPath,
};

const absoluteOf = ({ root, relativePath }: Place): string =>
  posix.join(root.realPath, relativePath);
