import { closeSync, constants, openSync, readlinkSync } from "node:fs";
import type { Descriptors } from "./descriptors.ts";
import type { PinnedRoot, Place } from "./pinned-root.ts";

// O_PATH of Linux, which Node does not name: a descriptor that says what a file is without opening it for
// reading, so that a FIFO, a socket or a device planted behind a link is judged and never touched.
const O_PATH = 0o10000000;
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Linux: `folder` is /proc/self/fd. A file is opened from the pinned root's descriptor, the kernel names its
 * real path, and it is opened for reading through that same descriptor: no name is resolved twice.
 */
export function procDescriptors(folder: string): Descriptors {
  const linkOf = (descriptor: number): string => `${folder}/${descriptor}`;
  return {
    open: ({ root, relativePath }: Place) =>
      openSync(`${linkOf(root.descriptor)}/${relativePath}`, O_PATH),
    realPath: (descriptor) => readUtf8Link(linkOf(descriptor)),
    isInPlace: (root: PinnedRoot) => readUtf8Link(linkOf(root.descriptor)) === root.realPath,
    withReadable: (descriptor, use) => {
      const readable = openSync(linkOf(descriptor), READ);
      try {
        return use(readable);
      } finally {
        closeSync(readable);
      }
    },
    walkFrom: (root: PinnedRoot) => `${linkOf(root.descriptor)}/`,
  };
}

/** Names of other bytes than UTF-8 decode alike, so that two folders would have one name. */
function readUtf8Link(link: string): string | null {
  const target = readlinkSync(link);
  if (!target.includes("\uFFFD")) return target;
  return readlinkSync(link, "buffer").equals(Buffer.from(target)) ? target : null;
}
