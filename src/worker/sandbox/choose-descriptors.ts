import { closeSync, openSync, readlinkSync } from "node:fs";
import { Failure } from "../../shared/failure.ts";
import { comparedDescriptors } from "./compared-descriptors.ts";
import type { Descriptors } from "./descriptors.ts";
import type { SecurityPolicy } from "./policy.ts";
import { procDescriptors } from "./proc-descriptors.ts";

/** The platform as the sandbox sees it. */
export type Host = {
  readonly platform: NodeJS.Platform;
  /** Folder of links from descriptor numbers to real paths. */
  readonly descriptorFolder: string;
};

/** Throws CONFIG_ERROR on Windows, and where there is no /proc unless `security.allow_racy_reads` is set. */
export function chooseDescriptors(host: Host, policy: SecurityPolicy): Descriptors {
  if (host.platform === "win32") {
    throw new Failure(
      "CONFIG_ERROR",
      "Windows is not supported: it has no way to decide on an opened file. Use WSL 2 or a container.",
    );
  }
  if (namesDescriptors(host)) return procDescriptors(host.descriptorFolder);
  if (policy.allowRacyReads) return comparedDescriptors;
  throw new Failure(
    "CONFIG_ERROR",
    `${host.descriptorFolder} does not name open files on this ${host.platform} machine, so a file swapped ` +
      `while it is opened could lead outside the allowed roots. Run in a Linux container, or set ` +
      `security.allow_racy_reads to true to accept that.`,
  );
}

function namesDescriptors({ platform, descriptorFolder }: Host): boolean {
  if (platform !== "linux") return false;
  const descriptor = openSync("/", "r");
  try {
    return readlinkSync(`${descriptorFolder}/${descriptor}`) === "/";
  } catch {
    // No such link: there is no /proc here, which is the answer.
    return false;
  } finally {
    closeSync(descriptor);
  }
}
