import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { findMismatches, holdsDevelopmentPackages } from "../../scripts/lock.js";

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

  test("that is not there lacks every package that its extent needs", () => {
    expect(findMismatches(folder, "runtime")).toEqual(["node_modules/pg"]);
    expect(findMismatches(folder, "full")).toEqual([
      "node_modules/pg",
      "node_modules/jest",
      "node_modules/detect-libc",
    ]);
  });

  test("for running the product is enough for that, and not for the tests", () => {
    install({ "node_modules/pg": { version: "8.0.0" } });
    expect(findMismatches(folder, "runtime")).toEqual([]);
    expect(findMismatches(folder, "full")).toEqual([
      "node_modules/jest",
      "node_modules/detect-libc",
    ]);
    expect(holdsDevelopmentPackages(folder)).toBe(false);
  });

  test("for the tests is enough for running, without the packages of other platforms", () => {
    const packages = Object.entries(locked).filter(
      ([key]) => key !== "" && !key.includes("other-platform"),
    );
    install(Object.fromEntries(packages));
    expect(findMismatches(folder, "runtime")).toEqual([]);
    expect(findMismatches(folder, "full")).toEqual([]);
    expect(holdsDevelopmentPackages(folder)).toBe(true);
  });

  test("in another version does not count, for optional packages either", () => {
    install({
      "node_modules/pg": { version: "7.0.0" },
      "node_modules/core-other-platform": { version: "0.9.0", dev: true, optional: true },
    });
    expect(findMismatches(folder, "runtime")).toEqual([
      "node_modules/pg",
      "node_modules/core-other-platform",
    ]);
  });

  test("whose folder somebody removed does not count", () => {
    install({ "node_modules/pg": { version: "8.0.0" } });
    rmSync(join(folder, "node_modules/pg"), { recursive: true });
    expect(findMismatches(folder, "runtime")).toEqual(["node_modules/pg"]);
  });

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
