import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { expandPaths } from "../../../src/producer/selection/paths.ts";
import type { ExpandedPaths } from "../../../src/producer/selection/paths.ts";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import type { Refusal } from "../../../src/shared/failure.ts";

const packageRoot = resolve(import.meta.dirname, "..", "..", "..");
const SECRET = "of nobody's business";

let folder: string;
const at = (path: string): string => join(folder, "work", path);

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "nightdesk-paths-")));
  for (const path of ["one/sub/x.md", "one/a.md", "two/b.md", "two/deep/y.txt"]) await write(path);
  await write("../outside/secret.md", SECRET);
  await write(
    "nightdesk.yaml",
    stringify({
      security: { allowed_roots: ["one/", "two"] },
      index: { sources: [{ name: "one", root: "one" }] },
    }),
  );
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function write(path: string, text = "text"): Promise<void> {
  await mkdir(dirname(at(path)), { recursive: true });
  await writeFile(at(path), text);
}

async function expand(args: readonly string[], cwd = ""): Promise<ExpandedPaths | Refusal> {
  const flags = { config: at("nightdesk.yaml") };
  const config = await loadConfig({ flags, env: {}, cwd: at(""), packageRoot });
  return expandPaths(args, config, at(cwd).replace(/\/$/, ""));
}

const pathsOf = async (arg: string, cwd?: string): Promise<unknown> => {
  const expanded = await expand([arg], cwd);
  return expanded.kind === "paths" ? expanded.paths : expanded.code;
};

describe("a path", () => {
  test.each([
    ["one/sub/x.md", "", ["one/sub/x.md"]],
    ["sub/x.md", "", ["one/sub/x.md"]],
    ["./sub//x.md", "", ["one/sub/x.md"]],
    ["deep/y.txt", "", ["two/deep/y.txt"]],
    ["y.txt", "", ["two/deep/y.txt"]],
    ["sub/x.md", "one", ["one/sub/x.md"]],
    ["deep/y.txt", "one/sub", ["two/deep/y.txt"]],
    ["two/b.md", "one/sub", ["two/b.md"]],
    ["../../two/b.md", "one/sub", ["two/b.md"]],
  ])("%s from /%s is %j", async (arg, cwd, expected) => {
    expect(await pathsOf(arg, cwd)).toEqual(expected);
  });

  test("that is absolute, as a shell completes ~/, is taken below the work root, and left to the sandbox elsewhere", async () => {
    expect(await pathsOf(at("one/sub/x.md"))).toEqual(["one/sub/x.md"]);
    expect(await pathsOf(at("two"), "one")).toEqual(["two/b.md", "two/deep/y.txt"]);
    for (const outside of [at("../outside/secret.md"), "/etc/passwd", at("one/nowhere.md")])
      expect(await pathsOf(outside)).toEqual([outside]);
    await symlink(at("../outside"), at("one/way-out"));
    const throughLink = at("one/way-out/secret.md");
    expect(await pathsOf(throughLink)).toEqual([throughLink]);
  });

  test.each([
    ["depe", '"two/deep/"'],
    ["one/sup", '"one/sub/"'],
    ["y.tx", '"two/deep/y.txt"'],
    ["unlike", "nightdesk query"],
  ])("that is nowhere and that no worker reads is refused with its like: %s", async (arg, like) => {
    expect(await expand([arg])).toMatchObject({
      code: "FILE_NOT_FOUND",
      message: expect.stringContaining(like),
    });
    expect(await pathsOf(`${arg}.md`)).toEqual([`${arg}.md`]);
    await symlink(at("gone"), at("one/of-a-link"));
    expect(await pathsOf("of-a-link", "one")).toEqual(["of-a-link"]);
  });

  test("of an attachment is found by its mail, from the current folder too", async () => {
    await write("two/m.eml");
    const path = "two/m.eml/attachments/1/a.pdf";
    expect(await pathsOf(path)).toEqual([path]);
    expect(await pathsOf("m.eml/attachments/1/a.pdf", "two")).toEqual([path]);
    expect(await pathsOf("m.eml/attachments/1/a.pdf", "one")).toEqual([path]);
    expect(await pathsOf("none.eml/attachments/1/a.pdf", "two")).toEqual([
      "none.eml/attachments/1/a.pdf",
    ]);
  });

  test("that two allowed roots have is ambiguous, and both are named", async () => {
    await write("two/sub/x.md");
    expect(await expand(["a.md", "sub/x.md"])).toMatchObject({
      code: "AMBIGUOUS_PATH",
      message:
        '"sub/x.md" fits 2 files or folders: "one/sub/x.md", "two/sub/x.md". Name one by its path from the work root.',
    });
    expect(await pathsOf("x.md")).toBe("AMBIGUOUS_PATH");
    expect(await pathsOf("one/sub/x.md")).toEqual(["one/sub/x.md"]);
    expect(await pathsOf("x.md", "one/sub")).toEqual(["one/sub/x.md"]);
  });

  test("that is a file in one root and a folder in another is ambiguous", async () => {
    await write("two/sub/x.md/z.md");
    expect(await expand(["sub/x.md"])).toMatchObject({
      code: "AMBIGUOUS_PATH",
      message: expect.stringContaining('"one/sub/x.md", "two/sub/x.md/"'),
    });
  });

  test("counts from the work root before it counts from an allowed root", async () => {
    await write("one/two/b.md");
    expect(await pathsOf("two/b.md")).toEqual(["two/b.md"]);
    expect(await pathsOf("two/b.md", "one/sub")).toEqual(["two/b.md"]);
    await write("sub/x.md", "outside of the roots");
    expect(await pathsOf("sub/x.md")).toEqual(["sub/x.md"]);
  });

  test("counts from the current folder first", async () => {
    await write("one/two/b.md");
    expect(await pathsOf("two/b.md", "one")).toEqual(["one/two/b.md"]);
  });

  test("is not found through a link that leads out of its root", async () => {
    await symlink(join(folder, "outside/secret.md"), at("two/sub.md"));
    await symlink(join(folder, "outside"), at("two/out"));
    await symlink(at("one/sub"), at("two/other"));
    for (const arg of ["sub.md", "out/secret.md", "out", "other", "other/x.md"]) {
      expect(await pathsOf(arg)).toEqual([arg]);
    }
    await write("one/out/secret.md");
    expect(await pathsOf("out/secret.md")).toEqual(["one/out/secret.md"]);
  });

  test("counts links inside of a root once", async () => {
    await symlink("sub/x.md", at("one/x.md"));
    expect(await pathsOf("x.md")).toEqual(["one/x.md"]);
  });

  test.each([
    "/etc/passwd",
    "../outside/secret.md",
    "..",
    "../work/one/../../x",
    "a\0b",
    "nope.md",
  ])("%j is left to the worker, which says what is wrong with it", async (arg) => {
    expect(await pathsOf(arg)).toEqual([arg]);
  });

  test.each([
    ["caf\u00e9", "cafe\u0301"],
    ["cafe\u0301", "caf\u00e9"],
  ])("%j is taken for %j, which is spelled in another form of Unicode", async (asked, stored) => {
    await write(`one/${stored}/${stored}.md`);
    const file = [`one/${stored}/${stored}.md`];
    for (const arg of [`one/${asked}/${asked}.md`, `${asked}/${asked}.md`, `${asked}.md`, asked]) {
      expect(await pathsOf(arg)).toEqual(file);
    }
    expect(await pathsOf(`${asked}.md`, `one/${stored}`)).toEqual(file);
    expect(await pathsOf(`../${stored}/${asked}.md`, `one/${stored}`)).toEqual(file);
    await write(`two/${stored}/${stored}.md`);
    expect(await pathsOf(`${asked}/${asked}.md`)).toBe("AMBIGUOUS_PATH");
    expect(await pathsOf(asked)).toBe("AMBIGUOUS_PATH");
    await write(`two/${asked}/${asked}.md`);
    expect(await pathsOf(`${asked}/${asked}.md`)).toEqual([`two/${asked}/${asked}.md`]);
  });
});

describe("a folder", () => {
  test.each([
    ["one", "", ["one/a.md", "one/sub/x.md"]],
    ["one/", "", ["one/a.md", "one/sub/x.md"]],
    ["sub", "", ["one/sub/x.md"]],
    ["sub/", "", ["one/sub/x.md"]],
    [".", "one/sub", ["one/sub/x.md"]],
    ["..", "one/sub", ["one/a.md", "one/sub/x.md"]],
    [".", "", ["one/a.md", "one/sub/x.md", "two/b.md", "two/deep/y.txt"]],
    ["deep", "one/sub", ["two/deep/y.txt"]],
  ])("%s from /%s is %j", async (arg, cwd, expected) => {
    expect(await expand([arg], cwd)).toMatchObject({ paths: expected, isSelection: true });
  });

  test("takes no hidden file, follows no link to a folder, and counts what it leaves out", async () => {
    await write("one/sub/.hidden/z.md");
    await symlink(join(folder, "outside"), at("one/sub/out"));
    for (const name of ["a.png", "b.PNG", "c.gz", "README", "e.exe\u202e", "f.b c"]) {
      await write(`one/sub/${name}`);
    }
    expect(await expand(["sub", "sub/*", "a.md"])).toEqual({
      kind: "paths",
      paths: ["one/sub/x.md", "one/a.md"],
      isSelection: true,
      skipped: { ".png": 2, ".gz": 1, none: 1, other: 2 },
    });
  });

  test("without a file that may be read says which are, and what was left out", async () => {
    await write("one/scans/a.png");
    await write("src/x.md");
    await expect(expand(["scans"])).rejects.toThrow(
      'The folder "one/scans" holds no file that may be read. 1 skipped: 1 .png. ' +
        "Files are read that end with .md, .markdown, .txt, .log, .json, .yaml, .yml, .pdf, .docx, .odt, .html, .htm, .eml, .mbox, .csv, .tsv, .xlsx, .xlsm, .ods, .pptx, .odp, .epub, .rtf, .ics, .vcf, .zip, .doc, .xls, .ppt, .msg (security.allowed_exts).",
    );
    await expect(expand(["*/*.png"])).rejects.toThrow(
      '"*/*.png" matches no file that may be read. 1 skipped: 1 .png.',
    );
    await expect(expand(["src"])).rejects.toThrow(
      /The folder "src" holds no file below one\/, two .* Files are read that end with/,
    );
  });
});
