import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What npm wrote about its last complete installation; absent when there was none or it was cut short. */
const installedLock = "node_modules/.package-lock.json";

const packagesOf = (file) => JSON.parse(readFileSync(file, "utf8")).packages;
const isOptional = (entry) => entry.optional === true;

/**
 * The packages of package-lock.json that an installation lacks or holds in another version. Optional ones may be absent:
 * most belong to other platforms.
 * @param {string} root folder of the checkout
 * @returns {string[]} keys such as `node_modules/pg`
 */
export function findMismatches(root) {
  const file = join(root, installedLock);
  const installed = existsSync(file) ? packagesOf(file) : {};
  return Object.entries(packagesOf(join(root, "package-lock.json")))
    .filter(([key]) => key !== "")
    .filter(([key, entry]) =>
      isOptional(entry) ? differs(installed[key], entry) : !isThere(root, key, installed, entry),
    )
    .map(([key]) => key);
}

/** Whether the installation holds optional packages, which a smaller one would take away. */
export function holdsOptionalPackages(root) {
  const file = join(root, installedLock);
  return existsSync(file) && Object.values(packagesOf(file)).some(isOptional);
}

const differs = (found, entry) => found !== undefined && found.version !== entry.version;

const isThere = (root, key, installed, entry) =>
  installed[key]?.version === entry.version && existsSync(join(root, key, "package.json"));
