import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { findMismatches, holdsOptionalPackages } from "../../scripts/lock.js";

interface Entry {
  readonly version: string;
  readonly dev?: true;
  readonly optional?: true;
  readonly devOptional?: true;
}

const locked: Record<string, Entry> = {
  "": { version: "0.1.0" },
  "node_modules/pg": { version: "8.0.0" },
  "node_modules/jest": { version: "30.0.0", dev: true },
  "node_modules/detect-libc": { version: "2.0.0", devOptional: true },
  "node_modules/core-other-platform": { version: "1.0.0", dev: true, optional: true },
  "node_modules/core-this-platform": { version: "1.0.0", dev: true, optional: true },
};
describe("an installation", () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "nightdesk-lock-"));
    writeLock("package-lock.json", locked);
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  test("that is not there lacks every package but the optional ones", () => {
    expect(findMismatches(folder)).toEqual([
      "node_modules/pg",
      "node_modules/jest",
      "node_modules/detect-libc",
    ]);
  });

  test("for production lacks what the product is built with", () => {
    install({ "node_modules/pg": { version: "8.0.0" } });
    expect(findMismatches(folder)).toEqual(["node_modules/jest", "node_modules/detect-libc"]);
  });

  test("for the build is enough without optional packages, and so is one for the tests", () => {
    install(lockedWithout("platform"));
    expect(findMismatches(folder)).toEqual([]);
    expect(holdsOptionalPackages(folder)).toBe(false);
    install(lockedWithout("other-platform"));
    expect(findMismatches(folder)).toEqual([]);
    expect(holdsOptionalPackages(folder)).toBe(true);
  });

  test("in another version does not count, for optional packages either", () => {
    install({
      "node_modules/pg": { version: "7.0.0" },
      "node_modules/core-other-platform": { version: "0.9.0", dev: true, optional: true },
    });
    expect(findMismatches(folder)).toEqual([
      "node_modules/pg",
      "node_modules/jest",
      "node_modules/detect-libc",
      "node_modules/core-other-platform",
    ]);
  });

  test("whose folder somebody removed does not count", () => {
    install({ "node_modules/pg": { version: "8.0.0" } });
    rmSync(join(folder, "node_modules/pg"), { recursive: true });
    expect(findMismatches(folder)[0]).toBe("node_modules/pg");
  });

  const lockedWithout = (part: string): Record<string, Entry> =>
    Object.fromEntries(Object.entries(locked).filter(([key]) => key !== "" && !key.includes(part)));

  function install(packages: Record<string, Entry>): void {
    for (const key of Object.keys(packages)) {
      mkdirSync(join(folder, key), { recursive: true });
      writeFileSync(join(folder, key, "package.json"), "{}");
    }
    writeLock("node_modules/.package-lock.json", packages);
  }

  function writeLock(file: string, packages: Record<string, Entry>): void {
    writeFileSync(join(folder, file), JSON.stringify({ packages }));
  }
});
