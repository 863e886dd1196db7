import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { Config } from "../../../src/shared/config/schema.ts";
import { pathPrefixOf } from "../../../src/shared/files/path-prefix.ts";

let folder: string;
const at = (path: string): string => join(folder, "work", path);
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "nightdesk-prefix-")));
  for (const path of ["one/sub/deep", "two/other", "../outside/kept"]) {
    mkdirSync(at(path), { recursive: true });
  }
  writeFileSync(at("one/sub/x.md"), "text");
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function prefixOf(given: string, cwd = ""): string | undefined {
  const config = {
    roots: { workroot: at("").replace(/\/$/, "") },
    security: { allowed_roots: ["one/", "two"] },
  } as unknown as Config;
  const found = pathPrefixOf(given, at(cwd), config);
  return found.kind === "refused" ? `${found.code}: ${found.message}` : found.prefix;
}

test.each([
  [".", "", undefined],
  ["one/sub", "", "one/sub/"],
  ["./one//sub/", "", "one/sub/"],
  ["sub", "", "one/sub/"],
  ["sub/x.md/", "", "one/sub/x.md"],
  ["sub/", "", "one/sub/"],
  ["sub/x.md", "", "one/sub/x.md"],
  ["sub/2026-", "", "one/sub/2026-"],
  ["sub/deep/", "two", "one/sub/deep/"],
  ["other", "one/sub", "two/other/"],
  [".", "one/sub", "one/sub/"],
  ["one/sub/2026-", "two", "one/sub/2026-"],
  ["nope", "", "nope"],
  ["nope/", "", "nope/"],
  ["nope/deeper", "", "nope/deeper"],
  ["/etc", "", "/etc"],
  ["../outside/kept", "", "../outside/kept"],
])("--path %s from /%s is %s", (given, cwd, expected) => {
  expect(prefixOf(given, cwd)).toBe(expected);
});

test("--path of a folder that two allowed roots have is ambiguous, and both are named", () => {
  mkdirSync(at("two/sub"));
  expect(prefixOf("sub")).toBe(
    'AMBIGUOUS_PATH: --path "sub" fits 2 places: "one/sub/", "two/sub/". Name one by its path from the work root.',
  );
  expect(prefixOf("sub/2026-")).toMatch(/^AMBIGUOUS_PATH/);
  expect(prefixOf("sub/x.md")).toBe("one/sub/x.md");
  expect(prefixOf("two/sub")).toBe("two/sub/");
});

test("--path is not looked up through a link that leads out of its root", () => {
  symlinkSync(join(folder, "outside"), at("two/out"));
  expect(prefixOf("out/kept")).toBe("out/kept");
  mkdirSync(at("one/out/kept"), { recursive: true });
  expect(prefixOf("out/kept")).toBe("one/out/kept/");
});
